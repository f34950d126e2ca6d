"""``--dry-run`` of ``geodim compute`` and ``geodim hops``, for the three backends.

Tables, JSON, exit codes, wrong options.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import geodim
from cli.running import called_on_terminal, piped as in_a_pipe, without
from geodim.cli import planning, reading_plan
from geodim.cli.app import app
from geodim.planning.cpu import column_memory
from geodim.planning.problem import Problem
from geodim.planning.reading import STARTING, Reading, text_memory, with_reading
from geodim.planning.words import duration, size
from geodim.plans import peak_memory, plan as make_plan

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(11)
X = RNG.normal(size=(3_000, 6)).astype(np.float32)
EDGES = RNG.integers(0, 3_000, (9_000, 2))
SIZES = ["--dry-run", "--points", "1e10", "--features", "64"]
CLUSTER = ["--workers", 8, "--worker-memory", "32GB", "--threads", 4]


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the user's folders and the network out of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GEODIM_DATA", raising=False)
    monkeypatch.setenv("GEODIM_OFFLINE", "1")


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.npy"
    np.save(path, X)
    return path


@pytest.fixture
def graph(points: Path, tmp_path: Path) -> list[object]:
    np.save(tmp_path / "edges.npy", EDGES)
    return ["--features", points, "--edges", tmp_path / "edges.npy", "--hops", 2]


def run(*arguments: object) -> Result:
    """Run in this process, which is quicker; stdout is no terminal."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def answer(*arguments: object, code: int = 0) -> dict[str, Any]:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout.count("\n") == 1
    plan = json.loads(result.stdout)
    assert plan["format"] == "geodim.plan/1"
    assert plan["fits"] is not (code == 3)
    assert plan["seconds"] > 0.0
    assert plan["calibrated_on"]
    return plan


class TestCompute:
    def test_a_file_on_this_machine(self, points: Path) -> None:
        plan = answer("compute", points, "--dry-run", "--threads", 2)
        assert (plan["n_points"], plan["n_features"], plan["itemsize"]) == (3_000, 6, 4)
        assert plan["backend"] == "cpu"
        assert plan["memory"] == column_memory(Problem(3_000, 6), 2)
        assert plan["file"] == str(points)
        assert "every window" in plan["method"]
        assert "engine.md" in plan["calibrated_on"]  # a trial would take longer than all of it
        assert "dimension" not in plan
        assert "hops" not in plan

    @pytest.mark.parametrize("kind", ["csv", "parquet", "npz", "zarr"])
    def test_kinds_of_files(self, tmp_path: Path, kind: str) -> None:
        """The whole data counts where it is read into memory; columns can be chosen."""
        path, frame = tmp_path / f"x.{kind}", pd.DataFrame(X).add_prefix("f")
        if kind == "csv":
            frame.to_csv(path, index=False)
        elif kind == "parquet":
            frame.to_parquet(path)
        elif kind == "npz":
            np.savez(path, X)
        else:
            zarr = pytest.importorskip("zarr")
            zarr.open_array(path, mode="w", shape=X.shape, chunks=(1_000, 6), dtype="f4")[:] = X
        plan = answer("compute", path, "--dry-run", "--columns", "0-3", "--threads", 1)
        assert (plan["n_points"], plan["n_features"]) == (3_000, 4)
        itemsize = 8 if kind == "csv" else 4
        major = kind in ("npz", "zarr")
        solved = column_memory(Problem(3_000, 4, itemsize, row_major=major, held=True), 1)
        assert solved <= plan["memory"] < solved + 32e6  # buffers of the reader

    def test_the_tolerance_is_planned_from_the_values(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", RNG.normal(size=(400_000, 3)).astype(np.float32))
        plan = answer("compute", tmp_path / "x.npy", "--dry-run", "--rtol", 0.01)
        result = geodim.intrinsic_dimension(np.load(tmp_path / "x.npy"), rtol=0.01)
        assert plan["steps"] == pytest.approx(result.support.size, rel=0.5)
        assert plan["method"].startswith("counted in")

    def test_sizes_alone(self) -> None:
        plan = answer("compute", *SIZES, "--memory", "64GB", code=3)
        assert (plan["n_points"], plan["n_features"]) == (10**10, 64)
        assert "a cluster" in plan["why_not"]
        assert plan["budget"] == 64 * 10**9
        assert not plan["loaded"]
        small = answer("compute", "--dry-run", "--points", 1000, "--features", 4)
        assert small["budget"] > 10**8  # what this machine has

    def test_a_gpu_that_is_not_here(self, points: Path) -> None:
        plan = answer("compute", points, "--dry-run", "--backend", "cuda")
        assert plan["bytes_moved"] == X.nbytes
        assert "H200" in plan["calibrated_on"]
        assert plan["fits"]
        plan = answer("compute", *SIZES, "--backend", "cuda", "--memory", "80GiB", code=3)
        assert "points would fit" in plan["why_not"]
        assert plan["budget"] == 80 << 30

    def test_the_gpu_that_is_here(self, points: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(planning, "device_memory", lambda: 7 << 30)
        assert answer("compute", points, "--dry-run", "--backend", "cuda")["budget"] == 7 << 30

    def test_no_pytorch_is_needed_to_plan_for_a_gpu(self, points: Path) -> None:
        ended = in_a_pipe(
            "compute", points, "--dry-run", "--backend", "cuda", program=without("torch", "triton")
        )
        assert (ended.code, ended.err) == (0, "")
        assert ended.json["backend"] == "cuda"

    def test_a_cluster_that_is_not_there(self) -> None:
        plan = answer("compute", *SIZES, *CLUSTER, code=3)
        assert plan["backend"] == "dask"
        assert (plan["workers"], plan["threads"], plan["budget"]) == (8, 4, 32 * 10**9)
        assert "rtol > 0" in plan["why_not"]
        counted = answer("compute", *SIZES, *CLUSTER, "--rtol", "0.001")
        assert counted["steps"] > 10_000
        assert counted["tasks"] > 0
        assert counted["memory"] < 32 * 10**9

    def test_no_dask_is_needed_to_plan_for_a_cluster(self) -> None:
        ended = in_a_pipe(
            "compute", *SIZES, *CLUSTER, "--rtol", "0.01", program=without("dask", "distributed")
        )
        assert (ended.code, ended.err) == (0, "")

    def test_a_cluster_that_is_there(self, points: Path) -> None:
        distributed = pytest.importorskip("distributed")
        with distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=False,
            memory_limit="4GB",
            dashboard_address=None,
        ) as cluster:
            plan = answer("compute", points, "--dry-run", "--scheduler", cluster.scheduler_address)
            assert (plan["workers"], plan["threads"], plan["budget"]) == (1, 2, 4 * 10**9)
            more = ["--dry-run", "--scheduler", cluster.scheduler_address, "--workers", 2]
            assert run("compute", points, *more).exit_code == 2

    def test_a_file_that_is_not_small(self, tmp_path: Path) -> None:
        np.save(tmp_path / "points.npy", np.tile(X, (5, 1)))
        plan = answer("compute", tmp_path / "points.npy", "--dry-run")
        assert plan["method"] == "sorted"
        assert plan["calibrated_on"] == "a trial on 15,000 of these points"

    def test_on_a_terminal(self, points: Path) -> None:
        shown = called_on_terminal("compute", points, "--dry-run")
        assert shown.code == 0
        assert re.search(r"points x features +3,000 x 6, float32", shown.err)
        assert re.search(r"time +about .*, from one core of an AMD EPYC", shown.err)
        shown = called_on_terminal("compute", *SIZES, "--backend", "cuda", "--memory", "80GB")
        assert shown.code == 3
        assert "MORE than 80 GB" in shown.err
        assert "does not fit" in shown.err
        shown = called_on_terminal("compute", *SIZES, *CLUSTER, "--rtol", "0.001")
        assert "8 workers of 4 threads" in shown.err
        assert "over the network" in shown.err

    def test_a_backend_by_name(self, points: Path) -> None:
        found = json.loads(run("compute", points, "--backend", "cpu").stdout)
        assert found["dimension"] == geodim.intrinsic_dimension(X).dimension

    @pytest.mark.parametrize(
        "options",
        [
            [],
            ["--dry-run"],
            ["--dry-run", "--points", "10"],
            ["--dry-run", "--features", "10"],
            ["--dry-run", "--points", "0", "--features", "3"],
            ["FILE", "--points", "10"],
            ["FILE", "--dry-run", "--points", "10", "--features", "3"],
            ["FILE", "--workers", "2"],
            ["FILE", "--worker-memory", "2GB"],
            ["FILE", "--memory", "2GB"],
            ["FILE", "--dry-run", "--workers", "2"],
            ["FILE", "--dry-run", "--worker-memory", "2GB"],
            ["FILE", "--dry-run", "--workers", "2", "--worker-memory", "much"],
            ["FILE", "--dry-run", "--workers", "2", "--worker-memory", "2GB", "--backend", "cuda"],
            ["FILE", "--dry-run", "--memory", "much"],
            ["FILE", "--backend", "tpu"],
            ["FILE", "--backend", "dask"],
            ["FILE", "--backend", "cuda", "--scheduler", "tcp://nowhere:1"],
            ["FILE", "--dry-run", "--backend", "dask"],
        ],
    )
    def test_wrong_options(self, points: Path, options: list[str]) -> None:
        result = run("compute", *(points if option == "FILE" else option for option in options))
        assert result.exit_code == 2, result.output
        assert result.stdout == ""

    def test_wrong_data(self, tmp_path: Path) -> None:
        assert run("compute", tmp_path / "no.npy", "--dry-run").exit_code == 4
        np.save(tmp_path / "nan.npy", np.where(np.arange(12).reshape(6, 2) == 3, np.nan, 1.0))
        result = run("compute", tmp_path / "nan.npy", "--dry-run")
        assert result.exit_code == 3
        assert "nan.npy" in result.stderr


class TestHops:
    def test_three_backends(self, graph: list[object]) -> None:
        simple = {(min(pair), max(pair)) for pair in EDGES.tolist() if pair[0] != pair[1]}
        plans = {
            backend: answer("hops", *graph, "--dry-run", "--backend", backend, *more)
            for backend, more in (("cpu", []), ("cuda", []), ("dask", CLUSTER))
        }
        for backend, plan in plans.items():
            assert plan["backend"] == backend
            assert (plan["n_nodes"], plan["attributes"], plan["hops"]) == (3_000, 6, 2)
            assert plan["stored_entries"] == 2 * len(simple)
            assert plan["operator"] == "sym"
            assert plan["passes"] == 2
        cpu = plans["cpu"]
        assert cpu["memory"] == peak_memory(3_000, 2 * len(simple), 6, 4, 2, cpu["threads"])
        assert plans["cuda"]["bytes_moved"] == X.nbytes + 4 * 2 * len(simple)
        assert plans["dask"]["workers"] == 8

    def test_papers_on_a_gpu(self) -> None:
        plan = answer("hops", "ogbn-papers100M", "--dry-run", "--backend", "cuda", "--memory", "139GiB")
        assert plan["fits"]
        assert 10.0 < plan["seconds"] < 60.0
        small = answer(
            "hops", "ogbn-papers100M", "--dry-run", "--backend", "cuda", "--memory", "16GiB", code=3
        )
        assert "use backend='cpu'" in small["why_not"]

    def test_papers_on_a_cluster(self) -> None:
        options = ["hops", "ogbn-papers100M", "--dry-run", "--threads", 8, "--workers", 4, "--worker-memory"]
        assert answer(*options, "256GB")["memory"] < 256 * 10**9
        assert "more memory" in answer(*options, "16GB", code=3)["why_not"]

    def test_on_a_terminal(self, graph: list[object]) -> None:
        shown = called_on_terminal("hops", *graph, "--dry-run", "--backend", "cuda")
        assert shown.code == 0
        assert re.search(r"peak memory, device +\d", shown.err)
        assert "to the device" in shown.err

    def test_a_backend_by_name(self, graph: list[object]) -> None:
        found = json.loads(run("hops", *graph, "--backend", "cpu").stdout)
        assert found["dimensions"] == geodim.khop_dimensions(X, EDGES, 2).dimensions

    @pytest.mark.parametrize(
        "options",
        [
            ["--workers", "2"],
            ["--worker-memory", "2GB"],
            ["--dry-run", "--workers", "2"],
            ["--dry-run", "--backend", "dask"],
            ["--backend", "dask"],
            ["--backend", "tpu"],
            ["--backend", "cpu", "--scheduler", "tcp://nowhere:1"],
        ],
    )
    def test_wrong_options(self, graph: list[object], options: list[str]) -> None:
        result = run("hops", *graph, *options)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""


@pytest.mark.parametrize(
    ("count", "text"), [(12, "12 bytes"), (2_500, "2.5 kB"), (10**9, "1 GB"), (2.56e12, "2.56 TB")]
)
def test_sizes_in_words(count: float, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0123, "0.012 s"), (47.2, "47 s"), (600.0, "10 min"), (9000.0, "2.5 h")]
)
def test_times_in_words(seconds: float, text: str) -> None:
    assert duration(seconds) == text


class TestReading:
    """Reading comes before everything else, and counts."""

    @pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "npz"])
    def test_what_is_read_counts(self, tmp_path: Path, kind: str) -> None:
        path, frame = tmp_path / f"points.{kind}", pd.DataFrame(X, columns=list("abcdef"))
        {
            "csv": lambda: frame.to_csv(path, index=False),
            "csv.gz": lambda: frame.to_csv(path, index=False),
            "parquet": lambda: frame.to_parquet(path),
            "npz": lambda: np.savez(path, X),
        }[kind]()
        plan = answer("compute", path, "--dry-run")
        assert plan["n_points"] == len(X)
        assert 0.0 < plan["parts"]["reading the file"] < plan["seconds"]
        assert plan["seconds"] >= sum(plan["parts"].values())
        shown = called_on_terminal("compute", path, "--dry-run").err
        assert "of which reading the file" in shown

    def test_what_is_mapped_is_not_read_before(self, points: Path) -> None:
        assert "reading the file" not in answer("compute", points, "--dry-run")["parts"]

    def test_the_time_to_start_counts(self, points: Path, graph: list[object]) -> None:
        """What a fresh process takes before it computes anything, on this machine and not on another."""
        for command in (["compute", points], ["hops", *graph]):
            plan = answer(*command, "--dry-run")
            assert plan["parts"]["starting"] == STARTING
            assert plan["seconds"] >= sum(plan["parts"].values())
        assert "starting" not in answer("compute", points, "--dry-run", *CLUSTER)["parts"]

    @pytest.mark.parametrize("packed", [False, True])
    def test_long_texts_are_tried_by_their_beginning(
        self, tmp_path: Path, packed: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading_plan, "WHOLE", 1 << 16)
        monkeypatch.setattr(reading_plan, "HEAD", 1 << 15)
        # From Python 3.12 on, more is read ahead than all of this file.
        monkeypatch.setattr(gzip, "READ_BUFFER_SIZE", 1 << 10, raising=False)
        path = tmp_path / ("long.csv.gz" if packed else "long.csv")
        pd.DataFrame(np.round(np.tile(X, (2, 1)), 3)).to_csv(path, index=False, header=list("abcdef"))
        plan = answer("compute", path, "--dry-run")
        assert plan["n_points"] == pytest.approx(6_000, rel=0.1 if not packed else 0.6)
        assert plan["n_features"] == 6
        assert any("estimated from the first" in note for note in plan["notes"])

    def test_memory_of_reading_counts(self) -> None:
        plan = make_plan(Problem(1_000_000, 25, 8, held=True), "cpu", memory=4 * 10**9)
        assert plan.fits
        reading = Reading(3.0, text_memory(5e9, 2e8))
        told = with_reading(plan, reading)
        assert told.fits is False
        assert told.memory > 8e9
        assert told.why_not is not None
        assert ".npy" in told.why_not
        assert told.seconds == pytest.approx(plan.seconds + 3.0)
        assert with_reading(plan, None) is plan

    def test_graphs(self, graph: list[object]) -> None:
        plan = answer("hops", *graph, "--dry-run")
        assert 0.0 < plan["parts"]["reading the file"] < plan["seconds"]
        papers = answer("hops", "ogbn-papers100M", "--dry-run")
        assert any("to read the files" in note for note in papers["notes"])


class TestObjects:
    """Texts, images and graphs are read, and some of their features made on trial."""

    def test_texts(self, tmp_path: Path) -> None:
        path = tmp_path / "words.txt"
        path.write_text("".join(f"word {i % 17} of {i % 5}\n" for i in range(60)))
        plan = answer("compute", path, "--features", "distances", "--metric", "edit", "--dry-run")
        assert (plan["n_points"], plan["n_features"]) == (60, 60)
        assert plan["parts"]["reading the file"] > 0.0
        terms = answer("compute", path, "--features", "terms", "--dry-run")
        assert terms["n_points"] == 60
        assert 2 <= terms["n_features"] <= 30
        assert "features" in terms["calibrated_on"]

    def test_images(self, tmp_path: Path) -> None:
        image = pytest.importorskip("PIL.Image")
        for i in range(4):
            image.fromarray(RNG.integers(0, 255, (5, 6), np.uint8)).save(tmp_path / f"{i}.png")
        plan = answer("compute", tmp_path, "--features", "pixels", "--dry-run")
        assert (plan["n_points"], plan["n_features"]) == (4, 30)

    def test_shortest_paths(self, tmp_path: Path) -> None:
        path = tmp_path / "ring.csv"
        path.write_text("".join(f"{i},{(i + 1) % 70}\n" for i in range(70)))
        words = ["--features", "distances", "--metric", "shortest_path", "--dry-run"]
        plan = answer("compute", path, *words)
        assert (plan["n_points"], plan["n_features"]) == (70, 70)
        assert run("compute", path, *words, "--columns", "1").exit_code == 2
