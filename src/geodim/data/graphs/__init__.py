"""Graphs from anywhere, as symmetric compressed rows.

>>> from geodim.data.graphs import as_graph
>>> as_graph([(0, 1), (1, 2), (2, 0)])
Graph(3 nodes, 3 undirected edges, symmetrised (3 one-way edges))
"""

from geodim.data.graphs.convert import as_graph
from geodim.data.graphs.graph import Graph, GraphNotes

__all__ = ["Graph", "GraphNotes", "as_graph"]
