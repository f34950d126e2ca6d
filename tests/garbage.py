"""A plugin of pytest: garbage is looked for only once all tests are known.

Until then next to nothing is garbage, and modules and cases stay to the end: to look for garbage among them
takes a third of a second.
"""

from __future__ import annotations

import atexit
import gc

gc.disable()


def pytest_collection_finish() -> None:
    """Garbage that matters is looked for by whoever asks; of the rest there is little."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    atexit.register(gc.unfreeze)  # what is never freed, some libraries tell
