"""Vectors of floats as single values inside Numba kernels, and a prefetch.

Numba leaves vectorisation to LLVM's heuristics, which keep accumulators in memory and reload them all the
time.  It also counts references to every slice of an array, with instructions that lock the memory bus.  A
vector lives in registers (eight float64 in one of AVX-512, two of AVX, four of SSE or NEON: LLVM chooses) and
is read from an array and an offset, so that no slice is needed.  It computes lane by lane in IEEE arithmetic,
with no reassociation and no contraction: each lane has exactly the bits of the scalar loop.

There are two kinds: `load` and `splat` make LANES float64, whatever the array holds; `load_row` and
`splat_row` make ROW elements of the array's own type.  Only `+`, `-`, `*` and `/` between vectors of the same
kind, and the functions in ``__all__``, exist.  Offsets count elements from the start of the array's data and
are not checked.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "LANES", "ROW", "any_less", "chosen", "element", "fma", "greatest", "larger", "last", "least", "load",
    "load_row", "magnitude", "ones", "prefetch", "put", "reaching", "running", "smaller", "splat",
    "splat_row", "steps", "store", "trailing_zeros", "transpose",
]  # fmt: skip

LANES = 8
ROW = 32
_INT32 = ir.IntType(32)


class VectorType(types.Type):
    """The Numba type of so many lanes of a float type."""

    def __init__(self, element: Any, count: int) -> None:
        self.element, self.count = element, count
        self.lanes = ir.VectorType(ir.FloatType() if element == types.float32 else ir.DoubleType(), count)
        super().__init__(name=f"{element}x{count}")


class _VectorModel(models.PrimitiveModel):
    """A data model in which a vector is the same LLVM value in registers and in memory."""

    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, numba_type.lanes)


register_model(VectorType)(_VectorModel)
_vector: Any = VectorType(types.float64, LANES)


def _address(context: Any, builder: Any, array_type: Any, array: Any, offset: Any, pointee: Any) -> Any:
    """Return a pointer to ``array.data[offset]`` that reads as `pointee`."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), pointee.as_pointer())


def _reader(array: Any, vector: Any) -> tuple[Any, Callable[..., Any]]:
    """Read neighbouring elements of an array as a vector: as they are, or float32 and integers as float64."""
    whole = isinstance(array.dtype, types.Integer)

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        stored = ir.VectorType(context.get_data_type(array.dtype), vector.count)
        place = _address(context, builder, array, args[0], args[1], stored)
        value = builder.load(place, align=array.dtype.bitwidth // 8)
        if whole:
            return (builder.sitofp if array.dtype.signed else builder.uitofp)(value, vector.lanes)
        return value if array.dtype == vector.element else builder.fpext(value, vector.lanes)

    return vector(array, types.intp), generate


def _element(typing: Any, array: Any, offset: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Read one element, without asking whether its offset counts from the end."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = context.get_data_type(array.dtype)
        return builder.load(_address(context, builder, array, args[0], args[1], kind))

    return array.dtype(array, types.intp), generate


def _put(typing: Any, array: Any, offset: Any, value: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Write one element, without asking whether its offset counts from the end."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = context.get_data_type(array.dtype)
        builder.store(args[2], _address(context, builder, array, args[0], args[1], kind))
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), generate


def _load(typing: Any, array: Any, offset: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Load eight neighbouring elements, floats or integers, as float64."""
    return _reader(array, _vector)


def _load_row(typing: Any, array: Any, offset: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Load ROW neighbouring elements as they are."""
    return _reader(array, VectorType(array.dtype, ROW))


def _store(typing: Any, array: Any, offset: Any, vector: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Store all lanes, each rounded to the type of the array: to nearest, ties to even."""
    stored = VectorType(array.dtype, vector.count).lanes

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        value = args[2] if array.dtype == vector.element else builder.fptrunc(args[2], stored)
        place = _address(context, builder, array, args[0], args[1], stored)
        builder.store(value, place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


def _filler(vector: Any) -> tuple[Any, Callable[..., Any]]:
    """Put one number into every lane."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        empty = ir.Constant(vector.lanes, ir.Undefined)
        first = builder.insert_element(empty, args[0], _INT32(0))
        return builder.shuffle_vector(first, empty, _places([0] * vector.count))

    return vector(vector.element), generate


def _splat(typing: Any, value: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Put one float64 into every one of eight lanes."""
    return _filler(_vector)


def _splat_row(typing: Any, value: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Put one number into every lane of a row of its own type."""
    return _filler(VectorType(value, ROW))


def _steps(typing: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Count the eight lanes: 0, 1, ..., 7."""

    def generate(_context: Any, _builder: Any, _signature: Any, _args: Any) -> Any:
        return ir.Constant(_vector.lanes, [float(lane) for lane in range(LANES)])

    return _vector(), generate


def _running(typing: Any, a: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Add to every one of eight lanes all those before it, though not from left to right."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        (sums,), nothing = args, ir.Constant(_vector.lanes, [0.0] * LANES)
        for apart in (1, 2, 4):  # lanes from 8 on are those of the second vector, which are 0
            before = _places([LANES] * apart + list(range(LANES - apart)))
            sums = builder.fadd(sums, builder.shuffle_vector(sums, nothing, before))
        return sums

    return _vector(_vector), generate


def _last(typing: Any, a: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Put the last of eight lanes into every lane."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.shuffle_vector(args[0], args[0], _places([LANES - 1] * LANES))

    return _vector(_vector), generate


def _places(lanes: list[int]) -> Any:
    return ir.Constant(ir.VectorType(_INT32, len(lanes)), lanes)


def _fma(typing: Any, a: Any, b: Any, c: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Compute a * b + c with a single rounding."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_vector.lanes, [_vector.lanes] * 3)
        name = f"llvm.fma.v{LANES}f64"  # llvmlite does not build the names of vector types itself
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, args)

    return _vector(_vector, _vector, _vector), generate


def _magnitude(typing: Any, a: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Take the absolute value of every lane."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_vector.lanes, [_vector.lanes])
        name = f"llvm.fabs.v{LANES}f64"
        function = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(function, args)

    return _vector(_vector), generate


def _choosing(relation: str) -> Callable[..., Any]:
    """Take the larger or the smaller of two lanes, the second where they are equal or not comparable."""

    def typed(typing: Any, a: Any, b: Any) -> tuple[Any, Callable[..., Any]] | None:  # noqa: ARG001
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.select(builder.fcmp_ordered(relation, *args), *args)

        return (a(a, b), generate) if a == b else None

    return typed


def _chosen(typing: Any, a: Any, b: Any, x: Any, y: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Take, lane by lane, x where a < b, and y elsewhere."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[2], args[3])

    return x(a, b, x, y), generate


def _any_less(typing: Any, a: Any, b: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Return whether a < b in any lane."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        bits = ir.IntType(a.count)
        less = builder.bitcast(builder.fcmp_ordered("<", *args), bits)
        return builder.icmp_unsigned("!=", less, bits(0))

    return types.boolean(a, b), generate


def _extreme(relation: str) -> Callable[..., Any]:
    """Take the largest or the smallest lane; none of them may be NaN."""

    def typed(typing: Any, a: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            (lanes,), count = args, a.count
            while count > 1:
                count //= 2
                low = builder.shuffle_vector(lanes, lanes, _places(list(range(count))))
                high = builder.shuffle_vector(lanes, lanes, _places(list(range(count, 2 * count))))
                lanes = builder.select(builder.fcmp_ordered(relation, low, high), low, high)
            return builder.extract_element(lanes, _INT32(0))

        return a.element(a), generate

    return typed


# Eight rows become eight columns in three rounds: neighbours are interleaved, then pairs, then halves.  Lanes
# from 8 on are those of the second row.  In the end, the rows hold the columns in this order.
_ROUNDS = (
    (1, [0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15]),
    (2, [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]),
    (4, [0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]),
)
_TRANSPOSED = (0, 2, 1, 3, 4, 6, 5, 7)


def _transpose(
    typing: Any, array: Any, offset: Any, below: Any, out: Any, targets: Any, first: Any, shift: Any  # noqa: ARG001
) -> tuple[Any, Callable[..., Any]] | None:  # fmt: skip
    """Copy eight rows of eight neighbouring elements, ``below`` apart, so that they become columns.

    Element j of row i goes to ``out.data[targets[first + j] + shift + i]``, unless that target is negative;
    both arrays hold the same type.
    """
    stored, align = VectorType(array.dtype, LANES).lanes, array.dtype.bitwidth // 8

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        source, offset, below, made, places, first, shift = args
        rows = []
        for row in range(LANES):
            at = builder.add(offset, builder.mul(below, below.type(row)))
            rows.append(builder.load(_address(context, builder, array, source, at, stored), align=align))
        for apart, low, high in _ROUNDS:
            for row in (row for row in range(LANES) if not row & apart):
                pair = rows[row], rows[row + apart]
                rows[row] = builder.shuffle_vector(*pair, _places(low))
                rows[row + apart] = builder.shuffle_vector(*pair, _places(high))
        for column, values in zip(_TRANSPOSED, rows, strict=True):
            at = builder.add(first, first.type(column))
            place = _address(context, builder, targets, places, at, first.type)
            target = builder.load(place)
            with builder.if_then(builder.icmp_signed(">=", target, target.type(0)), likely=True):
                goal = _address(context, builder, out, made, builder.add(target, shift), stored)
                builder.store(values, goal, align=align)
        return context.get_dummy_value()

    if array.dtype != out.dtype or targets.dtype != types.intp:
        return None
    return types.void(array, types.intp, types.intp, out, targets, types.intp, types.intp), generate


def _prefetch(typing: Any, array: Any, offset: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Prefetch the cache line of an element that is read soon."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        pointer = _address(context, builder, array, args[0], args[1], ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _INT32, _INT32, _INT32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        # For reading, into all caches, data.
        builder.call(function, [pointer, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _reaching(typing: Any, a: Any, b: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Return as bits, that of the first lane last, in which lanes a >= b."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        bits = builder.bitcast(builder.fcmp_ordered(">=", *args), ir.IntType(a.count))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(a, b), generate


def _trailing_zeros(typing: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Return the place of the lowest bit that is set; one of them must be."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


def _ones(typing: Any, bits: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
    """Return how many bits are set."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


element: Callable[..., Any] = intrinsic(_element)
put: Callable[..., Any] = intrinsic(_put)
load: Callable[..., Any] = intrinsic(_load)
load_row: Callable[..., Any] = intrinsic(_load_row)
store: Callable[..., Any] = intrinsic(_store)
splat: Callable[..., Any] = intrinsic(_splat)
splat_row: Callable[..., Any] = intrinsic(_splat_row)
steps: Callable[..., Any] = intrinsic(_steps)
running: Callable[..., Any] = intrinsic(_running)
last: Callable[..., Any] = intrinsic(_last)
fma: Callable[..., Any] = intrinsic(_fma)
magnitude: Callable[..., Any] = intrinsic(_magnitude)
any_less: Callable[..., Any] = intrinsic(_any_less)
reaching: Callable[..., Any] = intrinsic(_reaching)
trailing_zeros: Callable[..., Any] = intrinsic(_trailing_zeros)
ones: Callable[..., Any] = intrinsic(_ones)
chosen: Callable[..., Any] = intrinsic(_chosen)
larger: Callable[..., Any] = intrinsic(_choosing(">"))
smaller: Callable[..., Any] = intrinsic(_choosing("<"))
greatest: Callable[..., Any] = intrinsic(_extreme(">"))
least: Callable[..., Any] = intrinsic(_extreme("<"))
prefetch: Callable[..., Any] = intrinsic(_prefetch)
transpose: Callable[..., Any] = intrinsic(_transpose)


def _define(symbol: Any, instruction: str) -> None:
    """Let an operator between two vectors of the same kind be one LLVM instruction."""

    def typed(typing: Any, a: Any, b: Any) -> tuple[Any, Callable[..., Any]]:  # noqa: ARG001
        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return getattr(builder, instruction)(*args)

        return a(a, b), generate

    apply: Any = intrinsic(typed)

    def choose(a: Any, b: Any) -> Callable[..., Any] | None:
        def implementation(a: Any, b: Any) -> Any:
            return apply(a, b)

        return implementation if isinstance(a, VectorType) and a == b else None

    overload(symbol)(choose)


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define(_symbol, _instruction)
