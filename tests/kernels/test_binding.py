"""What kernels refuse, word by word, and what they say of themselves.
Kernels that replace their argument: equal to the reference, in exactly the bytes they say.
How often kernels say they load each byte of an argument, against the access model of their C code.
Every kernel against the operator's NumPy evaluation, on random layers over all options.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from codegen import board as boards
from codegen.ir import Call, DType, Let, Var
from codegen.ir.ops import OPS, PadAttrs, RoundedAttrs, SoftmaxAttrs, TransposeAttrs
from codegen.kernels import kernels_for, kernels_of_step, supported_ops
from codegen.kernels.base.c_kernel import PortableKernel
from codegen.kernels.base.registry import Kernel
from codegen.kernels.primfunc import PrimFunc
from codegen.resources import folder
from codegen.search.blocks.row_blocks import Segment, apply, row_steps
from codegen.search.kernels.binding import Binder
from codegen.search.kernels.selection import select
from tests.kernels.access import events
from tests.kernels.builders import CASES, depthwise_same_size, random_layer
from tests.kernels.calling import ANY_TARGET, Library, bind, check_result
from tests.kernels.layers import Layer, Operand, layer
from tests.sampling import examples
from tests.search.chains import random_chain, segments
from tests.tensor_types import tensor_type


def _refusals(case: Layer) -> list[str | None]:
    return [kernel.refusal(case.let, ANY_TARGET) for kernel in kernels_of_step(case.let)]


def test_every_operator_has_a_kernel() -> None:
    assert set(supported_ops()) == set(OPS)


def test_every_c_function_is_declared_in_the_header_of_its_kernel() -> None:
    """QUANTIZE to int32 was declared in that of int16: a network without int16 did not compile."""
    headers = {path.name: path.read_text() for path in (folder("runtime_c") / "include").glob("*.h")}
    kernels = [kernel for op in supported_ops() for kernel in kernels_for(op)]
    found = {each.symbol: each.header for each in kernels if isinstance(each, PortableKernel)}
    assert len(found) > 100
    lost = [symbol for symbol, header in found.items() if not re.search(rf"\b{symbol}\(", headers[header])]
    assert lost == []


def test_other_element_types_are_refused_by_name() -> None:
    case = random_layer("RELU", DType.FLOAT32, 0)
    assert _refusals(case) == [
        None,
        "the kernel relu_s16_portable is for int16 to int16, not float32 to float32",
        "the kernel relu_s8_table is for int8 to int8, not float32 to float32",
        "the kernel relu_s8_table_mve needs a core with Helium (MVE)",
    ]


def test_weights_computed_at_run_time() -> None:
    case = random_layer("FULLY_CONNECTED", DType.INT8, 0)
    image, weights, bias = case.let.call.args
    assert weights is not None
    call = Call(
        op=case.let.call.op, args=(image, Var(name="w", type=weights.type), bias), attrs=case.let.call.attrs
    )
    refusal = kernels_for("FULLY_CONNECTED")[0].refusal(replace(case.let, call=call), ANY_TARGET)
    assert refusal == "the weights are computed at run time, supported are constants"


def test_more_than_five_loops() -> None:
    value = np.zeros((2, 3, 2, 3, 2, 3), np.int8)
    operand = Operand(type=tensor_type(value.shape, scale=1.0), data=value)
    permutation = (5, 4, 3, 2, 1, 0)
    case = layer("TRANSPOSE", TransposeAttrs(permutation=permutation), (operand,), operand.type)
    assert _refusals(case) == ["the shapes need 6 nested loops, the portable kernels have 5"]


def test_axes_that_belong_together_count_once() -> None:
    value = np.zeros((2, 3, 2, 3, 2, 3), np.int8)
    operand = Operand(type=tensor_type(value.shape, scale=1.0), data=value)
    case = layer("TRANSPOSE", TransposeAttrs(permutation=(3, 4, 5, 0, 1, 2)), (operand,), operand.type)
    assert _refusals(case) == [None]


def test_factor_out_of_range() -> None:
    argument, result = tensor_type((2,), scale=1e6), tensor_type((2,), scale=1e-6)
    call = Call(op=OPS["QUANTIZE"], args=(Var(name="in0", type=argument),), attrs=RoundedAttrs())
    refusals = [
        kernel.refusal(Let(var=Var(name="q", type=result), call=call), ANY_TARGET)
        for kernel in kernels_for("QUANTIZE")
    ]
    assert sum("between quantisations" in refusal for refusal in refusals if refusal) == 1


def test_long_int8_softmax() -> None:
    operand = Operand(type=tensor_type((4096,), scale=0.1), data=np.zeros(4096, np.int8))
    result = tensor_type((), scale=1 / 256, zero=-128)
    case = layer("SOFTMAX", SoftmaxAttrs(), (operand,), result)
    assert _refusals(case)[0] == (
        "a softmax over 4096 int8 elements overflows TFLite's fixed-point sum, supported are fewer than 4096"
    )


def test_int64_padding_with_what_is_no_int32() -> None:
    type_ = tensor_type((2,), DType.INT64)
    operand = Operand(type=type_, data=np.zeros(2, np.int64))
    refused = layer("PAD", PadAttrs(paddings=((1, 1),), value=float(1 << 31)), (operand,), type_)
    assert _refusals(refused) == ["padding int64 with 2147483648 is not supported, only with an int32"]
    for value in (-1.0, 5.0, -float(1 << 31)):
        taken = layer("PAD", PadAttrs(paddings=((1, 1),), value=value), (operand,), type_)
        assert _refusals(taken) == [None]


def test_reshape_of_a_constant() -> None:
    case = random_layer("RESHAPE", DType.INT8, 0)
    value = case.values[0]
    assert value is not None
    operand = Operand(type=case.let.var.type, data=value.reshape(-1), constant=True)
    constant = layer("RESHAPE", case.let.call.attrs, (operand,), case.let.var.type)
    assert _refusals(constant) == ["RESHAPE of a constant: it should have been folded into another constant"]


def test_mean_tells_sub_steps_and_workspace() -> None:
    for seed in range(20):
        case = random_layer("MEAN", DType.INT8, seed)
        function = bind(case)
        assert (function.sub_steps, function.argument_stops, function.result_start) == (2, (1,), 1)
        (space,) = function.workspaces
        assert (space.start, space.stop, space.size_bytes) == (0, 2, 4 * case.let.var.type.elements)


@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"])
def test_macs_are_the_operator_s(op: str) -> None:
    case = random_layer(op, DType.INT8, 3)
    assert bind(case).macs == case.let.macs > 0


def test_sources_exist_and_float_means_need_no_workspace() -> None:
    assert {op for op, _ in CASES} == set(supported_ops())
    for op, dtype in CASES:
        function = bind(random_layer(op, dtype, 0))
        assert all((folder("runtime_c") / source).is_file() for source in function.sources)
    assert bind(random_layer("MEAN", DType.FLOAT32, 0)).workspaces == ()


_KERNELS = {kernel.name: kernel for kernel in kernels_for("DEPTHWISE_CONV_2D")}
KERNEL = _KERNELS["depthwise_conv2d_s8_in_place"]
FLOAT_KERNEL = _KERNELS["depthwise_conv2d_f32_in_place"]


def bound(layer: Layer, kernel: Kernel = KERNEL) -> PrimFunc:
    assert kernel.refusal(layer.let, ANY_TARGET) is None
    return kernel.bind(layer.let, layer.constants, layer.let.var.name)


@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize(("kernel", "dtype"), [(KERNEL, DType.INT8), (FLOAT_KERNEL, DType.FLOAT32)])
def test_depthwise_equals_the_reference(library: Library, kernel: Kernel, dtype: DType) -> None:
    for seed in range(150):
        layer = depthwise_same_size(np.random.default_rng(seed), dtype)
        function = bound(layer, kernel)
        assert function.in_place == 0
        outcomes = [library.run(function, layer, paint=paint, overlap=(0, 0)) for paint in (0xA5, 0x5A)]
        for outcome in outcomes:
            check_result(layer, outcome.result)
        # Every byte of the workspace is written before it is read, and all of it is used.
        assert outcomes[0] == outcomes[1]


def test_the_workspace_is_as_many_padded_rows_as_the_window_is_high() -> None:
    for seed in range(50):
        layer = depthwise_same_size(np.random.default_rng(seed))
        image, weights = (arg.type.shape for arg in layer.let.call.args[:2] if arg is not None)
        attrs = layer.let.call.attrs
        dilation = getattr(attrs, "dilation")  # noqa: B009 - attrs are typed by operator, this test by name
        rows = (weights[1] - 1) * dilation[0] + 1
        columns = image[2] + (weights[2] - 1) * dilation[1]
        [ring] = bound(layer).workspaces
        assert ring.size_bytes == rows * columns


def test_the_workspace_of_floats_is_as_many_rows_as_a_window_covers() -> None:
    for seed in range(50):
        layer = depthwise_same_size(np.random.default_rng(seed), DType.FLOAT32)
        image, weights = (arg.type.shape for arg in layer.let.call.args[:2] if arg is not None)
        dilation = getattr(layer.let.call.attrs, "dilation")  # noqa: B009 - as above
        [ring] = bound(layer, FLOAT_KERNEL).workspaces
        assert ring.size_bytes == 4 * min((weights[1] - 1) * dilation[0] + 1, image[1]) * image[2]


def test_others_are_refused_and_nothing_picks_it_by_itself() -> None:
    refused = 0
    for seed in range(60):
        layer = random_layer("DEPTHWISE_CONV_2D", DType.INT8, seed)
        image = layer.let.call.args[0]
        assert image is not None
        reason = KERNEL.refusal(layer.let, ANY_TARGET)
        refused += reason is not None
        if image.type.shape != layer.let.var.type.shape:
            assert reason == "only with multiplier 1, stride 1 and a result as large as the image"
        assert bind(layer).in_place is None
    assert refused > 30
    reason = KERNEL.refusal(random_layer("DEPTHWISE_CONV_2D", DType.FLOAT32, 0).let, ANY_TARGET)
    assert reason is not None
    assert reason.startswith("the kernel depthwise_conv2d_s8_in_place is for int8 to int8")


LAYERS = 40
COUNTED = {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "AVERAGE_POOL_2D", "MAX_POOL_2D"}
HOST = boards.load_board("host")


@pytest.mark.parametrize(("op", "dtype"), [case for case in CASES if case[0] in COUNTED])
def test_loads_are_those_of_the_loops(op: str, dtype: DType) -> None:
    seen = 0
    for seed in range(LAYERS):
        layer = random_layer(op, dtype, seed)
        image = layer.let.call.args[0]
        if isinstance(image, Var):
            seen += 1
            loads = sum(len(event.reads) for event in events(layer, 0, reverse=False))
            assert bind(layer).reads[0] * image.type.elements == pytest.approx(loads, rel=1e-12)
    assert seen > LAYERS // 2


def test_in_place_reads_its_image_once_and_the_windows_from_the_ring() -> None:
    for seed in range(30):
        layer = depthwise_same_size(np.random.default_rng(seed))
        image, weights = (arg.type.shape for arg in layer.let.call.args[:2] if arg is not None)
        function = bound(layer)
        [ring] = function.workspaces
        assert function.reads[0] == 1
        # Every result reads its whole window, padding too: the ring has it.
        loads = np.prod(image) * weights[1] * weights[2]
        assert ring.reads * ring.size_bytes == pytest.approx(loads)
        assert ring.writes * ring.size_bytes >= np.prod(image)


def loaded(prims: list[PrimFunc]) -> dict[str, float]:
    """Bytes of each value that these steps load."""
    found: dict[str, float] = {}
    for prim in prims:
        for arg, reads in zip(prim.let.call.args, prim.reads, strict=True):
            if isinstance(arg, Var):
                found[arg.name] = found.get(arg.name, 0.0) + reads * arg.type.size_bytes
    return found


def test_a_block_loads_what_its_layers_load() -> None:
    """Where no pixel is computed twice: no more than that, as pixels that nobody reads are left out."""
    compared = exact = 0
    for seed in range(40):
        module = random_chain(seed, 4)
        data = {id_: constant.data for id_, constant in module.constants.items()}
        binder = Binder(data, HOST.target)
        prims = select(module.main, binder)
        steps = row_steps(prims, binder)
        for start, stop in segments(module.main, steps):
            inner = list(prims[start:stop])
            _, plain = apply(module.main, prims, steps, [Segment(start=start, stop=stop)])
            block = plain[start]
            if block.macs != sum(prim.macs for prim in inner):
                continue
            compared += 1
            by_layer = loaded(inner)
            for name, count in loaded([block]).items():
                assert 0 < count <= by_layer[name] * (1 + 1e-9)
            exact += loaded([block]) == pytest.approx({name: by_layer[name] for name in loaded([block])})
            values = {prim.let.var.name: prim.let.var for prim in inner}
            for line in block.workspaces:
                assert line.reads * line.size_bytes <= by_layer[line.name] * (1 + 1e-9)
                assert line.writes * line.size_bytes <= values[line.name].type.size_bytes * (1 + 1e-9)
    assert compared > 40
    assert exact > compared // 2


LAYERS_EACH = examples(60)
"""Random layers of each kernel."""


@pytest.mark.usefixtures("no_reports")
@pytest.mark.parametrize(("op", "dtype"), [case for case in CASES if case[0] != "RESHAPE"])
def test_result_equals_the_reference(library: Library, op: str, dtype: DType) -> None:
    """Wherever it may lie."""
    for seed in range(LAYERS_EACH):
        layer = random_layer(op, dtype, seed)
        function = bind(layer)
        first = library.run(function, layer, paint=0xA5)
        check_result(layer, first.result)
        # A second paint: nothing is read before it was written, and every workspace byte is written.
        assert library.run(function, layer, paint=0x5A) == first
        for argument, distance in _shared(function):
            shared = library.run(function, layer, paint=0xA5, overlap=(argument, distance)).result
            if shared != first.result:  # then floats may still be near enough
                check_result(layer, shared)


def _shared(function: PrimFunc) -> Iterator[tuple[int, int]]:
    """Arguments that may share bytes with the result, and distances at which they may."""
    for rule in function.sharing:
        if rule.below is None:
            continue
        step = max(function.argument_alignment, 1)
        nearest = -(-rule.below // step) * step  # the next distance that keeps both aligned
        for distance in (nearest, nearest + step, nearest + 5 * step):
            yield rule.argument, distance


@pytest.mark.parametrize("dtype", [DType.INT8, DType.FLOAT32])
def test_reshape_is_a_view(dtype: DType) -> None:
    function = bind(random_layer("RESHAPE", dtype, 0))
    assert function.view is not None
    assert (function.view.argument, function.view.offset_bytes, function.symbol) == (0, 0, "")
