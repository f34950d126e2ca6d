"""What a test draws from a generator of its module depends on that test alone.

Tests are shared out as processes have time for them, so that nobody knows which of them ran before: every
generator that a module holds begins anew for each test, and for each fixture that several tests share.
"""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

HERE = Path(__file__).resolve().parent


class OwnDraws:
    """The plugin."""

    def __init__(self) -> None:
        self.generators: list[np.random.Generator] = []
        self.running = ""  # the test

    def pytest_collection_finish(self) -> None:
        """Find the generators of all modules of tests."""
        # Anything may be held there: None for what must not be imported, or something that imports it later.
        every = [getattr(module, "__dict__", {}) for module in list(sys.modules.values())]
        files = [(names.get("__file__"), names) for names in every]
        ours = [names for file, names in files if isinstance(file, str) and HERE in Path(file).parents]
        held = {id(value): value for names in ours for value in names.values()}
        self.generators = [value for value in held.values() if isinstance(value, np.random.Generator)]

    @pytest.hookimpl(tryfirst=True)  # before any fixture
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.running = item.nodeid
        self.begin_anew(self.running)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """What several tests share does not depend on which of them comes first."""
        if request.scope == "function":
            return (yield)
        self.begin_anew(f"{fixturedef.baseid}::{fixturedef.argname}")
        try:
            return (yield)
        finally:
            self.begin_anew(self.running)

    def begin_anew(self, name: str) -> None:
        state = np.random.default_rng(zlib.crc32(name.encode())).bit_generator.state
        for generator in self.generators:
            generator.bit_generator.state = state
