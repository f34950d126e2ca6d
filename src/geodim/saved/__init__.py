"""Saved results, read with suspicion.

There is one table of fields for every kind of result, and the relations between them.
"""
