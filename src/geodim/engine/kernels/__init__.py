"""The compiled inner loops: plain arrays in, plain arrays out, each resting on one stated fact.

Importing this package imports Numba; nothing is compiled before the first call, and what is
compiled is cached on disk.
"""
