"""The elementwise maximum over all tasks, as a tree that grows while they finish.

Results are counted up like the digits of a number: as many as `FAN_IN` of the same height are merged into one
of the next, by a task on a worker.  Long profiles are cut into segments, each with a tree of its own, so that
no worker has to merge the whole of Phi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geodim.backends.dask.tasks import cut_part, merge_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Future

    from geodim.backends.dask.cluster import Cluster

FAN_IN = 4
SEGMENT = 1 << 24


class Reduction:
    """The trees, one per segment.

    Parameters
    ----------
    cluster : Cluster
        Where the merging is done.
    size : int
        Entries of the profile.
    merge : callable
        The maximum of a list of parts.
    """

    def __init__(self, cluster: Cluster, size: int, merge: Callable[[list[Any]], Any] = merge_parts) -> None:
        self.cluster = cluster
        self.merge = merge
        self.trees: list[list[list[Future[Any]]]] = [
            [] for _ in range(0, size, SEGMENT)
        ]  # by segment, by height

    def add(self, part: Future[Any]) -> None:
        """Add the future of a part."""
        for segment, tree in enumerate(self.trees):
            one = part
            if len(self.trees) > 1:
                one = self.cluster.submit(cut_part, part, segment * SEGMENT, (segment + 1) * SEGMENT)
            for level in tree:
                level.append(one)
                if len(level) < FAN_IN:
                    break
                one = self.cluster.submit(self.merge, level[:], soon=True)  # it frees memory
                level.clear()
            else:
                tree.append([one])

    def result(self) -> list[Any]:
        """Merge what is left and fetch it, segment by segment; then start over."""
        roots = []
        for tree in self.trees:
            parts = [part for level in tree for part in level]
            tree.clear()
            if len(parts) > 1:
                parts = [self.cluster.submit(self.merge, parts)]
            roots += parts
        return self.cluster.results(roots)
