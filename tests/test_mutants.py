"""`make mutants`: what it changes and what it runs are there."""

from __future__ import annotations

import mutants


def test_modules_and_tests_exist():
    tests = {file for files in mutants.TESTS.values() for file in files}
    missing = [
        path for path in (*(f"src/geodim/{name}" for name in mutants.MODULES), *tests)
        if not (mutants.ROOT / path).is_file()
    ]  # fmt: skip
    assert not missing


def test_every_module_has_tests():
    assert not [name for name in mutants.MODULES if not any(map(name.startswith, mutants.TESTS))]
