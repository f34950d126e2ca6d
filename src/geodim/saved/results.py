"""The fields of every kind of saved result, what each may hold, and how they belong together.

Anything that a table or a relation below does not allow is refused when the file is read, naming the field:
nothing that was cut, edited or made up reaches a plot or a report.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from geodim.alerts.alert import SEVERITIES, Alert
from geodim.data.files import is_path, read_json
from geodim.errors import DataFileError
from geodim.planning.record import PlanRecord
from geodim.removal import Removal
from geodim.saved.kinds import (
    Check,
    UnfitError,
    ascending,
    fields,
    flag,
    list_of,
    mapping_of,
    number,
    numbers,
    one_of,
    optional,
    plain,
    record,
    sequence_of,
    sizes_or_masses,
    text,
    whole,
    wholes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from geodim.explain.select import FeatureSelection
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult

T = TypeVar("T")

PARAMETERS = mapping_of(
    plain,
    rtol=number(),
    normalize=flag,
    n_threads=whole(1),
    dtype=text,
    data=text,
    command=text,
    date=text,
    n_features_to_select=optional(whole(1)),
    m=optional(whole(1)),  # its earlier name
    fraction=optional(number(0.0, 1.0)),
    memory=whole(1),
)
VERSIONS = mapping_of(text)
AT_MOST_INFINITE = number(infinite=True)

WAY: dict[str, Check[object]] = {
    "method": text,
    "steps": optional(whole()),
    "left_out": whole(),
    "width": whole(1),
    "solvers": whole(),
    "buffers": whole(),
    "together": flag,
    "blocks": whole(1),
    "passes": whole(),
    "by_chunk": flag,
    "resident": flag,
    "drops": flag,
    "relaxed": flag,
    "rows": whole(),
}
COST: dict[str, Check[object]] = {
    "memory": optional(whole()),
    "seconds": optional(number()),
    "passes": whole(),
}


def way_record(value: object) -> dict[str, Any]:
    """Return how columns were solved; older files do not know of all ways."""
    return record(WAY)({"relaxed": False, "rows": 0, **value} if isinstance(value, dict) else value)


PLAN: dict[str, Check[object]] = {
    "backend": text, "method": text, "way": way_record, "predicted": record(COST), "happened": record(COST)
}  # fmt: skip


def plan_record(value: object) -> PlanRecord:
    """Return what was planned and what happened."""
    return PlanRecord.from_dict(record(PLAN)(value))


ALERT: dict[str, Check[object]] = {
    "code": text,
    "severity": one_of(SEVERITIES),
    "message": text,
    "evidence": mapping_of(plain),
    "way_out": text,
}


def alert(value: object) -> Alert:
    """Return a finding; codes of later versions are kept as they are."""
    return Alert(**record(ALERT)(value))


REMOVAL: dict[str, Check[object]] = {
    "dimension": AT_MOST_INFINITE,
    "without": mapping_of(AT_MOST_INFINITE),
    "alone": mapping_of(number(0.0, 1.0)),
    "tied": number(0.0, 1.0),
}


def removal_record(value: object) -> Removal:
    """Return what removals of features cost."""
    return Removal(**record(REMOVAL)(value))


def share_range(value: object) -> tuple[float, float]:
    """Return the least and the greatest share of a feature."""
    ends = list_of(number(0.0, 1.0))(value)
    if len(ends) != 2 or ends[0] > ends[1]:
        raise UnfitError(f"a range of shares, not {value!r:.60}")
    return ends[0], ends[1]


ID_RESULT: dict[str, Check[object]] = {
    "n_points": whole(1),
    "n_features": whole(1),
    "normalized": flag,
    "d_max": number(),
    "discriminability": number(),
    "discriminability_lower": number(),
    "discriminability_upper": AT_MOST_INFINITE,
    "support": sizes_or_masses(2),
    "phi_lower": numbers(),
    "phi_upper": numbers(infinite=True),
    "shares": mapping_of(number(0.0, 1.0)),
    "exact": flag,
    "stopped": optional(text),
    "n_indistinguishable": optional(whole()),
    "evaluations": whole(),
    "bytes_read": whole(),
    "seconds": number(),
    "parameters": PARAMETERS,
    "versions": VERSIONS,
    "attained_from": sizes_or_masses(2),
    "attained_by": wholes(-1),
    "feature_error": AT_MOST_INFINITE,
    "plan": optional(plan_record),
    "mass": number(),
    "stepwise": flag,
    "alerts": sequence_of(alert),
    "removal": optional(removal_record),
    "share_bounds": mapping_of(share_range),
}
ID_DERIVED: dict[str, Check[object]] = {
    "format": text, **dict.fromkeys(("dimension", "lower", "upper", "error"), AT_MOST_INFINITE)
}  # fmt: skip

KHOP_RESULT: dict[str, Check[object]] = {
    "results": list_of(lambda value: value),  # each a result, with a table of its own
    "operator": mapping_of(plain, operator=text),
    "graph": mapping_of(plain, n_edges=whole(), n_nodes=whole(1)),
    "plan": optional(plan_record),
}
DROP = number(-math.inf, 1.0)
KHOP_DERIVED: dict[str, Check[object]] = {
    "format": text,
    "dimensions": list_of(AT_MOST_INFINITE),
    "drops": list_of(lambda value: -math.inf if value == "-inf" else DROP(value)),
}

SELECTION: dict[str, Check[object]] = {
    "names": list_of(text),
    "columns": list_of(whole()),
    "curve": list_of(number()),
    "total": number(),
    "n_points": whole(1),
    "n_features": whole(1),
    "normalized": flag,
    "d_max": number(),
    "evaluations": whole(),
    "seconds": number(),
    "parameters": PARAMETERS,
    "versions": VERSIONS,
    "alerts": sequence_of(alert),
    "error": number(0.0, 1.0),
}
SELECTION_DERIVED: dict[str, Check[object]] = {
    "format": text,
    "fractions": list_of(number()),
    "dimensions": list_of(AT_MOST_INFINITE),
    "dimension": AT_MOST_INFINITE,
    "guarantee": number(),
    "useful": whole(1),
}


def read_saved(source: str | Path, rebuild: Callable[[object], T]) -> T:
    """Return a result from JSON text or a JSON file, which is named in errors."""
    values = read_json(source)
    try:
        return rebuild(values)
    except DataFileError as error:
        if not is_path(source):
            raise
        raise DataFileError(f"{source}: {error}") from error


def checked(
    values: Mapping[str, object],
    table: Mapping[str, Check[object]],
    derived: Mapping[str, Check[object]],
    make: Callable[[dict[str, Any]], T],
    related: Callable[[T], None],
) -> T:
    """Check the fields, make the result, and check how its fields are related.

    Its computed properties must agree with those in the file.
    """
    try:
        result = make(fields(values, table, derived))
        related(result)
        for name in derived:
            if name != "format" and name in values:
                _agrees(name, values[name], getattr(result, name))
    except UnfitError as error:
        if str(error).endswith("is missing"):
            msg = f"the result lacks {str(error).removesuffix(' is missing')}: the file was cut or edited"
        else:
            msg = f"the result holds a value of the wrong kind ({error}): the file was edited"
        raise DataFileError(msg) from error
    return result


def _agrees(name: str, said: object, found: object) -> None:
    """Raise unless a number, or a list of some, is what follows from the others.

    Another version may round differently.
    """
    theirs: list[Any] = said if isinstance(said, list) else [said]
    ours: list[Any] = found if isinstance(found, list) else [found]
    pairs = zip(theirs, ours, strict=False)
    close = all(math.isclose(float(one), other, rel_tol=1e-9, abs_tol=1e-9) for one, other in pairs)
    if not close or len(theirs) != len(ours):
        raise UnfitError(f"the field {name!r}: {said!r:.60}, but the others give {found!r:.60}")


def related_in_result(result: IDResult) -> None:
    """Raise unless the fields of one result belong together."""
    n = result.n_points
    if not result.discriminability_lower <= result.discriminability <= result.discriminability_upper:
        raise UnfitError("the discriminability does not lie between its bounds")
    if result.discriminability_upper == math.inf and result.stopped is None and result.feature_error == 0.0:
        raise UnfitError("the discriminability has no upper bound, and nothing was stopped")
    sizes = {array.size for array in (result.support, result.phi_lower, result.phi_upper)}
    if len(sizes) != 1:
        raise UnfitError(
            f"support, phi_lower and phi_upper have {' and '.join(map(str, sorted(sizes)))} entries"
        )
    if result.attained_from.size != result.attained_by.size:
        raise UnfitError("attained_from and attained_by have different lengths")
    for name in ("support", "attained_from"):
        sizes_of = getattr(result, name)
        ascending(sizes_of, f"the field {name!r}", strictly=True)
        if sizes_of.size and sizes_of[-1] > (result.mass if result.measured else n):
            raise UnfitError(f"the field {name!r} goes beyond the {n} points, or their mass")
    if not result.measured and result.mass != float(n):
        raise UnfitError(f"the mass is {result.mass!r}, but n_points {n}")
    for name in ("phi_lower", "phi_upper"):
        ascending(getattr(result, name), f"the field {name!r}")
    if np.any(result.phi_lower > result.phi_upper):
        raise UnfitError("phi_lower is more than phi_upper somewhere")
    if np.any(result.attained_by >= len(result.shares)):
        raise UnfitError("attained_by names a feature without a share")
    if result.shares and not math.isclose(sum(result.shares.values()), 1.0, abs_tol=1e-6):
        raise UnfitError("the shares do not add up to 1")
    if result.share_bounds and list(result.share_bounds) != list(result.shares):
        raise UnfitError("the ranges of shares are not those of the features with a share")
    if result.removal is not None and not (
        list(result.removal.without) == list(result.removal.alone) == list(result.shares)
    ):
        raise UnfitError("the removals are not those of the features with a share")
    if result.n_indistinguishable is not None and result.n_indistinguishable > n:
        raise UnfitError("there are more indistinguishable points than points")
    if result.exact and not (
        result.discriminability_lower == result.discriminability_upper
        and result.stopped is None
        and np.array_equal(result.phi_lower, result.phi_upper)
    ):
        raise UnfitError("it is said to be exact, but has bounds")


def related_in_hops(result: KHopResult) -> None:
    """Raise unless all hops are about the same nodes and the discriminability never falls."""
    if not result.results:
        raise UnfitError("it has no hops")
    first = result.results[0]
    for k, one in enumerate(result.results):
        for name in ("n_points", "normalized", "d_max"):
            if getattr(one, name) != getattr(first, name):
                raise UnfitError(f"{name} after {k} hops is not that without hops")
        if one.n_features != (k + 1) * first.n_features:
            raise UnfitError(f"n_features after {k} hops is not {k + 1} times that without hops")
        if k and one.discriminability_upper < result.results[k - 1].discriminability_lower:
            raise UnfitError(f"the discriminability falls from {k - 1} hops to {k}")


def related_in_selection(selection: FeatureSelection) -> None:
    """Raise unless the lists are about the same features, and the curve climbs to the total at most."""
    count = len(selection.columns)
    if not len(selection.names) == len(selection.curve) == count > 0:
        raise UnfitError("names, columns and curve have different lengths, or none")
    if len(set(selection.columns)) < count or max(selection.columns) >= selection.n_features:
        raise UnfitError("the field 'columns' names a column twice, or one that is not there")
    ascending(np.array(selection.curve), "the field 'curve'")
    if selection.curve[-1] > selection.total * (1.0 + 1e-9):
        raise UnfitError("the field 'curve' is more than the total")
