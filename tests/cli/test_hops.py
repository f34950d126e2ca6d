"""``geodim hops``: answers, files, plans, checkpoints, exit codes and terminals."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner, Result

import geodim
from cli.running import called, called_on_terminal, environment
from data.datasets.layouts import write_ogb_csv
from geodim.cli.app import app
from geodim.cli.hop_inputs import parse_memory
from geodim.plans import peak_memory
from published import published_root

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(7)
X = RNG.normal(size=(150, 5))
EDGES = RNG.integers(0, 150, (400, 2))
WEIGHTS = RNG.uniform(0.5, 2.0, 400)
PAPERS = ["ogbn-papers100M", "--dry-run"]


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the user's folders and the network out of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GEODIM_DATA", raising=False)
    monkeypatch.setenv("GEODIM_OFFLINE", "1")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Options that name attributes and edges."""
    np.save(tmp_path / "x.npy", X)
    pd.DataFrame({"source": EDGES[:, 0], "target": EDGES[:, 1], "strength": WEIGHTS, "third": 1.0}).to_csv(
        tmp_path / "edges.csv", index=False
    )
    return ["--features", str(tmp_path / "x.npy"), "--edges", str(tmp_path / "edges.csv")]


def run(*arguments: object) -> Result:
    """Run in this process, which is quicker; stdout is no terminal."""
    return CliRunner().invoke(app, ["hops", *map(str, arguments)])


def answer(*arguments: object, code: int = 0) -> dict[str, Any]:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout)


class TestNamed:
    def test_digits(self, tmp_path: Path) -> None:
        ended = called("hops", "digits", "--hops", "2", "--json", tmp_path / "r.json")
        data = geodim.load_dataset("digits")
        expected = geodim.khop_dimensions(data.x, data.edge_index, 2)
        assert (ended.code, ended.err) == (0, "")
        assert ended.json["format"] == "geodim.hops/1"
        assert ended.json["name"] == "digits"
        assert ended.json["dimensions"] == expected.dimensions
        assert [one["k"] for one in ended.json["results"]] == [0, 1, 2]
        for k, one in enumerate(ended.json["results"]):
            assert one["dimension"] == expected[k].dimension
            assert (one["lower"], one["upper"]) == (expected[k].lower, expected[k].upper)
            assert (one["exact"], one["feature_error"] > 0.0) == (k == 0, k > 0)
            assert one["parameters"]["dtype"] == "float32"
            assert not {"support", "phi_lower", "phi_upper", "shares"} & set(one)
        written = json.loads((tmp_path / "r.json").read_text())
        assert written["dimensions"] == expected.dimensions
        assert len(written["results"]) == 3
        again = geodim.KHopResult.from_json(tmp_path / "r.json")
        assert np.array_equal(again[2].phi_lower, expected[2].phi_lower)

    def test_the_type_of_the_features(self, files: list[str]) -> None:
        single, double = (answer(*files, "--hops", 1, "--dtype", kind) for kind in ("float32", "float64"))
        assert double["dimensions"] == geodim.khop_dimensions(X, EDGES, 1).dimensions
        assert [one["parameters"]["dtype"] for one in single["results"]] == ["float32"] * 2
        assert single["results"][1]["error"] > 1e6 * double["results"][1]["error"] > 0.0
        assert [
            answer(*files, "--dtype", kind, "--dry-run")["itemsize"] for kind in ("float32", "float64")
        ] == [4, 8]
        assert run(*files, "--dtype", "float16").exit_code == 2

    def test_cora_as_in_the_paper(self, tmp_path: Path) -> None:
        """The first number is printed in the paper; the data comes with the package."""
        ended = called("hops", "cora", "--hops", "1", GEODIM_DATA=str(tmp_path), GEODIM_OFFLINE="1")
        assert (ended.code, ended.err) == (0, "")
        assert round(ended.json["dimensions"][0], 4) == 6.2523
        assert ended.json["graph"]["n_edges"] == 5278  # undirected

    @pytest.mark.published
    def test_cora_from_its_published_files(self) -> None:
        found, ours = answer("cora", "--root", published_root(), "--hops", 0), answer("cora", "--hops", 0)
        assert found["dimensions"] == ours["dimensions"]

    def test_ogb_is_converted_when_needed(self, tmp_path: Path) -> None:
        truth = write_ogb_csv(tmp_path)
        expected = geodim.khop_dimensions(truth.x, truth.edge_index, 5)
        assert answer("ogbn-arxiv", "--root", tmp_path)["dimensions"] == expected.dimensions

    def test_missing_files(self, tmp_path: Path) -> None:
        ended = called("hops", "cora", "--root", tmp_path)
        assert (ended.code, ended.out) == (4, "")
        assert ended.err.startswith(f"error: cora is not in {tmp_path / 'Cora'} (missing: raw/ind.cora.x")
        assert "geodim datasets fetch cora" in ended.err
        assert ended.err.count("\n") == 1


class TestFiles:
    @pytest.mark.parametrize("kind", ["npy", "csv", "parquet"])
    def test_kinds(self, tmp_path: Path, kind: str) -> None:
        features, edges = tmp_path / f"x.{kind}", tmp_path / f"e.{kind}"
        if kind == "npy":
            np.save(features, X)
            np.save(edges, EDGES)
        else:
            frames = (pd.DataFrame(X).add_prefix("x"), features), (pd.DataFrame(EDGES).add_prefix("e"), edges)
            for frame, path in frames:
                frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
        found = answer("--features", features, "--edges", edges, "--hops", 3)
        assert found["dimensions"] == geodim.khop_dimensions(X, EDGES, 3).dimensions
        assert (found["features"], found["edges"]) == (str(features), str(edges))

    def test_options_change_what_they_say(self, files: list[str]) -> None:
        def expected(**options: Any) -> list[float]:
            return geodim.khop_dimensions(X, EDGES, 2, **options).dimensions

        def found(*options: object) -> list[float]:
            return answer(*files, "--hops", 2, *options)["dimensions"]

        assert found("--operator", "rw") == expected(operator="rw")
        ppr = expected(operator="ppr", operator_parameters={"alpha": 0.3, "order": 4})
        assert found("--operator", "ppr", "--alpha", 0.3, "--order", 4) == ppr
        heat = expected(operator="heat", operator_parameters={"t": 1.5})
        assert found("--operator", "heat", "--t", 1.5) == heat
        assert found("--no-normalize") == expected(normalize=False)
        assert found("--threads", 1, "--memory", "1GB") == expected()

    @pytest.mark.parametrize("column", ["strength", "2"])
    def test_weights(self, files: list[str], column: str) -> None:
        found = answer(*files, "--hops", 2, "--edge-weights", column)
        assert found["graph"]["weighted"]
        assert found["dimensions"] == geodim.khop_dimensions(X, EDGES, 2, edge_weights=WEIGHTS).dimensions

    def test_tolerance(self, files: list[str]) -> None:
        exact = answer(*files)["dimensions"]
        for one, dimension in zip(answer(*files, "--rtol", 0.1)["results"], exact, strict=True):
            assert one["lower"] <= dimension <= one["upper"]
            assert 0.0 < one["error"] <= 0.1


class TestCheckpoints:
    def test_a_stopped_run_goes_on(self, files: list[str], tmp_path: Path) -> None:
        """Stopped after 8 of 20 attributes, and continued through the program."""
        wide = np.random.default_rng(1).normal(size=(150, 20))
        np.save(tmp_path / "x.npy", wide)
        entries = geodim.khop_dimensions(wide, EDGES, 0).operator["stored_entries"]

        def interrupt(done: int, *_: object) -> None:
            if done:
                raise KeyboardInterrupt

        with pytest.warns(geodim.errors.InterruptedWarning):
            geodim.khop_dimensions(
                wide,
                EDGES,
                2,
                n_threads=1,
                memory=peak_memory(150, entries, 8, 8, 2, 1),
                checkpoint=tmp_path / "state",
                progress=interrupt,
            )
        with np.load(tmp_path / "state" / "layers.npz") as saved:
            assert saved["done"].sum() == 8
        options = [*files, "--hops", "2"]
        fresh = answer(*options)
        first = answer(*options, "--checkpoint", tmp_path / "state")
        second = answer(*options, "--checkpoint", tmp_path / "state", "--save-every", 0)
        assert fresh["dimensions"] == first["dimensions"] == second["dimensions"]

    def test_of_another_job(self, files: list[str], tmp_path: Path) -> None:
        answer(*files, "--hops", 1, "--checkpoint", tmp_path / "state")
        result = run(*files, "--hops", 2, "--checkpoint", tmp_path / "state")
        assert result.exit_code == 4
        assert "another computation" in result.stderr


class TestPlans:
    def test_papers_by_its_sizes_alone(self) -> None:
        ended = called("hops", *PAPERS, "--memory", "48GB", "--threads", "2")
        assert (ended.code, ended.err) == (0, "")
        plan = ended.json
        assert plan["n_nodes"] == 111_059_956
        assert plan["stored_entries"] == 2 * 1_615_685_872
        assert plan["attributes"] == 128
        assert plan["fits"]
        assert plan["memory"] == peak_memory(111_059_956, 2 * 1_615_685_872, plan["columns"], 4, 5, 2)
        assert plan["memory"] <= plan["budget"] == 48_000_000_000
        assert plan["passes"] == 5 * -(-128 // plan["columns"])
        assert plan["seconds"] > 60.0
        assert not plan["loaded"]

    def test_what_does_not_fit(self) -> None:
        plan = answer(*PAPERS, "--memory", "16GiB", code=3)
        assert plan["fits"] is False
        assert plan["memory"] > plan["budget"] == 16 << 30
        shown = called_on_terminal("hops", *PAPERS, "--memory", "16GB")
        assert shown.code == 3
        assert "MORE than 16 GB" in shown.err
        assert re.search(r"nodes x attributes +111,059,956 x 128", shown.err)

    @pytest.mark.parametrize(
        "options", [[], ["--operator", "ppr", "--order", 3], ["--edge-weights", "strength"]]
    )
    def test_files(self, files: list[str], options: list[object]) -> None:
        """The graph at hand is counted, and nothing is computed or written."""
        simple = {(min(pair), max(pair)) for pair in EDGES.tolist() if pair[0] != pair[1]}
        plan = answer(*files, "--dry-run", "--hops", 2, *options)
        assert (plan["n_nodes"], plan["attributes"], plan["stored_entries"]) == (150, 5, 2 * len(simple))
        assert plan["passes"] == 2 * (3 if "ppr" in options else 1)
        scratch = 16 if "ppr" in options else 0
        weights = 8 * (2 * len(simple) + 150) if "strength" in options else 0
        formula = peak_memory(150, 2 * len(simple), 5, 8, 2, plan["threads"], scratch)
        assert plan["memory"] == formula + weights
        assert plan["fits"] is None
        assert plan["loaded"]
        assert "dimensions" not in plan

    def test_tolerance_and_no_hops(self) -> None:
        plan = answer("digits", "--dry-run", "--rtol", 0.01, "--hops", 0, "--memory", "1GB")
        assert plan["passes"] == 0
        assert plan["fits"]
        assert plan["seconds"] > 0.0


class TestMemory:
    @pytest.mark.parametrize(
        ("text", "size"),
        [
            ("8GB", 8 * 10**9),
            ("8GiB", 8 << 30),
            ("500MB", 500 * 10**6),
            ("1.5 gib", 3 << 29),
            ("64k", None),
            ("123456", 123456),
            ("10B", 10),
            ("2TB", 2 * 10**12),
            ("0", None),
            ("-1GB", None),
            ("GB", None),
            ("8XB", None),
            ("1e9", None),
            ("", None),
        ],
    )
    def test_sizes(self, text: str, size: int | None) -> None:
        if size is None:
            with pytest.raises(typer.BadParameter, match="8GB, 8GiB, 500MB"):
                parse_memory(text)
        else:
            assert parse_memory(text) == size

    def test_bad_sizes_are_usage_errors(self) -> None:
        result = run("digits", "--memory", "much")
        assert result.exit_code == 2
        assert "--memory" in result.stderr

    def test_too_little(self) -> None:
        result = run("digits", "--memory", "100kB")
        assert result.exit_code == 3
        assert "fewer threads or more memory" in result.stderr


class TestExitCodes:
    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["no-such-name"],
            ["--features", "x.npy"],
            ["--edges", "e.csv"],
            ["digits", "--features", "x.npy", "--edges", "e.csv"],
            ["digits", "--edge-weights", "strength"],
            ["digits", "--alpha", "0.1"],
            ["digits", "--operator", "ppr", "--t", "1"],
            ["digits", "--order", "3"],
            ["digits", "--operator", "mean"],
            ["digits", "--hops", "-1"],
        ],
    )
    def test_usage(self, arguments: list[str]) -> None:
        result = run(*arguments)
        assert result.exit_code == 2
        assert "Usage:" in result.stderr
        assert result.stdout == ""

    def test_data(self, tmp_path: Path, files: list[str]) -> None:
        np.save(tmp_path / "x.npy", X[:100])
        result = run(*files)
        assert result.exit_code == 3, "an edge to a node without attributes"
        np.save(tmp_path / "x.npy", np.where(np.arange(750).reshape(150, 5) == 7, np.nan, X))
        result = run(*files)
        assert result.exit_code == 3
        assert "x.npy" in result.stderr
        assert "row 1, column 2 is nan" in result.stderr
        assert run(*files, "--edge-weights", "stength").exit_code == 3

    def test_files(self, tmp_path: Path, files: list[str]) -> None:
        assert run("--features", tmp_path / "no.npy", *files[2:]).exit_code == 4
        assert run(*files[:2], "--edges", tmp_path / "no.csv").exit_code == 4
        result = run(*files, "--json", tmp_path / "no" / "folder.json")
        assert result.exit_code == 4
        assert "there is no folder" in result.stderr
        assert "it is a folder" in run(*files, "--json", tmp_path).stderr

    def test_time_limit(self, files: list[str]) -> None:
        ended = called("hops", *files, "--time-limit", "0")
        assert ended.code == 5
        exact = geodim.khop_dimensions(X, EDGES, 5).dimensions
        for one, dimension in zip(ended.json["results"], exact, strict=True):
            assert one["stopped"] == "time limit"
            assert float(one["lower"]) <= dimension <= float(one["upper"])
        assert "stopped early (time limit)" in ended.err
        assert run(*files, "--time-limit", "0", "--quiet").stderr == ""


class TestOnTerminals:
    def test_table_and_progress(self, files: list[str], tmp_path: Path) -> None:
        ended = called_on_terminal("hops", *files, "--hops", "2", "--json", tmp_path / "r.json")
        expected = geodim.khop_dimensions(X, EDGES, 2)
        assert ended.code == 0
        assert "5/5 attributes" in ended.err
        assert re.search(r"k +intrinsic dimension +certified bounds +drop", ended.err)
        assert re.search(rf"^ 0 +\.\.\. +at most {expected.dimensions[0]:.6g}", ended.err, re.MULTILINE)
        assert re.search(rf"^ 0 +{expected.dimensions[0]:.6g} +exact", ended.err, re.MULTILINE)
        for k in (1, 2):
            row = rf"^ {k} +{expected.dimensions[k]:.6g} +within (\S+) +{expected.drops[k - 1]:.1%}"
            shown = re.search(row, ended.err, re.MULTILINE)
            assert shown is not None
            assert expected[k].error <= float(shown[1]) <= 2 * expected[k].error
        assert "within: features of hops are sums that are rounded to float64" in ended.err
        assert "150 nodes" in ended.err
        assert f"wrote {tmp_path / 'r.json'}" in ended.err
        advice = geodim.advise(expected)
        assert advice.text.splitlines()[0] in ended.err
        assert "also validate no hops, and one or two more" in ended.err  # it is no law
        assert answer(*files, "--hops", 2)["advice"] == advice.to_dict()
        assert answer(*files, "--hops", 2, "--time-limit", 0, code=5)["advice"] is None

    def test_quiet_is_the_numbers(self, files: list[str]) -> None:
        ended = called_on_terminal("hops", *files, "--hops", "1", "--quiet")
        assert ended.err == "".join(f"{v:.10g}\n" for v in geodim.khop_dimensions(X, EDGES, 1).dimensions)


class TestHelp:
    def test_teaches(self) -> None:
        result = run("--help")
        assert result.exit_code == 0
        for word in ("geodim hops digits", "--dry-run", "--checkpoint", "• 5: stopped early"):
            assert word in result.stdout

    @pytest.mark.parametrize("command", [["hops"], ["datasets", "list"]])
    def test_imports_nothing_heavy(self, command: list[str]) -> None:
        code = (
            "import sys\n"
            "from geodim.cli import main\n"
            f"sys.argv = ['geodim', *{command!r}, '--help']\n"
            "try: main()\n"
            "except SystemExit: pass\n"
            "heavy = {'numba', 'sklearn', 'matplotlib', 'scipy', 'pandas', 'pyarrow', 'torch', 'numpy'}\n"
            "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
            env=environment(),
        )
        assert done.stderr == "[]\n"


def test_a_file_is_not_a_name(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("1,2\n3,4\n")
    ended = called("hops", tmp_path / "points.csv")
    assert ended.code == 2
    assert "--features" in ended.err
    assert "--edges" in ended.err
