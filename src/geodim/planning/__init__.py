"""Decisions and predictions, by pure functions of plain values: nothing is read and nothing is allocated.

A `Problem` says what is to be computed, by its sizes and where the data lies; a `Plan` says how: the `Way`
that executors follow, and the memory, passes, bytes and time that it should take.
"""
