"""Saved state, read with suspicion: every array must be one that the computation could have saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

if TYPE_CHECKING:
    from numpy.lib.npyio import NpzFile
    from numpy.typing import DTypeLike, NDArray

    from geodim.engine.profile import Profile

__all__ = ["FAULTS", "StateError", "read_array", "read_profile", "read_text"]

MOST_TEXT = 1 << 20  # bytes


class StateError(ValueError):
    """An error in saved state; whoever reads the state turns it into a message."""


# Numpy, zipfile and the reader of headers raise all kinds of errors for damaged archives.
FAULTS = (Exception,)


def read_text(saved: NpzFile, name: str) -> str:
    """Return a text from an archive, where it is stored as bytes; an overlong one is not even read."""
    shape, kind = _header(saved, name)
    if len(shape) != 1 or shape[0] > MOST_TEXT or kind != np.uint8:
        msg = f"{name} is {kind} of shape {shape}, not a short text"
        raise StateError(msg)
    return bytes(saved[name]).decode()


def _header(saved: NpzFile, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    assert saved.zip is not None  # as long as it is open
    with saved.zip.open(f"{name}.npy") as member:
        version = npy.read_magic(member)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, kind = read_header(member)
    return shape, kind


def read_array(saved: NpzFile, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array from an archive, neither broadcast nor converted.

    Its header is checked before memory is allocated for it.
    """
    found_shape, found_type = _header(saved, name)
    if found_shape != shape or found_type != np.dtype(dtype):
        msg = f"{name} is {found_type} of shape {found_shape}, not {np.dtype(dtype)} of shape {shape}"
        raise StateError(msg)
    array: NDArray[Any] = saved[name]
    return array


def read_profile(saved: NpzFile, profile: Profile, key: str = "") -> None:
    """Fill Phi, owners and work counters of a profile; ``key`` is the suffix of the arrays' names."""
    phi = read_array(saved, f"phi{key}", profile.phi.shape, np.float64)
    owner = read_array(saved, f"owner{key}", profile.owner.shape, np.int32)
    work = read_array(saved, f"work{key}", profile.work.shape, np.int64)
    if profile.counted:
        fine = phi.min() >= -float(profile.n_points) and phi.max() <= 0.0 and np.all(phi == np.floor(phi))
    else:  # NaN fails both comparisons; minus zero is no width either
        fine = phi.min() >= 0.0 and phi.max() < np.inf and phi[0] == 0.0 and not np.signbit(phi).any()
    if not fine:
        msg = f"phi{key} holds what is not a {'count' if profile.counted else 'width'}"
        raise StateError(msg)
    if owner.min() < -1 or owner.max() >= profile.done.size:
        msg = f"owner{key} names a column that is not there"
        raise StateError(msg)
    if work.min() < 0:
        msg = f"work{key} is negative"
        raise StateError(msg)
    profile.phi[:], profile.owner[:], profile.work[:] = phi, owner, work
