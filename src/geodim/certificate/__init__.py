"""Certificates: small files with which a short, independent program (`geodim.checker`) proves bounds from the data.

`certify` makes the certificate of a result, `Certificate` holds, writes and verifies one.
"""

from geodim.certificate.document import Certificate
from geodim.certificate.of_result import certify
from geodim.certificate.remembered import remember

__all__ = ["Certificate", "certify", "remember"]
