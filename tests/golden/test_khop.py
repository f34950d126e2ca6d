"""All intrinsic dimensions that the paper prints for the Planetoid graphs, k = 0, ..., 5.

Source: paper.tex, table tab:k_hop_ids (also paper_tables.json, khop_id), values exactly as printed there.
"""

from __future__ import annotations

import pytest

import geodim
from geodim.data.datasets import load_dataset

PRINTED = {
    "cora": [6.2523, 3.8324, 3.6689, 3.6627, 3.6624, 3.6623],
    "citeseer": [22.3337, 11.3166, 10.2347, 9.8134, 9.5491, 9.3795],
    "pubmed": [2542.3425, 2336.6611, 2077.5821, 2077.0953, 2077.0886, 2077.0848],
}
HALF_A_DIGIT = 0.5e-4
ROUNDING = 1e-6  # features of hops are float32: each is off by 6e-8 of its size


@pytest.mark.parametrize("name", PRINTED)
def test_printed_dimensions(name, planetoid_root):
    data = load_dataset(name, root=planetoid_root, offline=True)
    result = geodim.khop_dimensions(data.x, data.edge_index, hops=5)
    assert all(one.exact for one in result)
    assert len(result) == len(PRINTED[name])
    for k, (dimension, printed) in enumerate(zip(result.dimensions, PRINTED[name], strict=True)):
        assert abs(dimension - printed) <= HALF_A_DIGIT + ROUNDING * printed, f"k = {k}"
