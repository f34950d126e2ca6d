"""``python -m geodim.cli`` does what ``geodim`` does."""

from geodim.cli.app import main

main()
