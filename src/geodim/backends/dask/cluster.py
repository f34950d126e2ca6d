"""The user's cluster, seen from the client: what its workers offer, and waiting for their tasks."""

from __future__ import annotations

import math
import queue
import time
from asyncio import CancelledError
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import TYPE_CHECKING, Any, TypeVar

from geodim.backends.dask.tasks import forget
from geodim.errors import ClusterError, GeodimError, InputValueError
from geodim.memory import process_memory
from geodim.optional import require
from geodim.planning.capacity import Capacity, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dask.delayed import Delayed
    from distributed import Client, Future

T = TypeVar("T")
WORKERS_WITHIN = 10.0  # seconds to wait for a first worker
MOST_LOSSES = 3  # of values that were sent to all workers; as often as Dask tries a task whose workers die
PAUSE = 0.5  # seconds after a loss, until the scheduler has noticed who is gone


class LostTasksError(ClusterError):
    """The scheduler forgot tasks: it is gone, or the only workers that held what they need are."""


class Cluster(Capacity):
    """The active client and its workers.  Nothing is started here.

    Parameters
    ----------
    client : distributed.Client
        The client whose cluster to use.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        super().__init__(self._workers())

    @classmethod
    def active(cls) -> Cluster:
        """Return the cluster of the client that was made last."""
        distributed = require("distributed", "dask", "computing on a Dask cluster")
        try:
            client = distributed.get_client()
        except ValueError as error:
            msg = (
                "there is no active Dask client: start one with  from distributed import Client; client = "
                "Client()  for the cores of this machine, or Client('tcp://scheduler:8786') for a cluster"
            )
            raise InputValueError(msg) from error
        return cls(client)

    def _workers(self) -> list[Worker]:
        try:
            self.client.wait_for_workers(1, timeout=WORKERS_WITHIN)
            scheduler: Any = self.client.scheduler  # of a client that is connected
            # Not `scheduler_info`: it returns what the client keeps, which a callback may
            # have replaced meanwhile.
            found = self.client.sync(scheduler.identity)["workers"].items()
        except (TimeoutError, OSError) as error:
            raise self._without_workers() from error
        if not found:  # the last one left meanwhile
            raise self._without_workers()
        return [
            Worker(int(one["nthreads"]), float(one["memory_limit"] or math.inf), address)
            for address, one in found
        ]

    def _without_workers(self) -> ClusterError:
        return ClusterError(
            f"the Dask scheduler has no workers: start some, as in  dask worker {self._address()}"
        )

    def _address(self) -> str:
        return str(getattr(self.client.scheduler, "address", "tcp://scheduler:8786"))

    def homes(self) -> Iterator[str]:
        """Yield addresses in turn, each worker as often as it has threads, then again from the first."""
        most = max(worker.threads for worker in self.workers)
        return cycle([w.address for turn in range(most) for w in self.workers if turn < w.threads])

    def submit(
        self, function: Callable[..., T], *arguments: object, soon: bool = False, home: str | None = None
    ) -> Future[T]:
        """Submit one task, ahead of waiting ones if ``soon``; on one worker, if there is a live ``home``.

        Its key is not made from its arguments: hashing data costs more than it ever saves.
        """
        place = {} if home is None else {"workers": [home], "allow_other_workers": True}
        with self._losses():
            future: Future[T] = self.client.submit(
                function, *arguments, pure=False, priority=int(soon), **place
            )
        return future

    def compute(self, delayed: list[Delayed]) -> list[Future[Any]]:
        """Submit many tasks at once, so that the scheduler sees what depends on what."""
        with self._losses():
            futures: list[Future[Any]] = self.client.compute(delayed)
        return futures

    def hold(self, value: T) -> Future[T]:
        """Return a value of this process as a task: it travels with the graph and survives lost workers."""
        import dask  # noqa: PLC0415

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            return self.submit(_itself, value)

    def broadcast(self, value: T) -> Future[T]:
        """Send a large value of this process to every worker once, past the scheduler.

        Dask drops copies that no waiting task needs, and what is left may die with its worker.  Then tasks
        that need the value are lost as well, see `outlasting`.
        """
        with self._losses():
            try:
                future: Future[T] = self.client.scatter(value, broadcast=True, hash=False)
            except (KeyError, OSError) as error:  # as the scheduler says it, of a worker that died meanwhile
                if self.client.status != "running":  # it was the scheduler
                    raise ClusterError(self._loss(error)) from error
                raise LostTasksError(self._loss(error)) from error
        return future

    def outlasting(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns; it is called again if what it sent to all workers was lost with them.

        It must begin with what is not done yet.
        """
        for _ in range(MOST_LOSSES):
            with suppress(LostTasksError):
                return work()
            time.sleep(PAUSE)
        return work()

    def highest(self) -> int | None:
        """Return the peak bytes of the worker that took most so far; None if unknown."""
        with suppress(Exception, CancelledError):  # it is only reported, nothing depends on it
            found = [size for size in self.client.run(process_memory, "VmHWM").values() if size is not None]
            return max(found, default=None)
        return None

    def forget(self, token: str) -> None:
        """Free what a job left on the workers."""
        with suppress(Exception, CancelledError):  # it only frees memory
            self.client.run(forget, token)

    def finished(
        self,
        futures: Iterable[Future[T]],
        stop: Callable[[], bool],
        more: Callable[[], Iterable[Future[T]]] = tuple,
    ) -> Iterator[Future[T]]:
        """Yield futures as their tasks end, until ``stop`` says so; then the others are given up.

        After each one ``more`` is asked for further futures.  Raises what a task raised, or `ClusterError`
        if the scheduler is lost.
        """
        ended: queue.SimpleQueue[Future[T]] = queue.SimpleQueue()
        waiting = set()

        def wait_for(some: Iterable[Future[T]]) -> None:
            for future in some:
                waiting.add(future)
                future.add_done_callback(ended.put)

        wait_for(futures)
        try:
            while waiting and not stop():
                with suppress(queue.Empty):
                    future = ended.get(timeout=0.1)
                    waiting.discard(future)
                    self.check(future)
                    yield future
                    wait_for(more())
        finally:
            for future in waiting:  # tasks whose results are not needed any more are not begun
                future.release()

    def results(self, futures: list[Future[T]]) -> list[T]:
        """Return what the tasks returned."""
        for _ in self.finished(futures, lambda: False):
            pass
        with self._losses():
            found: list[T] = self.client.gather(futures)
        return found

    @contextmanager
    def _losses(self) -> Iterator[None]:
        """Turn what the client raises once its scheduler is gone into one kind of error."""
        try:
            yield
        except GeodimError:
            raise
        except (OSError, RuntimeError) as error:
            raise ClusterError(self._loss(error)) from error
        except CancelledError as error:
            raise LostTasksError(self._loss(error)) from error

    def check(self, future: Future[Any]) -> None:
        """Raise unless the task succeeded."""
        status = future.status
        if status == "finished":
            return
        if status == "error":
            error = future.exception()
            if type(error).__name__ == "KilledWorker":
                raise ClusterError(
                    f"workers died again and again in the same task, probably for lack of memory: {error}"
                )
            raise error
        if status != "pending":  # recomputed after the death of a worker
            raise LostTasksError(self._loss(None))

    def _loss(self, error: BaseException | None) -> str:
        return (
            f"the Dask scheduler at {self._address()} was lost in mid-run or cancelled the tasks"
            + (f" ({error})" if error else "")
            + ": run again; a pass with a checkpoint goes on where it was saved"
        )


def _itself(value: T) -> T:
    return value
