"""``geodim verify``, and ``--certificate`` of the commands that compute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cli.running import called, called_on_terminal, piped
from geodim.certificate import Certificate

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(5)


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.csv"
    rows = RNG.normal(size=(60, 3)) * [1.0, 2.0, 1.5]
    path.write_text("a,b,label\n" + "\n".join(",".join(f"{x:.6f}" for x in row) for row in rows))
    return path


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.csv"
    path.write_text("\n".join(f"{a},{b}" for a, b in RNG.integers(0, 60, (100, 2))))
    return path


def test_compute_and_verify(points: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    made = called("compute", points, "--exclude", "label", "--certificate", proof)
    assert (made.code, made.err) == (0, "")
    ended = called("verify", proof, points, "--exclude", "label")
    assert (ended.code, ended.err) == (0, "")
    ((low, high),) = ended.json["dimensions"]
    assert ended.json["verified"] is True
    assert low <= made.json["dimension"] <= high <= 1.001 * low
    assert (ended.json["n_points"], ended.json["n_features"]) == (60, 2)
    refuted = called("verify", proof, points)
    assert (refuted.code, refuted.err) == (1, "")
    assert refuted.json["verified"] is False
    assert refuted.json["reason"] == "it is about 60 points and 2 features, the data has the shape (60, 3)"


def test_hops_and_verify(points: Path, edges: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    made = called("hops", "--features", points, "--edges", edges, "--hops", 2, "--certificate", proof)
    assert (made.code, made.err) == (0, "")
    ended = called("verify", proof, points, "--edges", edges)
    assert (ended.code, ended.err) == (0, "")
    for dimension, (low, high) in zip(made.json["dimensions"], ended.json["dimensions"], strict=True):
        assert low <= dimension <= high <= 1.001 * low
    other = tmp_path / "other.csv"
    other.write_text("0,1\n1,2\n")
    assert called("verify", proof, points, "--edges", other).code == 1
    for arguments, reason in (
        ([points], "give its edges"),
        ([points, "--edges", edges, "--columns", "a"], "hops take all columns"),
    ):
        wrong = called("verify", proof, *arguments)
        assert wrong.code == 2
        assert reason in " ".join(wrong.err.replace("│", " ").split())


def test_the_accuracy_is_an_option(points: Path, tmp_path: Path) -> None:
    sizes = []
    for rtol in (0.1, 1e-5):
        proof = tmp_path / f"{rtol}.json"
        assert called("compute", points, "--certificate", proof, "--certificate-rtol", rtol).code == 0
        ((low, high),) = Certificate.from_json(proof).dimensions
        assert high <= (1.0 + rtol) * low
        sizes.append(proof.stat().st_size)
    assert sizes[0] < sizes[1]
    assert called("compute", points, "--certificate", proof, "--certificate-rtol", 0).code == 2


def test_a_lie_is_named(points: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    called("compute", points, "--certificate", proof)
    values = json.loads(proof.read_text(encoding="utf-8"))
    values["lower"][0][-1] += 10**6
    proof.write_text(json.dumps(values))
    ended = called("verify", proof, points)
    assert ended.code == 1
    assert ended.json["reason"].startswith("Phi(60) is said to be at least")
    shown = called_on_terminal("verify", proof, points)
    assert shown.code == 1
    assert shown.err.startswith(f"REFUTED {proof}\nPhi(60) is said to be at least")
    proof.write_text("{}")
    reason = called("verify", proof, points).json["reason"]
    assert reason.startswith(f"{proof}: not a geodim.Certificate/2")


def test_on_a_terminal(points: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    assert f"wrote {proof}" in called_on_terminal("compute", points, "--certificate", proof).err
    shown = called_on_terminal("verify", proof, points)
    assert shown.code == 0
    low, high = Certificate.from_json(proof).dimensions[0]
    assert shown.err.startswith(
        f"VERIFIED {proof}\nthe intrinsic dimension lies between {low:.10g} and "
        f"{high:.10g}\n60 points x 3 features"
    )
    assert called_on_terminal("verify", proof, points, "--quiet").err == f"VERIFIED {proof}\n"


def test_named_data_sets(tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    assert called("hops", "digits", "--hops", 0, "--certificate", proof).code == 0
    assert called("verify", proof, "digits").json["verified"] is True


def test_what_cannot_be_done(points: Path, edges: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    given = ("hops", "--features", points, "--edges", edges, "--hops", 1, "--certificate", proof)
    for more in (("--operator", "ppr"), ("--edge-weights", "2")):
        ended = called(*given, *more)
        assert ended.code == 2
        assert "can be certified" in " ".join(ended.err.replace("│", " ").split())
    assert called("compute", points, "--certificate", tmp_path / "no" / "c.json").code == 4
    assert called("verify", tmp_path / "gone.json", points).code == 4
    called("compute", points, "--certificate", proof)
    assert called("verify", proof, tmp_path / "gone.npy").code == 4
    stopped = called("compute", points, "--time-limit", 0, "--certificate", tmp_path / "stopped.json")
    assert stopped.code == 5
    assert not (tmp_path / "stopped.json").exists()
    assert "no certificate" in stopped.err


def test_verifying_needs_no_engine(tmp_path: Path) -> None:
    """Nothing is compiled, and Numba is not even imported, to check a file of numbers."""
    X = RNG.normal(size=(50, 2))
    np.save(tmp_path / "x.npy", X)
    assert called("compute", tmp_path / "x.npy", "--certificate", tmp_path / "c.json").code == 0
    code = (
        "import sys; sys.modules['numba'] = None\n"
        f"sys.argv = ['geodim', 'verify', {str(tmp_path / 'c.json')!r}, {str(tmp_path / 'x.npy')!r}]\n"
        "from geodim.cli import main; main()"
    )
    import sys

    ended = piped(program=[sys.executable, "-W", "error", "-c", code])
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["verified"] is True
