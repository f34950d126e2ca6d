"""What a computation needs before it is begun: memory, passes, bytes moved and time, on each backend.

`Problem` says what is to be computed, by its sizes; `plan` says what that takes on one machine, on a
GPU or on a cluster.  Memory is a stated formula, the backend's own wherever it has one; time is a few
rates, measured here or stated.  Nothing is read and nothing is allocated, so that a plan for 10^10
points costs as much as one for ten.

Examples
--------
>>> from geodim.plan import Problem, plan
>>> plan(Problem(10**8, 128), "cuda", budget=139 << 30).fits
True
>>> plan(Problem(10**10, 64), "cuda", budget=139 << 30).fits
False
"""

from geodim.backends.hop_memory import (
    NARROWEST,
    HopPlan,
    columns_for,
    columns_in_flight,
    default_columns,
    peak_memory,
    plan_hops,
)
from geodim.memory import machine_memory
from geodim.plan.choose import plan
from geodim.plan.problem import Plan, Problem, normal_spread, reachable_rtol
from geodim.plan.rates import CORE, H200, CoreRates, DeviceRates, calibrate

__all__ = [
    "CORE",
    "H200",
    "NARROWEST",
    "CoreRates",
    "DeviceRates",
    "HopPlan",
    "Plan",
    "Problem",
    "calibrate",
    "columns_for",
    "columns_in_flight",
    "default_columns",
    "machine_memory",
    "normal_spread",
    "peak_memory",
    "plan",
    "plan_hops",
    "reachable_rtol",
]
