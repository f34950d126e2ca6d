"""``--scale`` of every command, what the terminal says about features, and the warning before a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

import geodim
from cli.running import called, called_on_terminal

if TYPE_CHECKING:
    from pathlib import Path

CANCER = load_breast_cancer()


@pytest.fixture
def cancer(tmp_path: Path) -> Path:
    path = tmp_path / "cancer.csv"
    header = ",".join(name.replace(" ", "_") for name in CANCER.feature_names)
    np.savetxt(path, CANCER.data, delimiter=",", header=header, comments="")
    return path


@pytest.mark.parametrize(("scale", "dimension"), [("range", 9.1), ("std", 66.3), ("rank", 4.01)])
def test_compute(cancer: Path, scale: str, dimension: float) -> None:
    ended = called("compute", cancer, "--scale", scale)
    assert ended.code == 0
    assert ended.json["dimension"] == pytest.approx(dimension, abs=0.05)
    assert ended.json["parameters"]["scale"] == scale


def test_numbers(tmp_path: Path) -> None:
    path = tmp_path / "points.npy"
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.save(path, X)
    one, two = called("compute", path, "--scale", "2,4"), called("compute", path, "--scale", "2")
    assert one.json["dimension"] == geodim.intrinsic_dimension(X, scale=[2.0, 4.0]).dimension
    assert two.json["parameters"]["scale"] == 2.0


@pytest.mark.parametrize(
    "options", [["--scale", "columns"], ["--scale", "-1"], ["--scale", "range", "--no-normalize"]]
)
@pytest.mark.parametrize("command", ["compute", "select"])
def test_refused_before_anything_is_read(command: str, options: list[str], tmp_path: Path) -> None:
    path = tmp_path / "points.npy"
    np.save(path, np.eye(3))
    ended = called(command, path, *options)
    assert ended.code == 2
    assert "scale" in ended.err


def test_select_warns_before_it_certifies(cancer: Path) -> None:
    ended = called_on_terminal("select", cancer, "-m", 1)
    shown = " ".join((ended.out + ended.err).split())
    assert 0 < shown.index("--scale range") < shown.index("certified: at least")
    assert called("select", cancer, "-m", 1).json["alerts"][0]["code"] == "units"
    assert called("select", cancer, "-m", 1, "--scale", "iqr").json["alerts"] == []


def test_the_terminal_says_that_a_share_is_worth_nothing(tmp_path: Path) -> None:
    path = tmp_path / "digits.npy"
    np.save(path, load_digits().data)
    ended = called_on_terminal("compute", path)
    shown = " ".join(ended.out.split()) + " ".join(ended.err.split())
    assert "what features are worth" in shown
    assert "without it" in shown
    assert "the first of them has the share" in shown
    about = called_on_terminal("compute", path, "--rtol", "0.01")
    assert "could be" in about.out + about.err
