"""What other systems lack is not used without a guard, and what is done there in its place works.

macOS and Windows are simulated by taking away what they do not have; the suite runs there, too, in
`.github/workflows/tests.yml`, but not here.
"""

from __future__ import annotations

import ast
import ctypes
import errno
import importlib.util
import io
import os
import re
import struct
import subprocess
import sys
import types
from pathlib import Path

import pytest

from geodim import locks, memory, output, temporary
from geodim.cli import lifeline, streams
from geodim.errors import DataFileError

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/geodim"

# Not on Windows, or not on macOS, as the library reference says under "Availability".
MODULES = {"fcntl", "grp", "msvcrt", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty", "winreg"}
IN_OS = """
O_BINARY O_CLOEXEC O_DIRECT O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NOINHERIT O_NONBLOCK O_SYNC O_TMPFILE chown
chroot copy_file_range fchown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getpriority
getuid killpg lchown memfd_create mkfifo mknod nice openpty pipe2 posix_fadvise posix_fallocate posix_spawn
pread preadv pwrite register_at_fork sched_getaffinity sched_setaffinity sendfile setpriority setsid statvfs
sync sysconf uname wait3 wait4
"""
IN_SIGNAL = """
CTRL_C_EVENT SIGALRM SIGBREAK SIGBUS SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1
SIGUSR2 SIGWINCH alarm pause pthread_kill pthread_sigmask setitimer siginterrupt sigtimedwait sigwait
"""
NAMES = {
    "os": set(IN_OS.split()),
    "signal": set(IN_SIGNAL.split()),
    "mmap": {"MADV_DONTNEED", "MADV_SEQUENTIAL", "MADV_WILLNEED", "MAP_PRIVATE", "MAP_SHARED", "PROT_READ"},
    "time": {"clock_gettime", "pthread_getcpuclockid", "tzset"},
    "socket": {"AF_UNIX", "sethostname", "socketpair"},
}
GUARDS = ("sys.platform", "os.name", "hasattr", "getattr", "WINDOWS", "BUSY_FILES_STAY")
MARKS = re.compile(r"mark\.(unix|linux|skipif)|needs_pipes")
CAUGHT = ("AttributeError", "ImportError", "Exception")


def uses(tree):
    """Every use of a name that some system lacks, with the nodes around it, the outermost first."""

    def look(node, around):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in NAMES.get(node.value.id, ()):
                yield node, around
        elif isinstance(node, ast.Import) and any(one.name in MODULES for one in node.names):
            yield node, around
        elif isinstance(node, ast.ImportFrom):
            names = {one.name for one in node.names}
            if node.module in MODULES or names & NAMES.get(node.module or "", set()):
                yield node, around
        for child in ast.iter_child_nodes(node):
            yield from look(child, [*around, node])

    yield from look(tree, [])


def asks(node):
    return any(guard in ast.unparse(node) for guard in GUARDS)


def leaves(statement):
    return any(isinstance(one, ast.Return | ast.Break | ast.Continue | ast.Raise) for one in statement.body)


def guarded(node, around):
    """Whether it only runs where it is: asked before, around it, caught; or a test, skipped elsewhere."""
    for outer in around:
        if MARKS.search("".join(ast.unparse(one) for one in getattr(outer, "decorator_list", []))):
            return True
        if isinstance(outer, ast.If | ast.IfExp) and asks(outer.test):
            return True
        if isinstance(outer, ast.BoolOp) and asks(outer.values[0]):
            return True
        if isinstance(outer, ast.Try):
            caught = " ".join(ast.unparse(one.type) for one in outer.handlers if one.type)
            if any(name in caught for name in CAUGHT):
                return True
        if isinstance(outer, ast.With) and re.search("suppress.*AttributeError", ast.unparse(outer.items[0])):
            return True
        if isinstance(outer, ast.FunctionDef | ast.While | ast.For):
            for earlier in outer.body:
                if earlier.lineno >= node.lineno:
                    break
                if isinstance(earlier, ast.If) and asks(earlier.test) and leaves(earlier):
                    return True
    return False


def test_nothing_that_a_system_lacks_is_used_without_a_guard():
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {ast.unparse(node)}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node, around in uses(ast.parse(path.read_text(encoding="utf-8")))
        if not guarded(node, around)
    ]
    assert not found


def test_tests_are_skipped_where_they_cannot_run():
    """Those of whole modules that are not for other systems are left to the mark of the module."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {ast.unparse(node)}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "pytestmark = pytest.mark.skipif(" not in (text := path.read_text(encoding="utf-8"))
        for node, around in uses(ast.parse(text))
        if not guarded(node, around)
    ]
    assert not found


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("import os\nos.geteuid()", False),
        ("import os\nif hasattr(os, 'geteuid'):\n    os.geteuid()", True),
        ("import os\ndef f():\n    if not hasattr(os, 'fork'):\n        return\n    os.fork()", True),
        ("import os\ndef f():\n    os.fork()\n    if not hasattr(os, 'fork'):\n        return", False),
        ("import sys\nif sys.platform != 'win32':\n    import fcntl", True),
        ("import resource", False),
        ("from signal import SIGKILL", False),
        ("import os\ntry:\n    os.sysconf('x')\nexcept OSError:\n    pass", False),
        ("import os\ntry:\n    os.sysconf('x')\nexcept (AttributeError, OSError):\n    pass", True),
    ],
)
def test_the_guard_is_seen(text, good):
    (found,) = (guarded(node, around) for node, around in uses(ast.parse(text)))
    assert found is good


def test_every_text_has_an_encoding():
    """The one that is taken by default is another on every machine.  A rule that ruff has under trial."""
    ruff = pytest.importorskip("ruff", reason="ruff is not installed")
    rule = ["check", "--isolated", "--preview", "--select", "PLW1514", "--output-format", "concise"]
    folders = [ROOT / name for name in ("src", "tests", "benchmarks", "examples")]
    done = subprocess.run(
        [ruff.find_ruff_bin(), *rule, *folders], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout


# ---------------------------------------------------------------- Windows: open files cannot be moved


@pytest.fixture
def windows_files(monkeypatch):
    """Refuse to remove or rename what is open, as Windows does."""
    opened = {}
    real_open, real_close = os.open, os.close

    def open_file(path, *arguments):
        descriptor = real_open(path, *arguments)
        opened[descriptor] = os.path.realpath(path)
        return descriptor

    def close(descriptor):
        real_close(descriptor)
        opened.pop(descriptor, None)

    def refusing(act):
        def guarded_act(path, *arguments, **options):
            if os.path.realpath(path) in opened.values():
                raise PermissionError(errno.EACCES, "used by another process", str(path))
            return act(path, *arguments, **options)

        return guarded_act

    monkeypatch.setattr(os, "open", open_file)
    monkeypatch.setattr(os, "close", close)
    for name in ("unlink", "replace", "rename"):
        monkeypatch.setattr(Path, name, refusing(getattr(Path, name)))
    for module in (locks, temporary):
        monkeypatch.setattr(module, "BUSY_FILES_STAY", True)
    return opened


def test_files_are_closed_before_they_get_their_name(tmp_path, windows_files):
    path = tmp_path / "result.json"
    for text in ("first", "second"):
        output.write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]
    assert not windows_files


def test_a_file_that_fails_leaves_nothing(tmp_path, windows_files):
    def half():
        with output.writing(tmp_path / "a") as stream:
            stream.write(b"half")
            raise OSError(errno.ENOSPC, "full")

    with pytest.raises(DataFileError, match="the disk is full"):
        half()
    assert not list(tmp_path.iterdir())
    assert not windows_files


def test_a_closed_file_is_not_closed_again(tmp_path, windows_files):
    """The number may belong to a file of another thread by then."""
    with temporary.temporary_file(tmp_path) as file:
        file.replace(tmp_path / "a")
        other = os.open(tmp_path / "b", os.O_RDWR | os.O_CREAT)
        assert other == file.descriptor
    os.fstat(other)
    os.close(other)


def test_the_lock_of_a_folder_goes_with_its_holder(tmp_path, windows_files):
    with locks.FolderLock(tmp_path, "folder"):
        assert len(list(tmp_path.iterdir())) == 1
    assert not list(tmp_path.iterdir())
    assert not windows_files


# ---------------------------------------------------------------- Windows: locks


@pytest.fixture
def locks_of_windows(monkeypatch):
    """The module as Windows imports it, over a table of what is locked."""
    held = {}

    def locking(descriptor, mode, size):
        assert (mode, size) == (2, 1)
        key = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR))
        assert key[1] > 1 << 20, "what is written there could not be read by others"
        if held.setdefault(key, descriptor) != descriptor:
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setitem(sys.modules, "fcntl", None)
    spec = importlib.util.spec_from_file_location("locks_of_windows", locks.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_windows_locks_folders(tmp_path, locks_of_windows):
    with locks_of_windows.FolderLock(tmp_path, "folder"):
        here = f"process {os.getpid()} on "
        with pytest.raises(DataFileError, match=f"is in use by {here}"):
            locks_of_windows.FolderLock(tmp_path, "folder").__enter__()


def test_windows_disks_without_locks(tmp_path, locks_of_windows, monkeypatch):
    def refuse(*_arguments):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(sys.modules["msvcrt"], "locking", refuse)
    with (tmp_path / "a").open("wb") as stream:
        assert locks_of_windows.try_lock(stream.fileno()) is None


# ---------------------------------------------------------------- Windows: memory


@pytest.mark.parametrize("answers", [True, False])
def test_windows_says_how_much_memory_there_is(monkeypatch, answers):
    """As it documents MEMORYSTATUSEX: 64 bytes, two numbers of 32 bits, then seven of 64."""

    def status(reference):
        there = reference._obj
        assert there.size == ctypes.sizeof(there) == 64
        raw = struct.pack("<2I7Q", 64, 50, 16 << 30, 6 << 30, 20 << 30, 7 << 30, 1 << 47, 1 << 46, 0)
        ctypes.memmove(ctypes.addressof(there), raw, 64)
        return answers

    kernel = types.SimpleNamespace(GlobalMemoryStatusEx=status)
    monkeypatch.setattr(ctypes, "windll", types.SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(memory, "memory_left", lambda: None)
    found = memory.machine_memory(), memory.free_memory()
    assert found == ((16 << 30, 7 << 30) if answers else (None, None))


# ---------------------------------------------------------------- children, streams, names


def test_a_child_ends_with_its_parent_wherever_it_runs():
    """Without Linux's help: standard input comes to its end when the parent does."""
    code = "import sys, time; sys.platform = 'other'; from geodim.cli.lifeline import end_with_parent; "
    code += "sys.stdin.readline(); end_with_parent(); print('ready', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdin.write(b"{}\n")
    child.stdin.flush()
    assert child.stdout.readline().strip() == b"ready"
    assert child.poll() is None
    child.stdin.close()
    assert child.wait(30) == 1
    child.stdout.close()


def test_linux_without_prctl(monkeypatch):
    def missing(_name):
        raise OSError("no such library")

    started = []
    monkeypatch.setattr(lifeline.ctypes, "CDLL", missing)
    monkeypatch.setattr(lifeline.threading.Thread, "start", lambda _self: started.append(1))
    lifeline.end_with_parent()
    assert started == [1]


@pytest.mark.parametrize(
    ("error", "windows", "gone"),
    [
        (BrokenPipeError(), False, True),
        (OSError(errno.EINVAL, "Invalid argument"), True, True),
        (OSError(errno.EINVAL, "Invalid argument"), False, False),
        (OSError(errno.ENOSPC, "full"), True, False),
        (None, True, False),
    ],
)
def test_readers_that_are_gone(monkeypatch, error, windows, gone):
    monkeypatch.setattr(streams, "WINDOWS", windows)
    assert streams._reader_gone(error) is gone


def test_the_terminal_of_windows_keeps_its_own_writer(monkeypatch):
    """It knows the encoding of the terminal; a file in its place would write UTF-8 into code page 437."""

    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    terminal = Terminal(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "__stdout__", terminal)
    monkeypatch.setattr(streams, "WINDOWS", True)
    streams.prepare_streams()
    assert sys.stdout is terminal


def test_a_drive_is_no_array_in_an_archive():
    from geodim.cli.objects import is_table
    from geodim.families import Distances

    sets = Distances(metric="jaccard")
    assert is_table(sets, Path(r"C:\data\points.npz"))
    assert is_table(sets, Path(r"C:\data\points.npz:key"))
    assert not is_table(sets, Path(r"C:\data\lines.txt"))


# ---------------------------------------------------------------- everything at once

ELSEWHERE = """
import os, signal, sys
import numpy, scipy.sparse, sklearn, numba, typer, rich.console, importlib.metadata, subprocess, tempfile
for name in ("sched_getaffinity", "sysconf", "fchown", "fchmod", "geteuid", "getuid", "pread", "fork",
             "posix_fallocate", "mkfifo", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NOCTTY", "statvfs"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGPIPE", "SIGALRM", "SIGUSR1"):
    delattr(signal, name)
import mmap
del mmap.MADV_DONTNEED
import types
sys.modules.update({name: None for name in ("fcntl", "resource", "pwd", "grp", "termios")})
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda *_: None)
real_open = open
import builtins, io
def without_proc(path, *arguments, **options):
    if str(path).startswith(("/proc", "/sys")):
        raise FileNotFoundError(path)
    return real_open(path, *arguments, **options)
builtins.open = io.open = without_proc
sys.platform = "win32"

import geodim
from geodim.memory import free_memory, machine_memory, peak_resident_memory, resident_memory
assert (machine_memory(), free_memory(), peak_resident_memory(), resident_memory()) == (None,) * 4
X = numpy.random.default_rng(0).normal(size=(300, 4))
numpy.save("points.npy", X)
result = geodim.intrinsic_dimension(numpy.load("points.npy", mmap_mode="r"), checkpoint="kept")
result.to_json("result.json")
print(result.dimension)
"""


def test_a_computation_where_all_of_it_is_missing(tmp_path):
    """Memory, cores, locks, signals, modes and memory maps, each by its fallback."""
    import numpy as np

    from geodim.paper import algorithm_1, d_max, intrinsic_dimension

    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    X = np.load(tmp_path / "points.npy")
    assert float(done.stdout) == intrinsic_dimension(algorithm_1(X, d_max(X)))
    assert (tmp_path / "result.json").stat().st_size > 100
