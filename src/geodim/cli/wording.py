"""Messages in the terms of the command line: options as they are typed, standard input by its name.

The library names its arguments (``scale='range'``, ``rtol``), since most of its callers are programs.  Here
they become options.  A value of the data that only looks like an argument may be changed as well, but only in
the message.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from geodim.cli.dash import as_named
from geodim.errors import InputTypeError, InputValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Arguments, and the options that stand for them.
OPTIONS = {
    "alpha": "--alpha", "backend": "--backend", "blur": "--blur", "by": "--by", "checkpoint": "--checkpoint",
    "columns": "--columns", "disconnected": "--disconnected", "drop_missing": "--drop-missing",
    "dtype": "--dtype",
    "edge_weights": "--edge-weights", "exclude": "--exclude", "features": "--features",
    "fraction": "--fraction", "hops": "--hops", "landmarks": "--landmarks", "m": "-m", "memory": "--memory",
    "metric": "--metric", "min_support": "--min-support", "n_threads": "--threads", "operator": "--operator",
    "order": "--order", "points": "--points", "repeats": "--repeats", "rtol": "--rtol", "scale": "--scale",
    "seed": "--seed", "sizes": "--sizes", "t": "--t", "time_limit": "--time-limit",
    "weighting": "--weighting",
}  # fmt: skip
PHRASES = {
    "header=True or header=False (--header or --no-header)": "--header or --no-header",
    "give several families to Union(..., by='diameter')": "name several families and give --by diameter",
    ", or give a function of two points": "",
    "needs p, a number of at least 1": "is for Python only: take manhattan, euclidean or chebyshev",
    "units in scale": "units in --scale",
    "with disconnected= (--disconnected)": "with --disconnected",
    "geodim.drop_missing(X) (--drop-missing)": "--drop-missing",
    "geodim.drop_missing(X)": "--drop-missing",
    "geodim.drop_missing": "--drop-missing",
    'scale="range" (--scale range)': "--scale range",
    "Ask for a smaller rtol": "Ask for a smaller --rtol",
    "leave it out (--exclude on the command line)": "leave it out (--exclude)",
    "geodim.explain_dimension(X).without": "geodim compute shows it for a table, in the column 'without it'",
    "state what counts as having an attribute, for example X > 0": "decide what counts as having an "
    "attribute, and make a table of 0 and 1",
    "weights=True takes": "--edge-weights 2 takes",
    "pass one weight per edge as weights=": "take a file with a column of weights",
}
_NAME = "|".join(sorted(OPTIONS, key=len, reverse=True))
_VALUE = r"(?:'([^'\s]*)'|([\w.+-]*[\w+-]))"
_GIVEN = re.compile(rf"(?<![\w.-])({_NAME})={_VALUE}")
_NAMED = re.compile(
    rf"(?<![\w.-])(?:(?<=leave out )|(?<=larger )|(?<=\()|(?<=: )|(?<=^))({_NAME})"
    r"(?:, (?:the )?numbers? of \w+,)?(?= must be\b| is for\b|\)| \d+\)| or more time\b|;|,? or --|$)"
)
_LEAVE = re.compile(rf"leave out ({_NAME})\b")


def as_typed(text: str) -> str:
    """Return a message of the library in the words of the command line.

    >>> as_typed("rtol must be at least 0; use backend='cpu', or leave out what is not a feature (exclude)")
    '--rtol must be at least 0; use --backend cpu, or leave out what is not a feature (--exclude)'
    """
    text = as_named(text)
    for phrase, words in PHRASES.items():
        text = text.replace(phrase, words)
    text = _GIVEN.sub(lambda found: _option(found[1], found[2] or found[3]), text)
    text = _LEAVE.sub(lambda found: f"leave out {OPTIONS[found[1]]}", text)
    return _NAMED.sub(lambda found: OPTIONS[found[1]], text)


def _option(name: str, value: str | None) -> str:
    """Return an option with its value; a switch has none."""
    return OPTIONS[name] if value in (None, "True") else f"{OPTIONS[name]} {value}"


@contextmanager
def usage() -> Iterator[None]:
    """Turn errors within into usage errors: what is checked here was typed, and is not data."""
    try:
        yield
    except (InputValueError, InputTypeError) as error:
        text = as_typed(str(error))
        option = re.match(r"(--?[a-z][a-z-]*)\b", text)
        raise typer.BadParameter(text, param_hint=option[1] if option else None) from error
