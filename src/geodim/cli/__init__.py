"""The command line: ``geodim compute``, ``geodim demo``, ``geodim doctor``."""

from geodim.cli.app import main

__all__ = ["main"]
