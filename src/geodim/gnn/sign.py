"""The SIGN model: one inception layer per hop, and a classification layer on all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.arguments import whole_number
from geodim.errors import ShapeError
from geodim.gnn._torch import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SIGN"]


class SIGN(torch.nn.Module):
    r"""Scalable inception graph network (Rossi et al. 2020) with one inception layer, as the paper uses it.

    .. math::

        Z_r = \mathrm{BN}_r(\mathrm{drop}(\hat A^r X)\, \Theta_r + b_r), \qquad
        Y = \mathrm{drop}(\mathrm{PReLU}([Z_0 \mid \dots \mid Z_k]))\, \Omega + c

    Every hop has its own linear map and batch norm; all share one PReLU.  ``Y`` holds logits.  The graph is
    not needed any more: the inputs are hop features, so nodes can come in batches of any size.

    Parameters
    ----------
    n_attributes : int
        Columns of X.
    n_classes : int
        Classes to tell apart.
    hops : int
        k, the last power of the operator; 0 uses the attributes alone.
    hidden : int
        Columns of each :math:`\Theta_r`.
    input_dropout, dropout : float
        Dropout probabilities of the hop features and of the hidden layer.

    Examples
    --------
    >>> import torch
    >>> from geodim.gnn import SIGN
    >>> model = SIGN(n_attributes=4, n_classes=3, hops=1).eval()
    >>> model([torch.zeros(5, 4), torch.zeros(5, 4)]).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        n_attributes: int,
        n_classes: int,
        hops: int,
        *,
        hidden: int = 64,
        input_dropout: float = 0.5,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        for name, value, least in (
            ("n_attributes", n_attributes, 1),
            ("n_classes", n_classes, 1),
            ("hops", hops, 0),
            ("hidden", hidden, 1),
        ):
            whole_number(value, name, least)
        self.config = {
            "n_attributes": n_attributes,
            "n_classes": n_classes,
            "hops": hops,
            "hidden": hidden,
            "input_dropout": input_dropout,
            "dropout": dropout,
        }
        self.inception = torch.nn.ModuleList(torch.nn.Linear(n_attributes, hidden) for _ in range(hops + 1))
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm1d(hidden) for _ in range(hops + 1))
        self.input_dropout = torch.nn.Dropout(input_dropout)
        self.activation = torch.nn.PReLU()
        self.dropout = torch.nn.Dropout(dropout)
        self.classification = torch.nn.Linear((hops + 1) * hidden, n_classes)

    @property
    def n_parameters(self) -> int:
        """The number of trained parameters.

        (k+1)(d h + 3 h) for the hops, 1 for PReLU, ((k+1) h + 1) c to classify.
        """
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(self, features: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return logits (nodes, n_classes) for the hop features ``[X, TX, ..., T^k X]`` of some nodes."""
        if len(features) != len(self.inception):
            raise ShapeError(
                f"a model for {len(self.inception) - 1} hops takes "
                f"{len(self.inception)} blocks, got {len(features)}"
            )
        hidden = [
            norm(linear(self.input_dropout(block)))
            for norm, linear, block in zip(self.norms, self.inception, features, strict=True)
        ]
        logits: torch.Tensor = self.classification(self.dropout(self.activation(torch.cat(hidden, dim=1))))
        return logits
