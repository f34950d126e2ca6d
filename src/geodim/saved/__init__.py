"""Saved results, checked when they are read.

There is one table of fields for every kind of result, with the relations between the fields.
"""
