"""The site knows its versions: the list is right, and every page offers it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from geodim import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SITE = PROJECT["urls"]["Documentation"]


def test_the_list_names_this_version_and_where_the_others_are() -> None:
    known = json.loads((ROOT / "docs/_static/switcher.json").read_text(encoding="utf-8"))
    assert [entry["version"] for entry in known].count(__version__) == 1
    assert len({entry["version"] for entry in known}) == len(known)
    assert sum(entry.get("preferred", False) for entry in known) == 1
    for entry in known:
        own = "" if entry["version"] == __version__ else f"{entry['version']}/"
        assert entry["url"] == SITE + own  # this version lies at the root, where `docs.yml` puts it


def test_every_page_offers_the_list(site: Path) -> None:
    written = (site / "_static/switcher.json").read_text(encoding="utf-8")
    assert json.loads(written)[0]["version"] == __version__
    for page in ("index.html", "how-to/index.html", "reference/api/geodim.IDResult.html"):
        text = (site / page).read_text(encoding="utf-8")
        assert text.count("version-switcher__button") >= 1
        assert f"theme_switcher_version_match = '{__version__}'" in text
        assert f">{__version__}</button>" in text
