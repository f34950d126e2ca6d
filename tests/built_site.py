"""The documentation site, built once for all tests that look at it.

It is built without executing the gallery; ``GEODIM_SITE`` names a site that was built before, as `make docs`
does, with all of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SECONDS = 600


def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site; of several processes that ask for it, the first one builds it."""
    given = os.environ.get("GEODIM_SITE")
    if given:
        return Path(given).resolve()
    for package in ("sphinx", "pydata_sphinx_theme", "myst_parser", "sphinx_gallery", "numpydoc"):
        pytest.importorskip(package, reason=f"the site needs {package}: pip install 'geodim[docs]'")
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    site, log = shared / "site", shared / "site.log"
    try:
        (shared / "site.begun").mkdir()
    except FileExistsError:
        _wait_for(log)
    else:
        _build(site, log)
    assert (site / "index.html").exists(), log.read_text(encoding="utf-8")
    return site


def _build(site: Path, log: Path) -> None:
    command = [sys.executable, str(ROOT / "docs" / "build.py"), "--quick", str(site)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    said = ended.stdout + ended.stderr
    if ended.returncode:
        (site / "index.html").unlink(missing_ok=True)
    partial = log.with_suffix(".part")
    partial.write_text(said, encoding="utf-8")
    partial.replace(log)


def _wait_for(log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not log.exists():
        if time.monotonic() > deadline:
            pytest.fail(f"no site after {SECONDS} s")
        time.sleep(0.2)
