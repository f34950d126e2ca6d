"""The paper's table of MLE values beside what comes out here.

Computed soundly, and with the float32 sums behind the printed values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.baselines.khop import khop_points, published_hops
from geodim.baselines.mle import PAPER_SAMPLE, estimate, mle_of_points
from geodim.baselines.neighbours import nearest_as_published
from geodim.baselines.points import Points, check_neighbours, choose_sample
from geodim.progress import showing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.progress import Progress

# Table tab:k_hop_ids of the paper, MLE, k = 0, ..., 5, as printed there.
PRINTED_MLE: dict[str, tuple[float, ...]] = {
    "pubmed": (24.4623, 24.7303, 23.3924, 22.2779, 21.3495, 20.5642),
    "cora": (30.6049, 28.1785, 19.9316, 10.8186, 9.2970, 8.6155),
    "citeseer": (58.9593, 26.5031, 16.5556, 12.0495, 9.3171, 7.9572),
    "ogbn-arxiv": (16.2948, 19.8571, 18.9068, 18.2265, 17.4905, 16.9325),
    "ogbn-products": (2.8694, 4.7542, 4.7950, 4.7659, 4.6943, 4.6687),
    "ogbn-mag": (30.7024, 33.2848, 31.5140, 30.4844, 29.9080, 29.5956),
}
NOISE = 1e-7  # below this, float32 sums of Planetoid attributes differ by rounding


def khop_mle_rows(
    X: object,
    graph: object,
    hops: int = 5,
    *,
    printed: Sequence[float] | None = None,
    n_neighbors: int = 5,
    published: bool = True,
    n_samples: int | None = PAPER_SAMPLE,
    seed: int = 0,
    n_threads: int | None = None,
    progress: Progress = None,
) -> list[dict[str, Any]]:
    """Return for every k = 0, ..., hops the printed MLE, the sound one, and that with the paper's arithmetic.

    Parameters
    ----------
    X, graph, hops, n_neighbors, n_samples, seed, n_threads
        As for `geodim.baselines.khop_mle`.
    printed : sequence of float, optional
        The printed values, for example ``PRINTED_MLE["cora"]``.
    published : bool, default True
        Also compute with the paper's arithmetic, which is several times slower.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(hops_done, hops)``, in the calling thread.

    Returns
    -------
    list of dict
        Rows with the keys ``k``, ``printed``, ``sound`` (variant "exact"), ``sound_zero`` (zero distances
        left out), ``paper_like`` (variant "paper"), ``paper_like_zero``, ``paper_like_cut`` (the same with
        distances up to 1e-7 counted as zero) and ``paper_like_cut_zero``; None where there is nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.baselines import khop_mle_rows
    >>> X = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    >>> rows = khop_mle_rows(X, [(i, i + 1) for i in range(99)], hops=1)
    >>> [row["k"] for row in rows], all(abs(row["sound"] - row["paper_like"]) < 1e-3 for row in rows)
    ([0, 1], True)
    """
    hops = whole_number(hops, "hops", 0)
    made = khop_points(X, graph, hops, n_threads=n_threads)
    parts = published_hops(X, graph, hops) if published else []
    sample = choose_sample(len(made.values), n_samples, seed)
    count = check_neighbours(n_neighbors, len(made.values), 2)
    rows = []
    with showing(progress, "hops") as told:
        for k in range(hops + 1):
            sound = mle_of_points(
                made.points(k), count, variant="exact", n_samples=n_samples, seed=seed, n_threads=n_threads
            )
            row: dict[str, Any] = {
                "k": k,
                "printed": None if printed is None or k >= len(printed) else float(printed[k]),
                "sound": sound.dimension,
                "sound_zero": sound.n_zero,
                "paper_like": None,
                "paper_like_zero": None,
                "paper_like_cut": None,
                "paper_like_cut_zero": None,
            }
            if published:
                points = Points(np.concatenate(parts[: k + 1], axis=1))
                distances = nearest_as_published(points, count, sample, n_threads)
                row["paper_like"], _, row["paper_like_zero"] = estimate(distances)
                distances[distances <= NOISE] = 0.0
                row["paper_like_cut"], _, row["paper_like_cut_zero"] = estimate(distances)
            rows.append(row)
            if told is not None:
                told(k + 1, hops + 1)
    return rows
