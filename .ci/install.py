"""Install this clone into the environment of this Python, with the extras named on the command line.

By uv, which takes a quarter of pip's time for a hundred and more packages, told to look where pip is told to
look; by pip itself where uv cannot be had, or does not succeed.
"""

from __future__ import annotations

import os
import subprocess
import sys

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
UV = (sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", sys.executable)


def installed(extras: str) -> bool:
    """Whether one of the two could."""
    wanted = ("--constraint", "constraints.txt", "--editable", f".[{extras}]")
    if _succeeds(*PIP, "--no-compile", "uv") and _succeeds(*UV, *_places(), *wanted):
        return True
    print("uv cannot be had or did not succeed: installing by pip", flush=True)
    _succeeds(*PIP, "--upgrade", "pip")  # the one that came with Python may take three times as long
    return _succeeds(*PIP, "--no-compile", *wanted)


def _places() -> list[str]:
    """Where pip's files and variables say that packages are; the best of all places, as with pip."""
    try:
        from pip._internal.commands import create_command

        told = create_command("install").parser.get_default_values()
        options = ["--index-strategy", "unsafe-best-match", "--default-index", told.index_url]
        options += [word for place in told.extra_index_urls for word in ("--index", place)]
        options += [word for place in told.find_links for word in ("--find-links", place)]
        options += [word for host in told.trusted_hosts for word in ("--allow-insecure-host", host)]
        options += ["--no-index"] * bool(told.no_index)
        for variable, value in (("SSL_CERT_FILE", told.cert), ("ALL_PROXY", told.proxy)):
            if value:
                os.environ.setdefault(variable, value)
    except (ImportError, AttributeError, TypeError):  # another pip, which keeps them elsewhere
        return []
    return options


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(not installed(*sys.argv[1:]))
