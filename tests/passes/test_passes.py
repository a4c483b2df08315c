"""Passes keep the module's meaning and every surviving value's device.
Places become devices of values; what cannot be is said at once.
Ranges against all inputs; random networks reduced: nothing may change but what is left out.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.errors import CodegenError
from codegen.ir import Module, Quantization, Var, VirtualDevice
from codegen.ir.builder import Builder
from codegen.ir.evaluate import evaluate, steps
from codegen.ir.function import Source
from codegen.ir.ops import (
    OPS,
    Activation,
    Attrs,
    BinaryAttrs,
    ConvAttrs,
    PadAttrs,
    Padding2D,
    ReshapeAttrs,
)
from codegen.ir.rules import Place
from codegen.ir.text import parse_module
from codegen.ir.verify import verify
from codegen.passes import (
    FoldConstants,
    FoldPad,
    FuseActivations,
    IoTypes,
    Legalise,
    Pass,
    Reduce,
    RemoveDead,
    pipeline,
    place_edges,
    place_values,
    run_passes,
)
from codegen.passes.pipeline import with_function
from codegen.passes.reduce import reduce
from codegen.passes.reduce.value_ranges import ranges
from tests.ir.strategies import modules
from tests.passes.layers import SAME, Layers, int8, same_values
from tests.passes.networks import inputs_of, random_network
from tests.sampling import examples
from tests.tensor_types import per_tensor, tensor_type

ALL: tuple[Pass, ...] = (FoldConstants(), FoldPad(), FuseActivations(), RemoveDead(), Legalise(), Reduce())
Q = per_tensor(0.5, -3)
IMAGE = tensor_type((1, 5, 4, 2), quantization=Q)


def _inputs(module: Module) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.integers(-128, 128, p.type.shape).astype(p.type.dtype.numpy) for p in module.main.params]


@given(modules())
def test_outputs_stay_equal(module: Module) -> None:
    inputs = _inputs(module)
    before = evaluate(module, module.main, inputs)
    for each in ALL:
        module = run_passes(module, (each,))
        after = evaluate(module, module.main, inputs)
        assert all(np.array_equal(one, two) for one, two in zip(before, after, strict=True)), each.name


@given(modules())
def test_surviving_values_keep_their_device(module: Module) -> None:
    before = {var.name: var.device for var in module.main.variables()}
    for each in ALL:
        module = run_passes(module, (each,))
        for var in module.main.variables():
            assert var.device == before[var.name], (each.name, var.name)


def _conv_module(pad_value: float, paddings: tuple[tuple[int, int], ...]) -> Module:
    builder = Builder()
    image = builder.param("image", IMAGE)
    grown = tuple(e + a + b for e, (a, b) in zip(IMAGE.shape, paddings, strict=True))
    padded_type = tensor_type(grown, quantization=Q)
    padded = builder.call(OPS["PAD"], [image], PadAttrs(paddings=paddings, value=pad_value), padded_type)
    weight_q = Quantization(scales=(0.1, 0.2, 0.3), zero_points=(0, 0, 0), axis=0)
    weights = np.arange(-27, 27, dtype=np.int8).reshape(3, 3, 3, 2)
    bias = np.array([1, -2, 3], np.int32)
    attrs = ConvAttrs(padding=Padding2D(top=1, left=0, bottom=0, right=1))
    result = tensor_type((1, grown[1] + 1 - 2, grown[2] + 1 - 2, 3), quantization=Q)
    args = [padded, builder.constant(weights, quantization=weight_q), builder.constant(bias)]
    return builder.build([builder.call(OPS["CONV_2D"], args, attrs, result)])


def test_pad_of_zero_points_becomes_the_convolutions_padding() -> None:
    module = _conv_module(-3, ((0, 0), (1, 2), (0, 3), (0, 0)))
    folded = run_passes(module, (FoldPad(), RemoveDead()))
    (conv,) = folded.main.body
    assert isinstance(conv.call.attrs, ConvAttrs)
    assert conv.call.attrs.padding == Padding2D(top=2, bottom=2, left=0, right=4)
    inputs = _inputs(module)
    assert np.array_equal(evaluate(module, module.main, inputs)[0], evaluate(folded, folded.main, inputs)[0])


@pytest.mark.parametrize("value", [0, -4])
def test_pad_of_another_value_stays(value: int) -> None:
    module = _conv_module(value, ((0, 0), (1, 1), (1, 1), (0, 0)))
    assert len(run_passes(module, (FoldPad(), RemoveDead())).main.body) == 2


def test_steps_that_a_pass_changed_are_looked_at_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every pass that changed nothing had all steps checked again: a tenth of planning a range of sizes."""

    @dataclass(frozen=True)
    class Breaks:
        name: str = "breaks"

        def run(self, module: Module) -> Module:
            [*body, last] = module.main.body
            wrong = replace(last, call=replace(last.call, attrs=PadAttrs(paddings=(), value=0)))
            return with_function(module, replace(module.main, body=(*body, wrong)))

    seen: list[Module] = []

    def looked_at(module: Module) -> Module:
        seen.append(module)
        return verify(module)

    monkeypatch.setattr(pipeline, "verify", looked_at)
    module = run_passes(_conv_module(-3, ((0, 0), (1, 2), (0, 3), (0, 0))), (FoldPad(), RemoveDead()))
    assert len(seen) == 2
    assert run_passes(module, (FoldPad(), RemoveDead(), Legalise())) == module
    assert len(seen) == 2
    with pytest.raises(ValueError, match="not well formed"):
        run_passes(module, (Breaks(),))


def test_relu_is_fused_only_without_requantization() -> None:
    for same in (True, False):
        module = parse_module(f"""module
fn main(%image: int8[1,5,4,2] q(0.5; -3)) {{
  %total: int8[1,5,4,2] q(0.5; -3) = ADD(%image, %image) activation="none" unbounded=false
  %relu: int8[1,5,4,2] {"q(0.5; -3)" if same else "q(0.25; 0)"} = RELU(%total)
}} -> (%relu)
""")
        fused = run_passes(module, (FuseActivations(),))
        assert len(fused.main.body) == (1 if same else 2)
        inputs = _inputs(module)
        assert np.array_equal(
            evaluate(module, module.main, inputs)[0], evaluate(fused, fused.main, inputs)[0]
        )
        if same:
            attrs = fused.main.body[0].call.attrs
            assert isinstance(attrs, BinaryAttrs)
            assert attrs.activation is Activation.RELU


def test_relu_is_not_fused_into_a_value_read_twice() -> None:
    builder = Builder()
    image = builder.param("image", IMAGE)
    total = builder.call(OPS["ADD"], [image, image], BinaryAttrs(), IMAGE)
    clipped = builder.call(OPS["RELU"], [total], Attrs(), IMAGE)
    module = builder.build([total, clipped])
    assert len(run_passes(module, (FuseActivations(),)).main.body) == 2


def test_folding_keeps_the_memory_scope() -> None:
    """A folded value must not move to the default memory: its scope goes to the constant."""
    builder = Builder()
    builder.param("image", IMAGE)
    constant = builder.constant(np.zeros(IMAGE.shape, np.int8), quantization=Q)
    device = VirtualDevice(memory_scope="dtcm")
    total = builder.call(
        OPS["ADD"], [constant, constant], BinaryAttrs(), Var(name="total", type=IMAGE, device=device)
    )
    module = run_passes(builder.build([total]), (FoldConstants(),))
    assert module.main.body == ()
    assert [constant.memory_scope for constant in module.constants.values()] == ["dtcm"]


def test_float_edges_become_int8() -> None:
    module = parse_module("""module
fn main(%x: float32[1,4] origin "x") {
  %q: int8[1,4] q(0.5; -3) = QUANTIZE(%x)
  %relu: int8[1,4] q(0.5; -3) = RELU(%q)
  %y: float32[1,4] = DEQUANTIZE(%relu)
} -> (%y)
""")
    ints = tensor_type((1, 4), quantization=Q)
    exposed = run_passes(module, (IoTypes(), RemoveDead()))
    assert [let.call.op.name for let in exposed.main.body] == ["RELU"]
    assert [param.type for param in exposed.main.params] == [ints]
    (result,) = exposed.main.results
    assert isinstance(result, Var) and result.type == ints


def test_float_input_with_a_second_reader_stays_float() -> None:
    module = parse_module("""module
fn main(%x: float32[1,4] origin "x") {
  %q: int8[1,4] q(0.5; -3) = QUANTIZE(%x)
} -> (%q, %x)
""")
    exposed = run_passes(module, (IoTypes(),))
    assert exposed.main == module.main
    assert exposed.metadata["notes"].splitlines() == [
        "--io-types int8: input x stays float32: 2 steps and outputs read it",
        "--io-types int8: output x stays float32: it is an input too",
    ]


def test_moves_of_unit_axes_become_reshapes() -> None:
    module = parse_module("""module
fn main(%image: int8[1,5,1,2] q(0.5; -3)) {
  %moved: int8[5,1,1,2] q(0.5; -3) = TRANSPOSE(%image) permutation=(1, 0, 2, 3)
  %swapped: int8[2,1,1,5] q(0.5; -3) = TRANSPOSE(%moved) permutation=(3, 1, 2, 0)
} -> (%swapped)
""")
    body = run_passes(module, (Legalise(),)).main.body
    assert [let.call.op.name for let in body] == ["RESHAPE", "TRANSPOSE"]
    assert isinstance(body[0].call.attrs, ReshapeAttrs)


TYPE = tensor_type((1, 4), scale=0.5)


def _module() -> Module:
    """x -> ADD -> RELU; an ADD that nobody reads."""
    builder = Builder()
    x = builder.param("x", TYPE, origin="file/x")
    y, z, d = (Var(name=name, type=TYPE, origin=f"file/{name}") for name in ("sum", "relu", "dead"))
    of = {
        var.name: Source(op_index=index, op_name=op, tensor_name=var.origin)
        for index, (var, op) in enumerate(((y, "ADD"), (z, "RELU"), (d, "ADD")))
    }
    added = builder.call(OPS["ADD"], [x, x], BinaryAttrs(), y, source=of["sum"])
    builder.call(OPS["ADD"], [x, x], BinaryAttrs(), d, source=of["dead"])
    return builder.build([builder.call(OPS["RELU"], [added], Attrs(), z, source=of["relu"])])


def _place(number: int, scope: str | None = "a", reads: str | None = None, **what: object) -> Place:
    device = VirtualDevice(memory_scope=scope)
    return Place(who=f"place {number}", device=device, reads=reads, **what)  # pyright: ignore[reportArgumentType]


def _scopes(module: Module) -> dict[str, str | None]:
    return {var.name: var.device.memory_scope for var in module.main.variables()}


def test_tensors_operators_and_edges() -> None:
    places = (
        _place(1, tensor="file/x"),
        _place(2, "b", op=0),
        _place(3, None, reads="a", op="RELU"),
        _place(4, "b", outputs=True),
    )
    placed = place_values(_module(), places, ["a", "b"])
    assert _scopes(placed.module) == {"x": "a", "sum": "b", "dead": None, "relu": None}
    assert placed.reads == {"relu": ("a", "place 3")}
    placed = place_edges(placed, placed.module, places)
    assert _scopes(placed.module)["relu"] == "b"
    assert placed.who == {"x": "place 1", "sum": "place 2", "relu": "place 4"}


def test_a_placed_value_is_not_merged_with_one_elsewhere() -> None:
    passes = (FuseActivations(), RemoveDead())
    for scope, left in ((None, ["sum"]), ("a", ["sum", "relu"])):
        places = () if scope is None else (_place(1, scope, tensor="sum"),)
        placed = place_values(_module(), places, ["a"])
        module = run_passes(placed.module, passes)
        assert [let.var.name for let in module.main.body] == left
        assert place_edges(placed, module, places).module == module


def test_everything_that_is_wrong_at_once() -> None:
    places = (
        _place(1, tensor="file/y"),
        _place(2, "c", op=7),
        _place(3, op="CONV_2D"),
        _place(4, op=0),
        _place(5, "b", tensor="sum"),
        _place(6, None, reads="a", op=0),
        _place(7, None, reads="b", op=0),
    )
    with pytest.raises(CodegenError) as caught:
        place_values(_module(), places, ["a", "b"])
    assert [str(message) for message in caught.value.messages] == [
        "error[E242] place 2: there is no pool c to plan in\nhelp: pools of this board are a, b",
        "error[E240] place 1: no value of the model is called 'file/y'\n"
        "help: its values are file/x, file/sum, file/dead, file/relu",
        "error[E241] place 2: the model has no operator 7 with a result\n"
        "help: it has ADD (2), RELU (1), numbered from 0 to 2",
        "error[E241] place 3: the model has no operator CONV_2D\n"
        "help: it has ADD (2), RELU (1), numbered from 0 to 2",
        "error[E320] value file/sum: sum is given a device by place 4 and by place 5: "
        "memory scope is a here and b there\nhelp: take it out of one of these",
        "error[E320] value file/sum: what computes sum is to read from a by place 6, and from b by place 7\n"
        "help: take it out of one of these",
    ]


def test_a_place_of_which_nothing_is_left() -> None:
    places = (_place(1, tensor="dead"), _place(2, op="ADD"))
    placed = place_values(_module(), places, ["a"])
    with pytest.raises(CodegenError) as caught:
        place_edges(placed, run_passes(placed.module, (RemoveDead(),)), places)
    [message] = caught.value.messages
    assert str(message).startswith("error[E243] place 1: nothing of it is there at run time: dead became")


def test_weights_are_not_placed() -> None:
    builder = Builder()
    x = builder.param("x", TYPE)
    weights = builder.constant(np.zeros((1, 4), np.int8), quantization=TYPE.quantization, origin="file/w")
    module = builder.build([builder.call(OPS["ADD"], [x, weights], BinaryAttrs(), TYPE)])
    with pytest.raises(CodegenError, match=r"E240.*'file/w' is a constant, which is linked, not placed"):
        place_values(module, (_place(1, tensor="file/w"),), ["a"])


def test_the_range_of_one_element_is_exact() -> None:
    """Against every one of the 256 inputs."""
    layers = Layers()
    image = layers.param("image", int8(1, 1, 1, 1, zero_point=-7))
    a = layers.conv(image, np.array([1, -3, 0, 2]).reshape(4, 1, 1, 1), [0, 90, 9, -300], zero_point=11)
    module = layers.build([a])
    found = ranges(module, module.main)[a.name]
    every = [evaluate(module, module.main, [np.full((1, 1, 1, 1), x, np.int8)])[0] for x in range(-128, 128)]
    assert np.array_equal(found.low, np.min(every, axis=0))
    assert np.array_equal(found.high, np.max(every, axis=0))


def _bounds(
    low: np.ndarray, high: np.ndarray, weights: np.ndarray, at: tuple[int, int], origin: tuple[int, int]
) -> tuple[int, int]:
    """The least and largest sum of a depthwise window, tap by tap; `low`, `high` [H, W], `weights` [h, w]."""
    least = most = 0
    for (row, column), weight in np.ndenumerate(weights):
        y, x = at[0] + row - origin[0], at[1] + column - origin[1]
        if 0 <= y < low.shape[0] and 0 <= x < low.shape[1]:
            ends = sorted((int(low[y, x]) * int(weight), int(high[y, x]) * int(weight)))
            least, most = least + ends[0], most + ends[1]
    return least, most


def test_bounds_of_wide_padded_images_are_those_of_every_window() -> None:
    """Ranges took 2 s of a large network's plan. Windows that read the same are now counted once: on an image
    as wide as this most do, at the border none."""
    layers, random = Layers(), np.random.default_rng(7)
    image = layers.param("image", int8(1, 14, 19, 2, zero_point=0, scale=1.0))
    small = layers.conv(image, np.array([[0, 0], [0, 0]]).reshape(2, 1, 1, 2), [3, -2])
    clamped = layers.conv(
        image, random.integers(-9, 9, (2, 3, 3, 2)), [1, 2], padding=SAME, activation=Activation.RELU6
    )
    both = layers.add(clamped, small)
    first = random.integers(-2, 3, (3, 4, 2))
    second = random.integers(-2, 3, (2, 3, 2))
    one = layers.depthwise(both, first, [0, 0], padding=Padding2D(top=1, bottom=2, left=0, right=3))
    two = layers.depthwise(one, second, [0, 0], padding=Padding2D(top=1, bottom=1, left=2, right=0))
    module = layers.build([two])
    found = ranges(module, module.main)
    for before, after, weights, origin in ((both, one, first, (1, 0)), (one, two, second, (1, 2))):
        given, result = found[before.name], found[after.name]
        for (_, row, column, channel), low in np.ndenumerate(result.low):
            sums = _bounds(
                given.low[0, :, :, channel],
                given.high[0, :, :, channel],
                weights[..., channel],
                (row, column),
                origin,
            )
            assert (low, result.high[0, row, column, channel]) == tuple(np.clip(sums, -128, 127))


@settings(max_examples=examples(150))
@given(st.integers(0, 10**6))
def test_random_networks_compute_the_same(seed: int) -> None:
    module = run_passes(random_network(seed), (FoldConstants(), RemoveDead()))
    reduction = reduce(module)
    known = ranges(module, module.main)
    for inputs in inputs_of(module, seed):
        same_values(reduction, inputs)
        for let, value in steps(module, module.main, inputs):
            bounds = known.get(let.var.name)
            assert bounds is None or ((bounds.low <= value) & (value <= bounds.high)).all(), let.where
    assert not reduce(run_passes(reduction.module, (RemoveDead(),))).removed
    assert [param.type for param in reduction.module.main.params] == [p.type for p in module.main.params]
    assert [result.type for result in reduction.module.main.results] == [
        result.type for result in module.main.results
    ]
