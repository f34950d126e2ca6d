"""How exact the arithmetic of the bounds is: two numbers, justified in section 4 of docs/numerics.md.

Bounds only select the windows that are evaluated, but a bound that is off by a rounding could exclude the
best one.
"""

from __future__ import annotations

# For values that are multiples of a grain, 2^-48 times their magnitude: all sums of the trend arithmetic that
# can decide anything stay below 2^53 grains, so none of them is rounded.
LATTICE_BITS = 48

# For other values: all roundings of a lower and an upper bound together are below 2^-42 of the magnitude.
SLACK_BITS = 42
