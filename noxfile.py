#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2024.4.15"]
# ///
"""Tasks in environments of their own, on any system; ``nox`` runs lint, types and tests.

``nox --list`` shows them all.  ``make`` does the same in one environment that is kept; here every task starts
from what pyproject.toml declares.
"""

from __future__ import annotations

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "uv|virtualenv"

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
CONSTRAINTS = ("--constraint", "constraints.txt")
OTHER_SYSTEMS = ("darwin", "win32")
# Packages that build wheels of their main branch: https://scientific-python.org/specs/spec-0004/
NIGHTLY = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "matplotlib")
NIGHTLY_INDEX = "https://pypi.anaconda.org/scientific-python-nightly-wheels/simple"


@nox.session
def lint(session: nox.Session) -> None:
    """Style, the direction of imports, spelling."""
    session.install("-e", ".", "ruff", "import-linter", "codespell")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports", "--no-logo")
    session.run("codespell")


@nox.session
def types(session: nox.Session) -> None:
    """Types, as each system has them: a name that one of them lacks is an error unless it is guarded."""
    session.install(*CONSTRAINTS, "-e", ".[dev]")
    session.run("mypy")
    for system in OTHER_SYSTEMS:  # where whole branches are not reached, and should not be
        session.run("mypy", "--platform", system, "--no-warn-unreachable")


@nox.session(python=PYTHONS, default=False)
def tests_on(session: nox.Session) -> None:
    """The suite on every supported Python that is installed."""
    _test(session)


@nox.session
def tests(session: nox.Session) -> None:
    """The suite on this Python; arguments after ``--`` go to pytest."""
    _test(session)


def _test(session: nox.Session) -> None:
    session.install(*CONSTRAINTS, "-e", ".[test,oracles]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(python="3.11", default=False)
def lowest(session: nox.Session) -> None:
    """The suite with the lowest versions that pyproject.toml allows."""
    lowest_versions = session.create_tmp() + "/lowest.txt"
    with open(lowest_versions, "w", encoding="utf-8") as stream:  # noqa: PTH123 - nox hands the stream on
        session.run("python", "tests/lowest.py", stdout=stream)
    session.install("--constraint", lowest_versions, ".[test,oracles]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(default=False)
def nightly(session: nox.Session) -> None:
    """The suite with wheels of the main branches of what we build on.

    Without what they require: Numba allows a numpy only after it has been tried with it.
    """
    session.install(*CONSTRAINTS, "-e", ".[test,oracles]")
    session.install("--pre", "--upgrade", "--no-deps", "--extra-index-url", NIGHTLY_INDEX, *NIGHTLY)
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Wheel and sdist in ``dist``."""
    session.install("build", "twine")
    session.run("python", "-m", "build")
    session.run("python", "-m", "twine", "check", "--strict", "dist/*")


@nox.session(default=False)
def review(session: nox.Session) -> None:
    """The guide of Scientific Python, and the security of the workflows."""
    session.install("sp-repo-review[cli]", "zizmor", "check-jsonschema")
    session.run("repo-review", ".")
    session.run("zizmor", "--offline", ".github")
    session.run("check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")
    workflows = ("tests", "nightly", "docs", "release")
    files = [f".github/workflows/{name}.yml" for name in workflows]
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files)


if __name__ == "__main__":
    nox.main()
