"""Build the documentation site: ``python docs/build.py OUTPUT``.

Pages that are made (the gallery, the reference) would lie among those that are written, and those of a quick
build (``--quick``: the examples are shown, not executed) would be taken for those of a whole one.  So a copy
of this folder is built, beside the output.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent.resolve()
NOT_PAGES = shutil.ignore_patterns("*.py", "_*")


def build(output: Path, *, quick: bool = False) -> int:
    """Write the site to a folder; a warning is an error.  Returns the exit code of Sphinx."""
    output = output.resolve()
    source = output.with_name(f"{output.name}-source")
    for old in (source, output):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(HERE, source, ignore=NOT_PAGES)
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--quiet"]
    folders = ["--conf-dir", str(HERE), "--doctree-dir", str(source / ".doctrees"), str(source), str(output)]
    variables = os.environ | {"GEODIM_DOCS_QUICK": "1" if quick else "0", "MPLBACKEND": "agg"}
    return subprocess.run([*command, *folders], env=variables, check=False).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("output", type=Path, help="the folder to write, replaced if it is there")
    parser.add_argument("--quick", action="store_true", help="do not execute the gallery")
    given = parser.parse_args()
    sys.exit(build(given.output, quick=given.quick))
