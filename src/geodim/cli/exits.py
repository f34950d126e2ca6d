"""Exit codes, and the function that turns errors into messages."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

import typer

from geodim.cli.console import print_error
from geodim.cli.streams import READER_GONE
from geodim.engine.interrupt import Terminated, terminated_by
from geodim.errors import BackendError, DataFileError, GeodimError, MissingExtraError, TimeLimitError
from geodim.text import visible_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    P = ParamSpec("P")
    R = TypeVar("R")

EPILOG = """**Exit codes**

* 0: success; the result is exact, or within the tolerance asked for
* 1: an unexpected error; GEODIM_DEBUG=1 shows where
* 2: an option or argument is wrong
* 3: the data cannot be used: NaN, text, wrong shape, no such column
* 4: a file cannot be read or written, or a GPU or cluster cannot be reached
* 5: stopped early by the time limit, Ctrl-C or SIGTERM; the bounds found so far, if any, are printed
* 6: an optional package is missing; the message names it
* 130: Ctrl-C before there was a result
* 141: nothing reads the output any longer, as in `| head -0`
* 143: SIGTERM before there was a result (129: SIGHUP)
"""


class ExitCode(IntEnum):
    """The exit codes of the program."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2  # given by typer itself
    DATA = 3
    FILE = 4
    STOPPED = 5
    EXTRA = 6
    INTERRUPTED = 130


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Wrap a command so that errors become one clear message on stderr and an exit code, not a traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except BrokenPipeError as error:
            raise typer.Exit(READER_GONE) from error
        except MissingExtraError as error:
            _leave(error, ExitCode.EXTRA)
        except (DataFileError, BackendError) as error:
            _leave(error, ExitCode.FILE)
        except TimeLimitError as error:
            _leave(error, ExitCode.STOPPED)
        except GeodimError as error:
            _leave(error, ExitCode.DATA)
        except OSError as error:
            _leave(error, ExitCode.FILE)
        except Terminated as error:
            _leave(error, 128 + (terminated_by() or 0), "terminated before there was a result")
        except KeyboardInterrupt as error:
            _leave(error, ExitCode.INTERRUPTED, "interrupted before there was a result")
        except MemoryError as error:
            _leave(error, ExitCode.UNEXPECTED, "not enough memory; a .npy file is read from disk as needed")
        except Exception as error:  # noqa: BLE001 - the last line of defence
            text = (
                f"unexpected {type(error).__name__}: {error} (set GEODIM_DEBUG=1 to see "
                "where, and please report it)"
            )
            _leave(error, ExitCode.UNEXPECTED, text)

    return run


def _leave(error: BaseException, code: int, message: str | None = None) -> NoReturn:
    if os.environ.get("GEODIM_DEBUG", "0") not in {"", "0"}:
        print(visible_lines("".join(traceback.format_exception(error))), end="", file=sys.stderr)
    print_error(message or str(error))
    raise typer.Exit(int(code)) from error
