"""``python -m geodim``: the command line."""

from geodim.cli import main

if __name__ == "__main__":
    main()
