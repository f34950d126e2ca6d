"""Binary data: formal contexts, the concepts that matter, and their dimension.

Start with `geodim.binary_dimension`.  Objects and attributes come from arrays, sparse matrices, frames or
files (`contexts`, `files`); `mining` finds the concepts of largest support for every size of an intent, with
bounds from flows (`hull`); `dimension` adds them up.
"""

from geodim.concepts.contexts import Context, as_context
from geodim.concepts.files import read_context

__all__ = ["Context", "as_context", "read_context"]
