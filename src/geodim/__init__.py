"""Intrinsic dimension of geometric data."""
