"""
A graph
============

To be written.
"""
import geodim
print(geodim.__version__)
