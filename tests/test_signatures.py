"""One meaning for every argument name: all public functions, classes and methods, against one table."""

from __future__ import annotations

import inspect
import re
import warnings
from contextlib import suppress

import pytest

import geodim
from geodim import baselines, features, gnn, paper, plans
from geodim.errors import InputTypeError

# Name, what its annotation may be, and a word of its entry in every docstring that describes it.
MEANINGS = {
    "n_threads": ({"int | None", "int"}, "[Tt]hreads"),
    "memory": ({"int | None", "int"}, "[Bb]ytes"),
    "n_features_to_select": ({"int | None"}, "[Hh]ow many features"),
    "progress": ({"Progress"}, "True shows a bar; a function is called as ``progress"),
    "checkpoint": ({"str | Path | None", "str | os.PathLike[str] | None"}, "Folder"),
    "time_limit": ({"float | None"}, "Seconds"),
    "rtol": ({"float"}, "exact|bounds|[Tt]olerance|interval"),
    "seed": ({"int", "int | None"}, "[Ss]eed|sample|[Ww]hich"),
    "hops": ({"int", "int | None", "Iterable[int]"}, "k|hops"),
    "backend": ({"str"}, "Where"),
    "edge_weights": ({"object", "Any"}, "weight|lengths"),
    "feature_names": ({"Sequence[str] | None"}, "Names"),
}
# Other words for the same things, and words that mean something else elsewhere.
NOT_THESE = {
    "threads": "n_threads", "n_jobs": "n_threads", "num_threads": "n_threads", "budget": "memory",
    "max_memory": "memory", "m": "n_features_to_select", "n_selected": "n_features_to_select",
    "callback": "progress", "verbose": "progress", "directory": "checkpoint", "timeout": "time_limit",
    "random_state": "seed", "tol": "rtol",
}  # fmt: skip
RECORDS = {"Plan", "SignFit", "SignRun", "SignCost", "Way"}  # what was found, not what to do


def public():
    """Every public function, class and method, by name."""
    modules = [geodim, baselines, features, gnn, paper, plans]
    with warnings.catch_warnings(), suppress(ImportError):
        warnings.simplefilter("ignore")  # of PyTorch Geometric, on some versions of PyTorch
        modules += [geodim.torch, geodim.pyg]
    for module in modules:
        for name in module.__all__:
            one = getattr(module, name)
            if inspect.ismodule(one) or not callable(one) or name in RECORDS:
                continue
            yield f"{module.__name__}.{name}", one
            if inspect.isclass(one):
                for method, function in inspect.getmembers(one, inspect.isfunction):
                    if not method.startswith("_"):
                        yield f"{module.__name__}.{name}.{method}", function


@pytest.fixture(scope="module")
def everything():
    """What is imported for it takes long, and other tests need not wait for that."""
    return dict(public())


def parameters_of(one):
    try:
        return inspect.signature(one).parameters
    except ValueError:  # of some built-in classes
        return {}


def test_names_mean_the_same_everywhere(everything):
    assert len(everything) > 300
    for name, one in everything.items():
        for parameter in parameters_of(one).values():
            where = f"{parameter.name} of {name}"
            assert parameter.name not in NOT_THESE, f"{where}: call it {NOT_THESE.get(parameter.name)}"
            if parameter.name in MEANINGS:
                said = str(parameter.annotation).strip("'")
                assert said in MEANINGS[parameter.name][0], f"{where}: {said}"


def test_docstrings_say_the_same(everything):
    """An entry of its own begins as those of the others do; "as for ..." refers to one that does."""
    for name, one in everything.items():
        text = inspect.getdoc(one) or ""
        for parameter in parameters_of(one):
            entry = re.search(rf"^{parameter} : .*\n((?:    .*\n?)+)", text, re.MULTILINE)
            if entry and parameter in MEANINGS:
                assert re.search(MEANINGS[parameter][1], entry[0]), f"{parameter} of {name}: {entry[0]}"


def test_the_table_is_used(everything):
    """Every name of the table occurs, most of them in several functions."""
    seen = [parameter for one in everything.values() for parameter in parameters_of(one)]
    assert all(seen.count(name) >= 1 for name in MEANINGS)
    assert seen.count("n_threads") > 10
    assert seen.count("progress") > 5


@pytest.mark.parametrize(
    "measure",
    [
        lambda progress: geodim.intrinsic_dimension([[0.0], [1.0]], progress=progress),
        lambda progress: geodim.select_features([[0.0, 1.0, 5.0], [1.0, 3.0, 2.0]], 2, progress=progress),
        lambda progress: geodim.khop_dimensions([[0.0], [1.0]], [(0, 1)], 1, progress=progress),
        lambda progress: geodim.binary_dimension([[0, 1], [1, 1]], progress=progress),
        lambda progress: geodim.support_curve([[0, 1], [1, 1]], progress=progress),
        lambda progress: geodim.binary_correlation_dimension([[0, 1], [1, 1]], progress=progress),
    ],
)
def test_progress_is_a_bar_or_a_function(measure, capsys):
    seen = []
    measure(lambda done, total: seen.append((done, total)))
    assert seen
    assert all(0 <= done <= total for done, total in seen)
    measure(False)
    measure(True)
    assert capsys.readouterr().out == ""  # a bar goes where messages go
    with pytest.raises(InputTypeError, match="progress is True for a bar"):
        measure(3)
