"""Commands are called hundreds of times here: what each call would do again is done once, or made smaller."""

from __future__ import annotations

from functools import cache
from unittest import mock

import pytest
import typer


@pytest.fixture(scope="session", autouse=True)
def commands_made_once():
    """Typer reads the signatures of all commands at every call, which takes longer than most of them."""
    made = cache(typer.main.get_command)
    with mock.patch("typer.main.get_command", made), mock.patch("typer.testing._get_command", made):
        yield


@pytest.fixture(autouse=True)
def short_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans measure this machine on a sample; how fast it is does not matter here."""
    monkeypatch.setattr("geodim.plans.SAMPLE", 20_000)
