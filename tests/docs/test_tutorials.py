"""The tutorials run as they stand, and their words agree with what they print."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("matplotlib", reason="the tutorials draw: matplotlib is not installed")
# What plt.show says where there is no screen.
pytestmark = pytest.mark.filterwarnings("ignore:.*non-interactive")

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
CORA = [6.2523, 3.8324, 3.6689, 3.6627, 3.6624, 3.6623]  # paper.tex, tab:k_hop_ids


@pytest.fixture(autouse=True)
def _figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEODIM_OFFLINE", "1")
    yield
    assert plt.get_fignums()
    plt.close("all")
    assert not list(tmp_path.iterdir())


def run(name: str) -> dict[str, object]:
    return runpy.run_path(str(TUTORIALS / f"{name}.py"), run_name="__main__")


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas", reason="the table is a frame: pip install 'geodim[frames]'")
    names = run("table")
    wines, result = names["wines"], names["result"]
    assert wines.shape == (178, 13)
    text = capsys.readouterr().out
    assert re.search(r"warning: .*proline", text, re.DOTALL)
    ranges = np.sort(np.ptp(wines, axis=0))
    assert ranges[-1] == np.ptp(wines["proline"]) > 10 * ranges[-2]
    assert not result.alerts
    low, high = (mark.dimension for mark in result.gauge.marks if mark.name in ("uniform", "normal"))
    assert low < result.dimension < high
    assert names["selection"].fractions[-1] > 0.999


def test_graph(capsys: pytest.CaptureFixture[str]) -> None:
    result = run("graph")["result"]
    assert [round(value, 4) for value in result.dimensions] == CORA
    drops = -np.diff(result.dimensions)
    assert drops[0] > drops[1:].sum()
    text = capsys.readouterr().out
    assert "2,708 nodes with 1,433 attributes" in text
    assert "Consider 2 hops" in text


def test_embedding(capsys: pytest.CaptureFixture[str]) -> None:
    names = run("embedding")
    text = capsys.readouterr().out
    columns, rotated, *_ = (float(value) for value in re.findall(r"(?:computed|rotated): +([\d.]+)", text))
    assert abs(columns - rotated) > 0.5
    assert names["again"].dimension == pytest.approx(names["by_distance"].dimension, rel=1e-9)
    assert names["by_direction"].lower < names["by_direction"].upper
    digits, noise = names["by_distance"], names["without"]
    assert digits.dimension < 0.8 * noise.dimension
    wider = digits.phi / digits.d_max > noise.phi / noise.d_max
    assert wider[:-1].all()  # all but the whole, which is as wide as the range on either side
