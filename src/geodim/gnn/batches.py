"""Nodes of one split in batches.

They are held on the device whole, or gathered batch by batch; the values are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.errors import InputValueError, ShapeError
from geodim.gnn._torch import torch
from geodim.gnn.inputs import hop_inputs_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from geodim.gnn.inputs import HopInputs

__all__ = ["Batches"]


class Batches:
    """The nodes of one split, with their hop features and labels.

    Parameters
    ----------
    inputs : HopInputs
        Where the features are.
    nodes : ndarray of int64
        The nodes of the split.
    labels : ndarray of int64
        Labels of all nodes of the graph.
    hops : int
        Layers 0, ..., hops are used.
    batch_size : int
        Nodes per batch; a single node left over joins the batch before it, since batch norm needs two.
    device : torch.device
        Where batches go.
    resident : bool
        Hold all features on the device, rather than gather each batch.
    """

    def __init__(
        self,
        inputs: HopInputs,
        nodes: NDArray[np.int64],
        labels: NDArray[np.int64],
        hops: int,
        *,
        batch_size: int,
        device: torch.device,
        resident: bool,
    ) -> None:
        self._inputs, self._hops, self._device = inputs, hops, device
        # In the order of the files, so that a batch is read from front to back.
        self._positions = np.sort(inputs.positions(nodes))
        self._targets = torch.from_numpy(np.array(labels[inputs.nodes[self._positions]]))
        self._cuts = _cuts(len(nodes), batch_size)
        self._whole: list[torch.Tensor] | None = None
        if resident:
            self._whole = self._load(self._positions)
            self._targets = self._targets.to(device)

    def __len__(self) -> int:
        return len(self._positions)

    def epoch(
        self, generator: torch.Generator | None = None
    ) -> Iterator[tuple[list[torch.Tensor], torch.Tensor]]:
        """Yield features and labels of all batches, in random order if there is a generator.

        Which nodes share a batch is random; within a batch they are in ascending order.
        """
        if len(self._cuts) == 2:
            yield self._batch(None)
            return
        total = len(self)
        order = torch.arange(total) if generator is None else torch.randperm(total, generator=generator)
        for first, last in zip(self._cuts, self._cuts[1:], strict=False):
            yield self._batch(order[first:last].sort().values)

    def _batch(self, chosen: torch.Tensor | None) -> tuple[list[torch.Tensor], torch.Tensor]:
        if self._whole is not None:
            if chosen is None:
                return self._whole, self._targets
            chosen = chosen.to(self._device)
            return [layer[chosen] for layer in self._whole], self._targets[chosen]
        if chosen is None:
            return self._load(self._positions), self._targets.to(self._device)
        return self._load(self._positions[chosen.numpy()]), self._targets[chosen].to(self._device)

    def _load(self, positions: NDArray[np.intp]) -> list[torch.Tensor]:
        return [
            torch.from_numpy(rows).to(self._device) for rows in self._inputs.gather(positions, self._hops)
        ]


def _cuts(total: int, batch_size: int) -> list[int]:
    """Return where batches begin and end.

    Examples
    --------
    >>> _cuts(10, 4), _cuts(9, 4)
    ([0, 4, 8, 10], [0, 4, 9])
    """
    cuts = [*range(0, total, batch_size), total]
    if len(cuts) > 2 and cuts[-1] - cuts[-2] == 1:
        del cuts[-2]
    return cuts


def make_batches(
    inputs: HopInputs,
    labels: NDArray[np.int64],
    splits: Mapping[str, object],
    hops: int,
    *,
    batch_size: int,
    device: torch.device,
    memory: int,
) -> dict[str, Batches]:
    """Return the batches of the three splits; what is examined most and fits is held on the device.

    Parameters
    ----------
    inputs, labels, hops, batch_size, device
        As for :class:`Batches`.
    splits : mapping
        Node numbers under ``train``, ``valid`` and ``test``.
    memory : int
        Bytes that may be held on the device.
    """
    batches, left = {}, memory
    for part in ("valid", "train", "test"):
        nodes = _nodes(splits, part, labels)
        need = hop_inputs_bytes(len(nodes), inputs.n_attributes, hops)
        # The test nodes are examined once, so that holding them saves nothing.
        resident = part != "test" and need <= left
        left -= need * resident
        batches[part] = Batches(
            inputs, nodes, labels, hops, batch_size=batch_size, device=device, resident=resident
        )
    if len(batches["train"]) < 2:
        raise InputValueError("there is one training node only: batch norm needs two")
    return batches


def _nodes(splits: Mapping[str, object], part: str, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    if part not in splits:
        raise InputValueError(f"there is no split {part!r}: a training needs train, valid and test")
    nodes = np.asarray(splits[part])
    if nodes.dtype.kind == "b":
        if nodes.shape != labels.shape:
            raise ShapeError(f"the mask {part} has shape {nodes.shape}, expected {labels.shape}")
        nodes = np.flatnonzero(nodes)
    if nodes.ndim != 1 or not nodes.size or nodes.dtype.kind not in "iu":
        raise InputValueError(f"the split {part} must hold one or more node numbers, or be a mask")
    if nodes.min() < 0 or nodes.max() >= len(labels):
        raise ShapeError(f"the split {part} has a node outside 0..{len(labels) - 1}")
    bare = np.flatnonzero(labels[nodes] < 0)
    if bare.size:
        raise InputValueError(f"node {nodes[bare[0]]} of the split {part} has no label")
    return nodes.astype(np.int64)
