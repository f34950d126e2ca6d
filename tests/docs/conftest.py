from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from built_site import built_site

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_site(tmp_path_factory)
