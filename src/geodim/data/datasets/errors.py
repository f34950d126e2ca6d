"""What can go wrong with a named data set: each error says which file, and the way out."""

from __future__ import annotations

from geodim.errors import DataFileError

__all__ = ["ChecksumError", "DatasetNotFoundError", "MissingEmbeddingError", "UnsafePickleError"]


class UnsafePickleError(DataFileError):
    """A pickle asks for something other than plain numeric arrays; it was refused and nothing in it was called."""


class DatasetNotFoundError(DataFileError):
    """The files of a data set are absent; the message names the folder where they belong and how to get them."""


class MissingEmbeddingError(DatasetNotFoundError):
    """ogbn-mag has attributes for papers only, and no file with vectors for its other nodes was found."""


class ChecksumError(DataFileError):
    """A downloaded file is not the file that is known, or not the one that was recorded at its first download."""
