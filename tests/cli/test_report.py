"""``geodim report``, and ``--report`` of the commands that compute."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import geodim
from cli.running import called, lacking

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("plotly", reason="the report needs plotly")
pytest.importorskip("jinja2", reason="the report needs jinja2")

RNG = np.random.default_rng(9)


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.csv"
    rows = RNG.normal(size=(60, 3)) * [1.0, 2.0, 1.5]
    path.write_text("a,<script>,c\n" + "\n".join(",".join(f"{x:.6f}" for x in row) for row in rows))
    return path


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.csv"
    path.write_text("\n".join(f"{a},{b}" for a, b in RNG.integers(0, 60, (100, 2))))
    return path


def test_one_result(points: Path, tmp_path: Path) -> None:
    made = called("compute", points, "--json", tmp_path / "r.json")
    assert made.code == 0
    ended = called("report", tmp_path / "r.json", "-o", tmp_path / "r.html")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"{tmp_path / 'r.html'}\n"
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert f"{made.json['dimension']:.4g}" in page
    assert "&lt;script&gt;" in page
    assert f"geodim compute {points} --json {tmp_path / 'r.json'}" in page  # the command that made it
    assert geodim.__version__ in page


def test_several_results(points: Path, edges: Path, tmp_path: Path) -> None:
    names = [tmp_path / f"{name}.json" for name in ("whole", "two", "hops", "chosen")]
    assert called("compute", points, "--json", names[0]).code == 0
    assert called("compute", points, "--columns", "a,c", "--rtol", 0.05, "--json", names[1]).code == 0
    assert called("hops", "--features", points, "--edges", edges, "--hops", 2, "--json", names[2]).code == 0
    assert called("select", points, "-m", 2, "--json", names[3]).code == 0
    ended = called("report", *names, "-o", tmp_path / "all.html", "--title", "Mine & yours")
    assert (ended.code, ended.err) == (0, "")
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    assert "<h1>Mine &amp; yours</h1>" in page
    assert 'id="comparison"' in page
    assert [f'id="r{at}"' in page for at in range(5)] == [True, True, True, True, False]


@pytest.mark.parametrize(
    "command",
    [
        ("compute", "POINTS"),
        ("hops", "--features", "POINTS", "--edges", "EDGES", "--hops", "2"),
        ("select", "POINTS", "-m", "1"),
    ],
)
def test_with_the_computation(command: tuple[str, ...], points: Path, edges: Path, tmp_path: Path) -> None:
    given = [{"POINTS": points, "EDGES": edges}.get(part, part) for part in command]
    ended = called(*given, "--report", tmp_path / "made.html")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["n_points" if command[0] != "hops" else "dimensions"]
    page = (tmp_path / "made.html").read_text(encoding="utf-8")
    assert f"geodim {command[0]} " in page
    assert str(points) in page


def test_the_line_in_a_pipe_has_no_curve(points: Path, edges: Path) -> None:
    line = called("compute", points).json
    hops = called("hops", "--features", points, "--edges", edges, "--hops", 1).json
    for values in (line, *hops["results"]):
        assert not {"support", "phi_lower", "attained_from", "attained_by"} & set(values)
    assert line["parameters"]["command"] == f"geodim compute {points}"


class TestErrors:
    """All before any work is done, and none leaves a file behind."""

    def test_not_a_result(self, points: Path, tmp_path: Path) -> None:
        (tmp_path / "odd.json").write_text(json.dumps({"format": "geodim.compute/1"}))
        for file, words in (
            (tmp_path / "odd.json", "--json"),
            (points, f"`geodim compute {points} --report report.html` measures it"),
            (tmp_path / "none.json", "none.json"),
        ):
            ended = called("report", file, "-o", tmp_path / "r.html")
            assert ended.code == 4
            assert words in ended.err
            assert str(file) in ended.err
            assert "Traceback" not in ended.err
            assert not (tmp_path / "r.html").exists()

    def test_targets(self, points: Path, edges: Path, tmp_path: Path) -> None:
        for command in (
            ("compute", points),
            ("select", points),
            ("hops", "--features", points, "--edges", edges),
        ):
            assert called(*command, "--report", tmp_path / "r.pdf").code == 2
            ended = called(*command, "--report", tmp_path / "none" / "r.html")
            assert ended.code == 4
            assert ended.out == ""
            assert "no folder" in ended.err

    @pytest.mark.parametrize("missing", ["plotly", "jinja2"])
    def test_without_its_packages(self, points: Path, tmp_path: Path, missing: str) -> None:
        with lacking(missing):
            ended = called("compute", points, "--report", tmp_path / "r.html")
            assert ended.code == 6
            assert f"'{missing}'" in ended.err
            assert "geodim[report]" in ended.err
            assert called("compute", points).code == 0

    def test_without_files(self) -> None:
        assert called("report").code == 2
