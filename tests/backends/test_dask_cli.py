"""``--scheduler``: the same answers from files that the workers read and from files that are sent."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import geodim
from geodim.cli.app import app
from khop_cases import EDGES, X64

pytestmark = pytest.mark.filterwarnings(
    "ignore:The inplace keyword", "ignore:An error occurred while calling"
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same table in every format, and edges."""
    pd, zarr = pytest.importorskip("pandas"), pytest.importorskip("zarr")
    folder = tmp_path_factory.mktemp("files")
    frame = pd.DataFrame(X64, columns=[f"f{j}" for j in range(X64.shape[1])])
    frame.to_parquet(folder / "x.parquet")
    frame.to_csv(folder / "x.csv", index=False, float_format="%.17g")
    np.save(folder / "x.npy", X64)
    zarr.open_array(folder / "x.zarr", mode="w", shape=X64.shape, chunks=(90, 10), dtype="f8")[:] = X64
    np.save(folder / "edges.npy", EDGES)
    return folder


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", ["x.parquet", "x.csv", "x.npy", "x.zarr"])
def test_compute_on_a_cluster(name, files, scheduler):
    reference = geodim.intrinsic_dimension(X64[:, 3:9])
    for place in ([], ["--scheduler", scheduler]):
        answer = json.loads(run("compute", files / name, "--columns", "3-8", *place).stdout)
        assert answer["dimension"] == reference.dimension
        named = [key if name in ("x.npy", "x.zarr") else key[1:] for key in answer["shares"]]
        assert named == [str(int(key) + 3) for key in reference.shares]


@pytest.mark.parametrize("name", ["x.parquet", "x.npy", "x.zarr"])
def test_hops_on_a_cluster(name, files, scheduler):
    reference = geodim.khop_dimensions(X64, EDGES, 2)
    answer = json.loads(
        run(
            "hops", "--features", files / name, "--edges", files / "edges.npy", "--hops", 2,
            "--scheduler", scheduler,
        ).stdout
    )  # fmt: skip
    assert answer["dimensions"] == reference.dimensions


def test_a_wrong_address(files, monkeypatch):
    monkeypatch.setattr("geodim.cli.scheduler.PATIENCE", 0.3)
    for wrong in ("tcp://127.0.0.1:1", "nonsense://x"):
        result = run("compute", files / "x.npy", "--scheduler", wrong, code=4)
        assert f"no Dask scheduler answers at {wrong}" in result.stderr


def test_a_folder_that_is_no_array(tmp_path, scheduler):
    (tmp_path / "x.zarr").mkdir()
    for place in ([], ["--scheduler", scheduler]):
        assert "holds no zarr array" in run("compute", tmp_path / "x.zarr", *place, code=4).stderr
