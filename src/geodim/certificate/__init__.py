"""Certificates: small files with which a short program of its own (`geodim.checker`) proves bounds from data.

`certify` makes the certificate of a result, `Certificate` holds, writes and verifies one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from geodim.certificate.remembered import remember

if TYPE_CHECKING:
    from geodim.certificate.document import Certificate
    from geodim.certificate.of_result import certify

__all__ = ["Certificate", "certify", "remember"]

_WHERE = {"Certificate": "geodim.certificate.document", "certify": "geodim.certificate.of_result"}


def __getattr__(name: str) -> object:
    # Loaded late: every result is remembered, but few are certified.
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    msg = f"module 'geodim.certificate' has no attribute {name!r}"
    raise AttributeError(msg)
