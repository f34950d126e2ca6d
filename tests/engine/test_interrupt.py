"""Ctrl-C is heard once, also where Python would print the exception and forget it."""

from __future__ import annotations

import ctypes
import os
import signal
import threading

import numpy as np
import pytest

import geodim
from geodim.engine.interrupt import heeding_interrupts
from geodim.errors import InterruptedWarning


@pytest.fixture(autouse=True)
def interrupts_are_not_ignored():
    """As they are where tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@ctypes.CFUNCTYPE(None)
def pressed_inside_a_callback() -> None:
    """Exceptions do not leave such a function; Numba loads its kernels through the like of it."""
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(100))  # bytecode, so that the handler runs here


@pytest.mark.unix
@pytest.mark.parametrize("n_threads", [1, 2])
def test_heard_inside_a_callback(n_threads):
    X = np.random.default_rng(0).normal(size=(2000, 40))
    exact = geodim.intrinsic_dimension(X).dimension
    calls = []

    def press(done, total):
        calls.append(done)
        if len(calls) == 1:
            pressed_inside_a_callback()

    with pytest.warns(InterruptedWarning, match="interrupted"):
        result = geodim.intrinsic_dimension(X, progress=press, n_threads=n_threads)
    assert result.stopped == "interrupted"
    assert result.lower <= exact <= result.upper
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_one_raises():
    heard = []

    def twice():
        with heeding_interrupts(heard.append):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        twice()
    assert heard == ["interrupted"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_handlers_stay():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    try:
        mine = signal.getsignal(signal.SIGINT)
        with heeding_interrupts(pytest.fail):
            signal.raise_signal(signal.SIGINT)
        assert heard == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_set_no_handler():
    seen = []

    def inside():
        with heeding_interrupts(seen.append):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
