"""Commands whose help shows a switch as ``--quiet``; as ``--quiet <bool>`` it would seem to take a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Context, Parameter


def _without_types(params: list[Parameter]) -> list[Parameter]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


class Command(TyperCommand):
    """A command."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        """Return arguments and options, switches without a type."""
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        """Return arguments and options, switches without a type."""
        return _without_types(super().get_params(ctx))
