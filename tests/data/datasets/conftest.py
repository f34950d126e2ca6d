"""Nothing here reaches the network or the user's own folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.datasets.http_server import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from data.datasets.http_server import Server


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep downloads off and caches in the test's own folder."""
    monkeypatch.delenv("GEODIM_DATA", raising=False)
    monkeypatch.setenv("GEODIM_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A file server with ranges, marks and faults."""
    pytest.importorskip("pooch", reason="downloads need pooch (the extra 'data')")
    monkeypatch.delenv("GEODIM_OFFLINE")
    monkeypatch.setattr("geodim.data.datasets.download.time.sleep", lambda _seconds: None)
    with serving() as state:
        yield state
