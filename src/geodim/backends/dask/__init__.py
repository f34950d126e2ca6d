"""The engine on a Dask cluster: the user's client, tasks that are column blocks, and the maximum as a tree.

`cluster` waits for tasks and says what the workers offer; `source` reads a Dask array as blocks of
columns; `tasks` is what runs on workers, by way of the engine itself; `columns`, `histograms` and `hops`
are the three kinds of passes.
"""
