"""Plots of results, and the report."""
