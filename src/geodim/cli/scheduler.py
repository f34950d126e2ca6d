"""``--scheduler``: commands that can run on the user's Dask cluster."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.cli.panels import RUNNING
from geodim.errors import ClusterError
from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Iterator

Scheduler = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=RUNNING,
        metavar="ADDRESS",
        help="Compute on the Dask cluster of this scheduler, such as tcp://host:8786. Its workers read "
        ".parquet and .zarr files themselves, from the same path; other files are sent to them.",
    ),
]
PATIENCE = 5.0  # seconds to wait for an answer


@contextmanager
def connected(address: str | None) -> Iterator[dict[str, Any]]:
    """Connect to that scheduler and provide the options that send the work there; none without an address."""
    if address is None:
        yield {}
        return
    distributed = require("distributed", "dask", "computing on a Dask cluster")
    try:
        # Not as the default client: one that cannot connect would stay the default until it
        # is collected as garbage.
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        msg = (
            f"no Dask scheduler answers at {address}: {error}; is it running, and is "
            "the address tcp://host:port?"
        )
        raise ClusterError(msg) from error
    with client, client.as_current():
        yield {"backend": "dask"}
