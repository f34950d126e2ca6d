"""One model on Cora, in the range that the paper prints.

Source: paper.tex, table tab:k_hop_ids, lower part; the whole grid is in docs/sign.md.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="SIGN needs PyTorch")

from geodim.gnn import run_grid

MEAN, STD = 0.7766, 0.0045  # of ten runs for Cora, k = 2
OF_ONE_RUN = 0.02  # a single run deviates by about 0.01 (the paper's other cells have deviations up to 0.036)


def test_cora():
    (run,) = run_grid("cora", hops=[2], repetitions=1, offline=True)
    assert abs(run.test_accuracy - MEAN) <= 2 * STD + OF_ONE_RUN
    assert run.epochs == run.best_epoch + 15
