"""Numbers in prose: where they stand, which of them something answers for, and which are left alone.

A page has numbers in its text, its tables, and the comments of its code; other code is not looked at, since
the examples are run.  Three things cover a number:

* a **claim** of `Page.says`: a piece of the page with a gap for every number, and the numbers themselves,
  taken from a committed result or computed on the spot.  The piece must stand in the page exactly so, but
  for line breaks; only what filled a gap is covered;
* an **allowance** of `Page.allows`: a piece of the page whose numbers are no findings (sizes of examples,
  constants of a definition, options), with the reason.  It must stand there, too, so that none outlives
  what it allowed;
* a rule of `ALWAYS`, for what is no finding on any page.

Numbers written as words are not seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]

NUMBER = re.compile(r"(?<![\w.^_])(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)*(?:e[-+]?\d+)?")
UNIT = re.compile(
    r"\s?(?:s|ms|µs|ns|ps|min|minutes?|seconds?|hours?|days?|%|per\s?cent|points?|times|x|×|[kMGT]i?B|bytes?|"
    r"decimals?|digits?)(?!\w)"
)
NAMES = (
    "Python|[Nn]um[Pp]y|[Nn]umba|[Pp]andas|[Ss]ci[Pp]y|(?:[Pp]y)?[Tt]orch|Triton|CUDA|scikit-learn|"
    "CPython issue|Chrome|Firefox|Safari"
)
ALWAYS = [
    # Constants of number formats and of proofs: powers of two, and multiples of the roundoff u.
    r"2\^(?:[-−]?\d+|\([^)]*\))",
    r"\d+ ?u(?:M|²|\b)",
    # Sizes of data that is described, not found.
    r"10\^\d+(?: [x×] [\d,]+)?",
    r"\d[\d,]* [x×] [\d,]+",
    # Machines and options: what was asked for.
    r"\d+ (?:CPU )?(?:cores|threads|workers|processes)",
    r"AVX-512|H\d00",
    r"rtol (?:= |of )?[\d.]+(?:e-\d+)?",
    # Which hops, sizes, degrees.
    r"\bk (?:=|≥|<=|≤|>=) \d(?:, \d)*(?:, …)?(?:, \d)?",
    r"hops? \d\.\.\d",
    # Versions and the years of publications, which come with names or dates.
    rf"(?:{NAMES})(?: before)? \d[\d.]*",
    r"\b(?:19|20)\d\d\b",
]
RULES = re.compile("|".join(f"(?:{rule})" for rule in ALWAYS))


@dataclass(frozen=True)
class Number:
    """A number that a page quotes."""

    text: str
    start: int
    line: int
    context: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text} in: ...{self.context}..."


@dataclass
class Page:
    """One page, and what is known of its numbers."""

    name: str
    text: str
    covered: list[tuple[int, int]] = field(default_factory=list)
    claimed: list[tuple[int, int]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, name: str) -> Page:
        return cls(name, (ROOT / name).read_text(encoding="utf-8"))

    def says(self, template: str, *values: object) -> None:
        """Claim that the template stands in the page with these values in its gaps, ``{}``."""
        parts = template.split("{}")
        if len(parts) != len(values) + 1:
            raise ValueError(f"{len(parts) - 1} gaps and {len(values)} values: {template!r}")
        pattern = _flexible(parts[0])
        for value, part in zip(values, parts[1:], strict=True):
            pattern += f"({re.escape(str(value))})" + _flexible(part)
        found = list(re.finditer(pattern, self.text))
        if not found:
            self.missing.append(template.format(*values))
        for match in found:
            self.claimed += [match.span(group) for group in range(1, len(values) + 1)]

    def allows(self, piece: str, why: str) -> None:
        """Allow the numbers in a piece of the page, which are no findings, for a reason."""
        assert why
        found = list(re.finditer(_flexible(piece), self.text))
        if not found:
            self.missing.append(piece)
        self.covered += [match.span() for match in found]

    def allows_section(self, heading: str, why: str) -> None:
        """Allow all numbers of a section, for a reason."""
        assert why
        found = re.search(
            rf"^(#+) {re.escape(heading)}$.*?(?=^#{{1,6}} |\Z)", self.text, re.MULTILINE | re.DOTALL
        )
        if not found:
            self.missing.append(heading)
        else:
            self.covered.append(found.span())

    def numbers(self) -> list[Number]:
        """Every number that the page quotes and no rule allows."""
        seen = RULES.sub(lambda match: " " * len(match[0]), prose_of(self.text))
        found = []
        for match in NUMBER.finditer(seen):
            if len(match[0]) == 1 and not UNIT.match(seen, match.end()):
                continue  # counting to nine
            line = self.text.count("\n", 0, match.start()) + 1
            context = self.text[max(match.start() - 40, 0) : match.end() + 40].replace("\n", " ")
            found.append(Number(match[0], match.start(), line, context))
        return found

    def uncovered(self) -> list[Number]:
        """Numbers that nobody answers for."""
        return [
            one
            for one in self.numbers()
            if not any(start <= one.start < end for start, end in self.covered + self.claimed)
        ]


def _flexible(text: str) -> str:
    """A pattern for the text with any white space between its words."""
    return re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(text))


def prose_of(text: str) -> str:
    """The text with code blanked out, but for its comments: every character stays at its place."""
    kept = []
    fenced = running = False
    after_blank = True
    indented = False
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced, running = not fenced, False
            kept.append(_blank(line))
            continue
        if stripped.startswith(">>>"):
            running = True
        elif not stripped:
            running = False
        indented = line.startswith("    ") and (after_blank or indented) and bool(stripped)
        after_blank = not stripped
        if running:
            kept.append(_blank(line))
        elif fenced or indented:
            comment = re.search(r"(?<=\s)# |^\s*# ", line)
            at = comment.start() if comment else len(line)
            kept.append(_blank(line[:at]) + line[at:])
        else:
            kept.append(line)
    whole = "".join(kept)
    for pattern in (r"`[^`\n]+`", r"(?<=\])\([^)\s]+\)"):  # code in lines, targets of links
        whole = re.sub(pattern, lambda match: _blank(match[0]), whole)
    return whole


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
