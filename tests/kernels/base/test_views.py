"""Slices as views and joined concatenations: which bytes they claim, and what is left to the kernel."""

import numpy as np
import pytest
from numpy.random import default_rng

from codegen.ir import DType, TensorType
from codegen.ir.ops import ConcatAttrs, StridedSliceAttrs
from codegen.kernels.base.views import joinable, joined, slice_view
from codegen.kernels.call import ArrayArg, NullArg, ValueArg
from tests.kernels.calling import Library, bind
from tests.kernels.layers import Layer, Operand, fill, layer


def operand(*shape: int, dtype: DType = DType.INT8, constant: bool = False) -> Operand:
    type_ = TensorType(shape=shape, dtype=dtype)
    return Operand(type=type_, data=fill(default_rng(sum(shape)), type_), constant=constant)


def sliced(shape: tuple[int, ...], *axes: tuple[int, int, int], dtype: DType = DType.INT8) -> Layer:
    """`axes`: first index, step, count of each."""
    counts = tuple(count for _, _, count in axes)
    attrs = StridedSliceAttrs(
        begins=tuple(begin for begin, _, _ in axes),
        strides=tuple(step for _, step, _ in axes),
        counts=counts,
        shape=counts,
    )
    given = operand(*shape, dtype=dtype)
    return layer("STRIDED_SLICE", attrs, (given,), given.type)


@pytest.mark.parametrize(
    ("shape", "axes", "dtype"),
    [
        ((1, 12), [(0, 1, 1), (3, 1, 5)], DType.INT8),
        ((4, 3, 2), [(1, 1, 2), (0, 1, 3), (0, 1, 2)], DType.INT8),
        ((4, 3, 2), [(2, 7, 1), (1, 1, 2), (0, 1, 2)], DType.INT8),
        ((4, 3, 2), [(3, -1, 1), (2, -5, 1), (1, 1, 1)], DType.INT8),
        ((5, 4), [(2, 1, 2), (0, 1, 4)], DType.FLOAT32),
    ],
)
def test_a_slice_of_neighbours_is_a_view(
    shape: tuple[int, ...], axes: list[tuple[int, int, int]], dtype: DType
) -> None:
    case = sliced(shape, *axes, dtype=dtype)
    found = slice_view(bind(case))
    assert found is not None
    assert found.view is not None
    given = case.values[0]
    assert given is not None
    first, size = found.view.offset_bytes, case.let.var.type.size_bytes
    assert given.tobytes()[first : first + size] == case.expected.tobytes()
    assert not found.is_call


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((2, 12), [(0, 1, 2), (3, 1, 5)]),
        ((1, 12), [(0, 1, 1), (0, 2, 5)]),
        ((1, 12), [(0, 1, 1), (5, -1, 5)]),
        ((4, 3, 2), [(0, 1, 4), (0, 1, 3), (0, 1, 1)]),
    ],
)
def test_other_slices_are_not(shape: tuple[int, ...], axes: list[tuple[int, int, int]]) -> None:
    assert slice_view(bind(sliced(shape, *axes))) is None


def concat(axis: int, *operands: Operand) -> Layer:
    return layer("CONCATENATION", ConcatAttrs(axis=axis), operands, operands[0].type)


def test_only_what_is_one_run_of_bytes_in_the_result_can_be_joined() -> None:
    assert joinable(bind(concat(1, operand(1, 3), operand(1, 4)))) == (0, 1)
    assert joinable(bind(concat(0, operand(2, 3), operand(4, 3)))) == (0, 1)
    assert joinable(bind(concat(3, operand(1, 1, 1, 3), operand(1, 1, 1, 2)))) == (0, 1)
    assert joinable(bind(concat(1, operand(2, 3), operand(2, 4)))) == ()
    assert joinable(bind(concat(1, operand(1, 3, constant=True), operand(1, 4)))) == (1,)
    assert slice_view(bind(concat(1, operand(1, 3)))) is None


def test_without_anything_to_copy_nothing_is_called() -> None:
    found = joined(bind(concat(1, operand(1, 3), operand(1, 4))), (0, 1))
    assert not found.is_call
    assert (found.structs, found.constants, found.call_args, found.sources) == ((), (), (), ())
    assert [(arg.name, offset) for arg, offset in found.joins] == [("in0", 0), ("in1", 3)]


@pytest.mark.usefixtures("no_reports")
def test_the_kernel_leaves_joined_parts_alone(library: Library) -> None:
    case = concat(1, operand(1, 3), operand(1, 4), operand(1, 5, constant=True), operand(1, 2))
    found = joined(bind(case), (1, 3))
    [array] = [arg for arg in found.call_args if isinstance(arg, ArrayArg)]
    assert [type(item) for item in array.items].count(NullArg) == 2
    assert ValueArg(index=0) in array.items
    for paint in (0xA5, 0x5A):
        got = np.frombuffer(library.run(found, case, paint=paint).result, np.uint8)
        wanted = np.frombuffer(case.expected.tobytes(), np.uint8).copy()
        wanted[3:7] = wanted[12:14] = paint
        np.testing.assert_array_equal(got, wanted)
