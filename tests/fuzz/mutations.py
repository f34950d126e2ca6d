"""Inputs, and what is done to their bytes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

NUMBERS = (
    0,
    1,
    2**7,
    2**8 - 1,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**62,
    2**63 - 1,
    2**64 - 1,
)


@dataclass
class Input:
    """A file, or a folder of files, by name."""

    name: str
    files: dict[str, bytes]  # by their path below the name; the path of a single file is empty
    done: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path) -> Input:
        below = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        return cls(
            path.name, {"" if one == path else str(one.relative_to(path)): one.read_bytes() for one in below}
        )

    def copy(self) -> Input:
        return Input(self.name, dict(self.files), list(self.done))

    def write(self, folder: Path) -> Path:
        """Write it below a folder, in place of what is there by that name."""
        path = folder / self.name
        if path.is_dir():
            shutil.rmtree(path)
        for name, content in self.files.items():
            file = path / name if name else path
            if name:
                file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return path


if TYPE_CHECKING:
    Mutation = Callable[[Input, random.Random], None]


def on_bytes(change: Callable[[bytearray, random.Random], None]) -> Mutation:
    """A mutation of the bytes of one file of an input."""

    def mutation(made: Input, rng: random.Random) -> None:
        name = rng.choice(sorted(made.files))
        content = bytearray(made.files[name])
        change(content, rng)
        made.files[name] = bytes(content)

    mutation.__name__ = change.__name__
    return mutation


def on_json(names: tuple[str, ...], values: tuple[object, ...] = ()) -> Mutation:
    """A mutation of one value of a JSON file: replaced, dropped or doubled.

    The file has one of these names; an empty name is the input itself.
    """
    import json

    odd = (None, True, -1, 0, 1, 0.5, 1e308, 2**63, 10**30, "", "x", [], {}, [[]], "\x00", *values)

    def json_value(made: Input, rng: random.Random) -> None:
        name = rng.choice([one for one in sorted(made.files) if Path(one).name in names])
        document = json.loads(made.files[name])
        places = list(_places(document))
        holder, key = rng.choice(places)
        turn = rng.randrange(4)
        if turn == 0:
            del holder[key]
        elif turn == 1:
            other, at = rng.choice(places)
            holder[key] = other[at]
        else:
            holder[key] = rng.choice(odd)
        made.files[name] = json.dumps(document).encode()

    return json_value


def _places(document: object) -> list[tuple[dict | list, str | int]]:
    """Every value of a document, by what holds it."""
    found: list[tuple[dict | list, str | int]] = []
    items = document.items() if isinstance(document, dict) else enumerate(document)  # type: ignore[arg-type]
    for key, value in items:
        found.append((document, key))  # type: ignore[arg-type]
        if isinstance(value, dict | list):
            found += _places(value)
    return found


def _somewhere(content: bytearray, rng: random.Random) -> tuple[int, int]:
    """A stretch, mostly short; headers, which tend to stand at the ends, are favoured."""
    size = len(content)
    start = rng.choice(
        (rng.randrange(size), rng.randrange(min(size, 128)), size - 1 - rng.randrange(min(size, 128)))
    )
    return start, min(size, start + rng.choice((1, 1, 2, 4, 8, 32, size)))


def flip(content: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 2, 8))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def set_byte(content: bytearray, rng: random.Random) -> None:
    start, _ = _somewhere(content, rng)
    content[start] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def cut(content: bytearray, rng: random.Random) -> None:
    start, stop = _somewhere(content, rng)
    del content[start:stop]


def cut_off(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(len(content)) :]


def insert(content: bytearray, rng: random.Random) -> None:
    start, _ = _somewhere(content, rng)
    content[start:start] = rng.randbytes(rng.choice((1, 2, 8, 64)))


def splice(content: bytearray, rng: random.Random) -> None:
    start, stop = _somewhere(content, rng)
    at, _ = _somewhere(content, rng)
    content[at : at + stop - start] = content[start:stop]


def repeat(content: bytearray, rng: random.Random) -> None:
    start, stop = _somewhere(content, rng)
    content[start:start] = content[start:stop] * rng.choice((1, 2, 50))


def zeros(content: bytearray, rng: random.Random) -> None:
    start, stop = _somewhere(content, rng)
    content[start:stop] = bytes(stop - start)


def number(content: bytearray, rng: random.Random) -> None:
    """An integer that is large for its type, or little, in binary."""
    width = rng.choice((1, 2, 4, 8))
    start, _ = _somewhere(content, rng)
    value = (rng.choice(NUMBERS) + rng.choice((-1, 0, 1))) % (1 << 8 * width)
    content[start : start + width] = value.to_bytes(width, rng.choice(("little", "big")))


def digits(content: bytearray, rng: random.Random) -> None:
    """Another number where one is written in digits."""
    import re

    found = rng.choice(list(re.finditer(rb"-?\d+", bytes(content))))
    value = rng.choice((*NUMBERS, -1, 10**30, 10**400, "", "nan", "inf", "1e999", "0x10"))
    content[found.start() : found.end()] = str(value).encode()


BYTES: tuple[Mutation, ...] = tuple(
    map(on_bytes, (flip, set_byte, cut, cut_off, insert, splice, repeat, zeros, number, digits))
)
