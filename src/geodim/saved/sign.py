"""The fields of saved SIGN trainings, and what each may hold."""

from __future__ import annotations

from typing import Any

from geodim.saved.kinds import Check, UnfitError, list_of, mapping_of, number, text, whole
from geodim.saved.others import any_number

ACCURACY = number(0.0, 1.0)

TRAINED: dict[str, Check[object]] = {
    "test_accuracy": ACCURACY,
    "valid_accuracy": ACCURACY,
    "epochs": whole(1),
    "best_epoch": whole(1),
    "seconds": number(),
    "threads": whole(),
}

RUN: dict[str, Check[object]] = {
    "dataset": text,
    "k": whole(),
    "repetition": whole(),
    "seed": whole(),
    **TRAINED,
    "n_parameters": whole(),
    "device": text,
    "torch": text,
}

FIT: dict[str, Check[object]] = {
    **TRAINED,
    "losses": list_of(any_number),
    "valid_accuracies": list_of(ACCURACY),
}

COST: dict[str, Check[object]] = {
    "runs": whole(),
    "seconds": number(),
    "memory": whole(),
    "disk": whole(),
    "parts": mapping_of(number()),
}


def related_in_training(known: dict[str, Any]) -> None:
    """Raise unless the best epoch is one of those trained."""
    if known["best_epoch"] > known["epochs"]:
        raise UnfitError("the best epoch comes after the last one")


def related_in_fit(known: dict[str, Any]) -> None:
    """Raise unless every epoch has a loss and an accuracy, and the best one the best accuracy."""
    related_in_training(known)
    if not len(known["losses"]) == len(known["valid_accuracies"]) == known["epochs"]:
        raise UnfitError("losses and valid_accuracies must have one entry per epoch")
    if known["valid_accuracies"][known["best_epoch"] - 1] != known["valid_accuracy"]:
        raise UnfitError("valid_accuracy is not that of the best epoch")
