"""`Certificate`: written, read, shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import geodim
from geodim import checker
from geodim.certificate import Certificate
from geodim.errors import CertificateError, DataFileError

if TYPE_CHECKING:
    from pathlib import Path

X = np.random.default_rng(0).normal(size=(80, 3))
CERTIFICATE = geodim.intrinsic_dimension(X).certificate()


def test_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    CERTIFICATE.save(path)
    text = path.read_text(encoding="utf-8")
    assert text == CERTIFICATE.to_json()
    assert json.loads(text) == CERTIFICATE.to_dict()
    for other in (
        Certificate.from_json(path),
        Certificate.from_json(str(path)),
        Certificate.from_json(text),
        Certificate.from_dict(CERTIFICATE.to_dict()),
    ):
        assert other.to_dict() == CERTIFICATE.to_dict()
        assert other.verify(X) == CERTIFICATE.dimensions


def test_to_dict_is_a_copy() -> None:
    values = CERTIFICATE.to_dict()
    values["lower"][0][0] = -1
    assert CERTIFICATE.to_dict()["lower"][0][0] >= 0


def test_attributes_and_repr() -> None:
    assert (CERTIFICATE.n_points, CERTIFICATE.n_features, CERTIFICATE.hops) == (80, 3, 0)
    assert CERTIFICATE.d_max == geodim.paper.d_max(X)
    (low, high), (least, most) = CERTIFICATE.dimensions[0], CERTIFICATE.discriminabilities[0]
    assert low * most**2 == pytest.approx(1.0, abs=1e-14)
    assert high * least**2 == pytest.approx(1.0, abs=1e-14)
    text = repr(CERTIFICATE)
    assert f"Certificate(dimension in [{low:.7g}, {high:.7g}], relative width" in text
    assert "80 points x 3 features" in text


def test_lies_are_typed_errors(tmp_path: Path) -> None:
    values = CERTIFICATE.to_dict()
    values["claims"][0][0] *= 1.00001
    with pytest.raises(CertificateError, match=r"claimed .* proved"):
        Certificate.from_dict(values).verify(X)
    for other in (X[1:], X[1:].tolist()):
        with pytest.raises(CertificateError, match=r"the data has the shape \(79, 3\)"):
            CERTIFICATE.verify(other)
    for wrong, reason in (
        ({"format": "geodim.IDResult/2"}, "not a geodim.Certificate/2"),
        ({**values, "claims": []}, "claims"),
        ({**values, "d_max": float("nan")}, "not the dictionary of a certificate"),
        ({**values, "d_max": X}, "not the dictionary of a certificate"),
        (None, "not the dictionary of a certificate"),
        ([1, 2], "not the dictionary of a certificate"),
    ):
        with pytest.raises(CertificateError, match=reason):
            Certificate.from_dict(wrong)
    with pytest.raises(CertificateError, match="malformed"):
        Certificate.from_json(CERTIFICATE.to_json()[:-5])
    with pytest.raises(DataFileError, match="there is no file"):
        Certificate.from_json(tmp_path / "nothing.json")
    with pytest.raises(DataFileError, match="cannot write"):
        CERTIFICATE.save(tmp_path / "no folder" / "c.json")


def test_what_is_read_is_what_is_verified(tmp_path: Path) -> None:
    """Also if it says something twice, or comes in another encoding."""
    path = tmp_path / "c.json"
    text = CERTIFICATE.to_json()
    path.write_text(text.replace('"unit":', '"unit": 900, "unit":'))
    with pytest.raises(CertificateError, match="each of them once"):
        Certificate.from_json(path)
    path.write_bytes(text.encode("utf-16"))
    assert Certificate.from_json(path).to_json() == text
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(CertificateError, match="malformed"):
        Certificate.from_json(path)


def test_no_longer_than_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.json"
    CERTIFICATE.save(path)
    monkeypatch.setattr(checker, "MOST_BYTES", 1000)
    with pytest.raises(CertificateError, match="larger rtol"):
        Certificate.from_json(path)
    path.unlink()
    with pytest.raises(CertificateError, match="larger rtol"):
        CERTIFICATE.save(path)
    assert not path.exists()


def test_a_masked_array_is_not_taken_for_its_data() -> None:
    masked = np.ma.masked_array(X, mask=np.zeros_like(X, bool))
    assert CERTIFICATE.verify(masked) == CERTIFICATE.dimensions
    masked[0, 0] = np.ma.masked
    with pytest.raises(geodim.errors.InputTypeError, match="masked"):
        CERTIFICATE.verify(masked)
