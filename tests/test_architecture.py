"""docs/architecture.md: its walks lead through functions that exist, its rooms are those of the contract."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
STEPS = re.findall(r"`([\w/]+\.py):([\w.]+)`", PAGE)


def names_in(path: Path) -> set[str]:
    """Functions, classes, methods, and what the file passes on from others."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
        if isinstance(node, ast.ImportFrom):
            names |= {one.asname or one.name for one in node.names}
    return names


@pytest.mark.parametrize(("file", "name"), sorted(set(STEPS)))
def test_every_step_of_a_walk_exists(file, name):
    assert name in names_in(ROOT / "src/geodim" / file)


def test_there_are_five_walks():
    walks = PAGE.partition("## Five walks")[2].partition("## ")[0]
    assert len(re.findall(r"^\*\*.+\.\*\*$", walks, re.MULTILINE)) == 5
    assert len(STEPS) > 40


def test_rooms_are_those_of_the_contract():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [
        set(layer.split(" | ")) - {"__main__", "_version"} for layer in contract["contracts"][0]["layers"]
    ]
    table = PAGE.partition("| room | contract |")[2].partition("\n\n")[0]
    rows = [
        set(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table.splitlines() if row.startswith("| `")
    ]
    assert rows == [layer for layer in layers if layer]


def test_the_picture_names_what_there_is():
    drawn = (ROOT / "docs/images/architecture.svg").read_text(encoding="utf-8")
    picture = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn))
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/geodim").rglob("*.py"))
    for name in re.findall(r"\b[A-Z]\w*[a-z]\w*\b", picture):
        if name != "JSON":
            assert re.search(rf"^class {name}\b", source, re.MULTILINE), name


LIBRARY_OF_LINEAR_ALGEBRA = {"dot", "vdot", "inner", "matmul", "einsum", "tensordot", "linalg", "polyfit"}


def test_the_engine_leaves_no_sum_to_a_library_of_linear_algebra():
    """It has threads of its own, whatever ``n_threads`` says, and rounds by how many there are."""
    found = []
    for path in (ROOT / "src/geodim/engine").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.attr if isinstance(node, ast.Attribute) else None
            named = node.name if isinstance(node, ast.alias) else ""
            product = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)
            if product or {called, *named.split(".")} & LIBRARY_OF_LINEAR_ALGEBRA:
                found.append(f"{path.name}:{node.lineno}")
    assert found == []


def test_files_are_short():
    """Beyond this a file holds more than one thing."""
    files = [path for part in ("src", "tests", "benchmarks") for path in (ROOT / part).rglob("*.py")]
    assert len(files) > 500
    lengths = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {path: length for path, length in lengths.items() if length > 450} == {}
