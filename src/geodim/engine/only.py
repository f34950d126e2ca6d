"""The only column of a source: what it attains is Phi, and need not be compared with anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from geodim.engine.profile import Profile
    from geodim.engine.target import Piece, Sizes, Solved


class OnlyColumn:
    """Takes what was found about the only column, which stays where the solver wrote it.

    If all was solved, that becomes the profile, which until then is blank: so 12 bytes for each point are
    neither written nor even provided by the system.

    Parameters
    ----------
    profile : Profile
        A blank one.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.found: list[Solved] = []

    @property
    def phi(self) -> NDArray[np.float64]:
        """The bar, which is zero."""
        return self.profile.phi

    def begin(self, column: int, pieces: dict[Piece, Sizes]) -> None:
        """Announce the pieces of the column."""
        self.profile.begin(column, pieces)

    def merge(self, solved: Solved) -> None:
        """Take a piece; threads may do so at once."""
        self.found.append(solved)

    def settle(self) -> None:
        """Hand all of it to the profile, when nobody solves any more."""
        if not self.profile.take_over(self.found):
            self.profile.make_room()
            for solved in self.found:
                self.profile.merge(solved)
        self.found = []
