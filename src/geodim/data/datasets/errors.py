"""What can go wrong with a named data set: each error says which file, and the way out."""

from __future__ import annotations

from geodim.errors import DataFileError

__all__ = ["ChecksumError", "DatasetNotFoundError", "MissingEmbeddingError", "UnsafePickleError"]


class UnsafePickleError(DataFileError):
    """A pickle asks for something other than plain numeric arrays.

    It was refused, and nothing in it was called.
    """


class DatasetNotFoundError(DataFileError):
    """The files of a data set are absent.

    The message names the folder where they belong and says how to get them.
    """


class MissingEmbeddingError(DatasetNotFoundError):
    """ogbn-mag has attributes for papers only, and no file with vectors for its other nodes was found."""


class ChecksumError(DataFileError):
    """A downloaded file is not the known one, or not the one recorded at its first download."""
