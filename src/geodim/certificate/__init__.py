"""Certificates: small files with which a short program of its own (`geodim.checker`) proves bounds from data.

`certify` makes the certificate of a result, `Certificate` holds, writes and verifies one.
"""

from geodim.certificate.document import Certificate
from geodim.certificate.of_result import certify
from geodim.certificate.remembered import remember

__all__ = ["Certificate", "certify", "remember"]
