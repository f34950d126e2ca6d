"""Nothing here reaches the network or the user's own folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_SHARED = Path(__file__).parents[3].parent / "shared" / "data" / "planetoid"
# Read at import: the fixture below removes the variable.
_PLANETOID = Path(os.environ.get("GEODIM_DATA") or _SHARED)


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep downloads off and caches in the test's own folder."""
    monkeypatch.delenv("GEODIM_DATA", raising=False)
    monkeypatch.setenv("GEODIM_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))


@pytest.fixture
def planetoid_root() -> Path:
    """The folder with the real Planetoid files."""
    if not (_PLANETOID / "Cora" / "raw" / "ind.cora.graph").is_file():
        pytest.skip(f"the real Planetoid files are not at {_PLANETOID} (set GEODIM_DATA)")
    return _PLANETOID
