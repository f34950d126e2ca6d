"""What is said in several places about a release is the same in all of them."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

import geodim
import lowest

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

ROOT = Path(__file__).parents[1]
TABLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = TABLE["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PYTHONS = [
    one.rpartition(" ")[2]
    for one in PROJECT["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", one)
]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def released():
    """The version without what says that it is on its way."""
    return geodim.__version__.partition(".dev")[0]


def test_the_version_is_the_same_everywhere():
    assert (
        re.search(
            r"^## (\S+) \((?:not yet released|\d{4}-\d\d-\d\d)\)$", text_of("CHANGELOG.md"), re.MULTILINE
        )[1]
        == released()
    )
    assert yaml.safe_load(text_of("CITATION.cff"))["version"] == released()
    assert yaml.safe_load(text_of("recipe/recipe.yaml"))["context"]["version"] == released()


def test_the_recipe_requires_what_the_package_does():
    recipe = yaml.safe_load(text_of("recipe/recipe.yaml"))
    ours = [one.replace(">=", " >=") for one in PROJECT["dependencies"]]
    assert recipe["requirements"]["run"][1:] == ours
    build = [one.replace(">=", " >=") for one in TABLE["build-system"]["requires"]]
    assert recipe["requirements"]["host"][2:] == build
    assert recipe["context"]["python_min"] == PROJECT["requires-python"].removeprefix(">=") == PYTHONS[0]
    assert recipe["build"]["python"]["entry_points"] == [f"{k} = {v}" for k, v in PROJECT["scripts"].items()]


def test_supported_pythons_are_the_same_everywhere():
    (tasks,) = (
        node.value
        for node in ast.parse(text_of("noxfile.py")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PYTHONS"
    )
    assert ast.literal_eval(tasks) == PYTHONS
    matrix = yaml.safe_load(text_of(".github/workflows/tests.yml"))["jobs"]["suite"]["strategy"]["matrix"]
    assert matrix["python"] == PYTHONS
    for system in ("macos", "windows"):
        own = [one["python"] for one in matrix["include"] if one["os"].startswith(system)]
        assert own == [PYTHONS[0], PYTHONS[-1]]
    for page in ("GOVERNANCE.md", "CONTRIBUTING.md"):
        assert f"{PYTHONS[0]} to {PYTHONS[-1]}" in text_of(page)


def test_addresses_are_those_of_the_project():
    home = PROJECT["urls"]["Source"]
    pages = [
        ROOT / name
        for name in ("README.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "GOVERNANCE.md", "SECURITY.md")
    ]
    for path in [*pages, ROOT / "recipe/recipe.yaml", *(ROOT / ".github").rglob("*.yml")]:
        found = re.findall(r"https://github\.com/[\w-]*geodim[\w-]*/[\w-]+", path.read_text(encoding="utf-8"))
        assert set(found) <= {home}, path


def test_the_readme_leads_back_from_pypi():
    """What the hook of the build does to it: no link or picture is left that PyPI could not follow."""
    text = text_of("README.md")
    for one in TABLE["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert len(links) > 20
    assert all(re.match(r"#|https://", link) for link in links)
    inside = [one for one in links if "$HFPR_VERSION/" in one]
    assert all((ROOT / re.sub(r"#.*", "", one.partition("$HFPR_VERSION/")[2])).exists() for one in inside)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_nothing_that_can_change(path):
    """Actions by commit, with the version it is; systems by number; no right that is not asked for."""
    text = path.read_text(encoding="utf-8")
    uses = re.findall(r"uses: (.*)$", text, re.MULTILINE)
    assert uses
    for action in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        assert "permissions" in job
        assert job["timeout-minutes"] <= 90
        assert "latest" not in str(job["runs-on"])
    assert "pull_request_target" not in text
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_an_action_has_one_version():
    pins = {}
    for path in WORKFLOWS:
        for name, pin in re.findall(r"uses: (\S+)@(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert pins.setdefault(name, pin) == pin, (path, name)


def test_the_image_has_extras_that_there_are():
    (extras,) = re.findall(r"whl\)\[([\w,]+)\]", text_of("Dockerfile"))
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    assert set(re.findall(r"FROM python:(\S+?)-slim", text_of("Dockerfile"))) <= set(PYTHONS)


def test_the_table_of_the_paper_is_that_of_the_results():
    spec = importlib.util.spec_from_file_location("peers", ROOT / "benchmarks/peers.py")
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    results = json.loads(text_of("benchmarks/results/peers.json"))
    assert peers.BEGIN + peers.table(results) + peers.END in text_of("paper/paper.md")


def test_the_guide_of_scientific_python_is_followed():
    """All checks of sp-repo-review but those that pyproject.toml names, with the reason of each."""
    pytest.importorskip("sp_repo_review", reason="sp-repo-review is not installed")
    from repo_review.processor import process

    failed = {one.name: one.err_msg for one in process(ROOT).results if one.result is False}
    assert not failed
    section = text_of("pyproject.toml").partition("[tool.repo-review]")[2].partition("]\n")[0]
    ignored = re.findall(r'^  "(\w+)",(.*)$', section, re.MULTILINE)
    assert ignored
    assert all(reason.startswith(" # ") for _, reason in ignored)


def test_the_lowest_versions_are_of_all_dependencies():
    """Those of every extra, newer ones included, however their names are written."""
    named = {re.match(r"[\w-]+", one)[0] for one in lowest.requirements()} - lowest.LEFT_OUT - {"geodim"}
    assert set(lowest.lowest(lowest.requirements())) == named >= {"numpy", "rapidfuzz", "pillow", "jinja2"}
    assert lowest.plain("Jinja2") == "jinja2"
    assert lowest.plain("torch_geometric") == "torch-geometric"
