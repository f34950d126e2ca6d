"""CUDA C++ compiled at run time, by the compiler that PyTorch brings along (NVRTC).

For what Triton cannot say: threads of a block that exchange values through memory of their own.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import TYPE_CHECKING

from geodim.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")


class CompilerError(RuntimeError):
    """There is no compiler, or it does not accept the source."""


class Module:
    """The kernels of a source, on the current device.

    Parameters
    ----------
    source : str
        CUDA C++ with kernels that are declared ``extern "C"``.
    options : list of str
        For the compiler.
    """

    def __init__(self, source: str, options: list[str]) -> None:
        self._driver = _library("libcuda.so.1")
        image = _compiled(source, options)
        self._module = c_void_p()
        self._check(self._driver.cuModuleLoadData(byref(self._module), image))
        self._functions: dict[str, c_void_p] = {}

    def launch(self, name: str, grid: tuple[int, int], threads: int, *arguments: torch.Tensor | int) -> None:
        """Start a kernel in PyTorch's stream; whole numbers are 32 bits wide."""
        function = self._functions.get(name)
        if function is None:
            function = c_void_p()
            self._check(self._driver.cuModuleGetFunction(byref(function), self._module, name.encode()))
            self._functions[name] = function
        given = [c_int(a) if isinstance(a, int) else c_void_p(a.data_ptr()) for a in arguments]
        places = (c_void_p * len(given))(*(ctypes.addressof(value) for value in given))
        stream = c_void_p(torch.cuda.current_stream().cuda_stream)
        shape = [c_uint(number) for number in (*grid, 1, threads, 1, 1)]
        self._check(self._driver.cuLaunchKernel(function, *shape, c_uint(0), stream, places, None))

    def _check(self, code: int) -> None:
        if code:
            text = c_char_p()
            self._driver.cuGetErrorString(code, byref(text))
            raise CompilerError((text.value or b"unknown error").decode())


def _compiled(source: str, options: list[str]) -> bytes:
    """Machine code for the current device."""
    major, minor = torch.cuda.get_device_capability()
    compiler = _nvrtc()
    program = c_void_p()
    _must(compiler, compiler.nvrtcCreateProgram(byref(program), source.encode(), b"geodim.cu", 0, None, None))
    given = [option.encode() for option in [f"--gpu-architecture=sm_{major}{minor}", *options]]
    try:
        code = compiler.nvrtcCompileProgram(program, len(given), (c_char_p * len(given))(*given))
        size = c_size_t()
        if code:
            _must(compiler, compiler.nvrtcGetProgramLogSize(program, byref(size)))
            text = ctypes.create_string_buffer(size.value)
            _must(compiler, compiler.nvrtcGetProgramLog(program, text))
            raise CompilerError(text.value.decode())
        _must(compiler, compiler.nvrtcGetCUBINSize(program, byref(size)))
        image = ctypes.create_string_buffer(size.value)
        _must(compiler, compiler.nvrtcGetCUBIN(program, image))
        return image.raw
    finally:
        compiler.nvrtcDestroyProgram(byref(program))


def _must(compiler: ctypes.CDLL, code: int) -> None:
    if code:
        compiler.nvrtcGetErrorString.restype = c_char_p
        raise CompilerError(compiler.nvrtcGetErrorString(code).decode())


def _nvrtc() -> ctypes.CDLL:
    """The compiler's library: as the system finds it, or in the packages that PyTorch's wheels require."""
    name = f"libnvrtc.so.{str(torch.version.cuda).partition('.')[0]}"
    packages = Path(torch.__file__).parents[1] / "nvidia"
    for place in [name, *sorted(map(str, packages.glob(f"*/lib/{name}")))]:
        try:
            return _library(place)
        except CompilerError:
            continue
    msg = f"{name} is not found"
    raise CompilerError(msg)


def _library(place: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(place)
    except OSError as error:
        raise CompilerError(str(error)) from error
