"""Wheel and source archive: built, looked at, installed apart from this clone, and run from there.

Built without an environment of its own and installed without dependencies, which are those of the tests, so
that nothing is fetched.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest

import geodim
from geodim.cli.doctor import FOR_DEVELOPERS

ROOT = Path(__file__).parents[1]
# Of those that are no modules, what commands read.
DATA = (
    "py.typed", "data/datasets/files/cora.npz", "data/datasets/files/citeseer.npz",
    "experiments/printed.json", "gauge/windows.json",
)  # fmt: skip


def run(*arguments: object, folder: Path, **variables: str) -> str:
    done = subprocess.run(
        [str(argument) for argument in arguments], cwd=folder, env={**os.environ, **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(target: str, source: Path, folder: Path) -> Path:
    run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder, folder=source)
    (made,) = folder.iterdir()
    return made


def needs_the_builder() -> None:
    for module in ("hatchling", "hatch_fancy_pypi_readme"):
        pytest.importorskip(module, reason=f"{module} is not installed: pip install 'geodim[test]'")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    needs_the_builder()
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    needs_the_builder()
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The folder that the wheel was installed into."""
    folder = tmp_path_factory.mktemp("installed")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, "--no-deps", "--no-compile", "--no-index", "--target", folder, wheel, folder=folder)
    return folder


def files_of(package: Path) -> set[str]:
    """All files of a package but what Python and Numba keep there."""
    return {
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    about = f"geodim-{geodim.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        assert {name.partition("/")[0] for name in names} == {"geodim", about}
        held = {name.removeprefix("geodim/") for name in names if name.startswith("geodim/")}
        assert held == files_of(ROOT / "src" / "geodim")
        assert held >= set(DATA)
        assert not [name for name in held if "test" in name.rpartition("/")[2]]
        for name in DATA:
            assert opened.read(f"geodim/{name}") == (ROOT / "src" / "geodim" / name).read_bytes()
        assert opened.read(f"{about}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
        assert b"geodim = geodim.cli:main" in opened.read(f"{about}/entry_points.txt")
        assert "Provides-Extra: all" in opened.read(f"{about}/METADATA").decode()
    assert wheel.stat().st_size < 3 << 20


def test_the_archive_holds_the_clone_and_makes_the_same_wheel(archive, wheel, tmp_path):
    checks = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from Python 3.11.4 on
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, **checks)
    (clone,) = tmp_path.iterdir()
    found = {path.name for path in clone.iterdir()} - {"PKG-INFO"}
    assert found >= {"src", "tests", "docs", "LICENSE", "README.md", "pyproject.toml", "Makefile"}
    assert not [name for name in found if name.endswith("_cache") or name.startswith(".venv")]
    if (ROOT / ".git").exists():
        tracked = run("git", "ls-files", folder=ROOT).splitlines()
        assert [name for name in tracked if not (clone / name).is_file()] == []
    again = build("wheel", clone, tmp_path / "again")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert one.namelist() == other.namelist()
        assert all(one.read(name) == other.read(name) for name in one.namelist() if name[-6:] != "RECORD")


def test_what_is_installed_runs(installed, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(100, 4)))
    code = (
        "import json, geodim; graph = geodim.load_dataset('cora', offline=True); "
        "print(json.dumps([geodim.__file__, list(graph.x.shape), graph.edge_index.shape[1]]))"
    )
    there = {"PYTHONPATH": str(installed), "GEODIM_DATA": str(tmp_path)}
    file, *sizes = json.loads(run(sys.executable, "-c", code, folder=tmp_path, **there))
    assert Path(file).is_relative_to(installed)
    assert sizes == [[2708, 1433], 10556]
    command = (sys.executable, "-m", "geodim")
    found = json.loads(run(*command, "compute", "x.npy", folder=tmp_path, **there))
    assert found["dimension"] == geodim.intrinsic_dimension(np.load(tmp_path / "x.npy")).dimension


@pytest.mark.slow
def test_the_papers_number_from_what_is_installed(installed, tmp_path):
    """Which compiles everything."""
    where = {"PYTHONPATH": str(installed), "GEODIM_OFFLINE": "1"}
    found = run(sys.executable, "-m", "geodim", "hops", "cora", "--hops", "1", folder=tmp_path, **where)
    assert [round(one, 4) for one in json.loads(found)["dimensions"]] == [6.2523, 3.8324]


def test_all_is_all_that_users_may_want():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    (every,) = extras.pop("all")
    named = every.removeprefix("geodim[").removesuffix("]").split(",")
    assert sorted(named) == sorted(set(extras) - set(FOR_DEVELOPERS))
