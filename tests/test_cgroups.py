"""Limits of control groups, versions 1 and 2, in a container and outside, as their files say it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest import mock

import pytest

from geodim import cgroups
from geodim.memory import free_memory, machine_memory
from geodim.plans import Problem, plan

if TYPE_CHECKING:
    from pathlib import Path

GB = 10**9
V1_UNLIMITED = 9223372036854771712


def write(folder: Path, **numbers: object) -> None:
    cgroups._groups.cache_clear()  # groups come into being as this process goes on
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in numbers.items():
        (folder / name.replace("__", ".")).write_text(f"{value}\n")


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path]:
    mount = tmp_path / "cgroup"
    mount.mkdir()
    return mount, tmp_path / "membership"


def test_version_2_takes_the_least_of_all_groups_above(place: tuple[Path, Path]) -> None:
    mount, membership = place
    membership.write_text("0::/jobs/mine\n")
    write(mount / "jobs/mine", memory__max="max", memory__current=GB, memory__high="max")
    assert cgroups.memory_limit(*place) is None
    assert cgroups.memory_left(*place) is None
    write(mount / "jobs", memory__max=8 * GB, memory__current=3 * GB, memory__high="max")
    (mount / "jobs/memory.stat").write_text(f"anon 5\ninactive_file {GB}\nactive_file 7\n")
    assert cgroups.memory_limit(*place) == 8 * GB
    assert cgroups.memory_left(*place) == 6 * GB  # pages of files can be let go
    write(mount / "jobs/mine", memory__high=4 * GB)
    assert cgroups.memory_limit(*place) == 4 * GB


def test_version_2_in_a_container_with_the_path_of_the_host(place: tuple[Path, Path]) -> None:
    mount, membership = place
    membership.write_text("0::/system.slice/docker-3f.scope\n")
    write(mount, memory__max=2 * GB, memory__current=GB // 2)
    assert cgroups.memory_limit(*place) == 2 * GB
    membership.write_text("0::/../sibling\n")  # outside of what is mounted here
    assert cgroups.memory_left(*place) == 2 * GB - GB // 2


def test_version_1(place: tuple[Path, Path]) -> None:
    mount, membership = place
    membership.write_text("5:memory:/docker/3f\n4:cpu,cpuacct:/docker/3f\n0::/\n")
    top = mount / "memory"
    write(top, memory__limit_in_bytes=V1_UNLIMITED, memory__usage_in_bytes=20 * GB)
    assert cgroups.memory_limit(*place) == V1_UNLIMITED  # larger than any machine: no limit
    assert cgroups.memory_left(*place) is None
    own = top / "docker/3f"
    write(own, memory__limit_in_bytes=3 * GB, memory__usage_in_bytes=2 * GB)
    (own / "memory.stat").write_text(f"cache 1\ntotal_inactive_file {GB}\n")
    assert cgroups.memory_limit(*place) == 3 * GB
    assert cgroups.memory_left(*place) == 2 * GB


def test_no_groups_at_all(place: tuple[Path, Path]) -> None:
    assert cgroups.memory_limit(*place) is None
    assert cgroups.memory_left(*place) is None


@pytest.mark.parametrize("version", [1, 2])
def test_plans_respect_the_limit(place: tuple[Path, Path], version: int) -> None:
    mount, membership = place
    membership.write_text("7:memory:/job\n" if version == 1 else "0::/job\n")
    names = ("limit_in_bytes", "usage_in_bytes") if version == 1 else ("max", "current")
    group = mount / ("memory/job" if version == 1 else "job")
    write(group, **{f"memory__{name}": size for name, size in zip(names, (GB, GB // 4), strict=True)})
    with (
        mock.patch.object(cgroups, "MOUNT", mount),
        mock.patch.object(cgroups, "MEMBERSHIP", membership),
    ):
        budget = machine_memory()
        assert budget == GB
        assert free_memory() <= GB - GB // 4
        assert plan(Problem(10**6, 10), "cpu", memory=budget).fits
        assert plan(Problem(10**8, 10), "cpu", memory=budget).fits is False
