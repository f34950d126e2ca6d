"""How exact the arithmetic of the bounds is: two numbers, with the argument in section 4 of docs/numerics.md.

Bounds only choose which windows are evaluated, but a bound that is off by a rounding
could leave out the best one.
"""

from __future__ import annotations

# Values that are multiples of a grain 2^-48 times their magnitude: sums of the trend arithmetic that can
# decide anything stay below 2^53 grains, so that none of them rounds.
LATTICE_BITS = 48

# Other values: all roundings of a lower and an upper bound together are less than 2^-42 of the magnitude.
SLACK_BITS = 42
