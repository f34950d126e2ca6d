"""The dimension of data that comes in batches and is not kept, with bounds at any time."""

from geodim.streaming.dimension import StreamingDimension

__all__ = ["StreamingDimension"]
