"""The engine on a Dask cluster: the user's client, tasks that are column blocks, and the maximum as a tree.

`cluster` waits for tasks and knows the workers' resources; `source` reads a Dask array as blocks of
columns; `tasks` runs on the workers and calls the engine itself; `columns`, `histograms` and `hops`
are the three kinds of passes.
"""
