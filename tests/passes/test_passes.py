"""Passes keep the module's meaning and every surviving value's device."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given

from codegen.ir import Module, Var
from codegen.ir.evaluate import evaluate
from codegen.ir.ops import (
    Activation,
    BinaryAttrs,
    ConvAttrs,
    PadAttrs,
    Padding2D,
    ReshapeAttrs,
)
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
    run_passes,
)
from codegen.passes.pipeline import with_function
from tests.ir.strategies import modules
from tests.tensor_types import tensor_type

ALL: tuple[Pass, ...] = (FoldConstants(), FoldPad(), FuseActivations(), RemoveDead(), Legalise(), Reduce())
Q = "q(0.5; -3)"
IMAGE = f"int8[1,5,4,2] {Q}"


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


def _conv_module(value: int, height: int, width: int, paddings: str) -> Module:
    """A PAD by `paddings` of H and W to `height` and `width`, in front of a 3x3 convolution with padding."""
    weights = "5ebn6Onq6+zt7u/w8fLz9PX29/j5+vv8/f7/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka"
    kind = "int8[3,3,3,2] q(0.1, 0.2, 0.3; 0, 0, 0; axis 0)"
    padding = 'activation="none" padding=(1, 0, 0, 1) stride=(1, 1) dilation=(1, 1)'
    return parse_module(f"""module
const $c0: {kind} align 1 = base64 "{weights}"
const $c1: int32[3] align 1 = base64 "AQAAAP7///8DAAAA"
fn main(%image: {IMAGE}) {{
  %pad: int8[1,{height},{width},2] {Q} = PAD(%image) paddings=((0, 0), {paddings}, (0, 0)) value={value}
  %conv: int8[1,{height - 1},{width - 1},3] {Q} = CONV_2D(%pad, $c0: {kind}, $c1: int32[3]) {padding}
}} -> (%conv)
""")


def test_pad_of_zero_points_becomes_the_convolutions_padding() -> None:
    module = _conv_module(-3, 8, 7, "(1, 2), (0, 3)")
    folded = run_passes(module, (FoldPad(), RemoveDead()))
    (conv,) = folded.main.body
    assert isinstance(conv.call.attrs, ConvAttrs)
    assert conv.call.attrs.padding == Padding2D(top=2, bottom=2, left=0, right=4)
    inputs = _inputs(module)
    assert np.array_equal(evaluate(module, module.main, inputs)[0], evaluate(folded, folded.main, inputs)[0])


@pytest.mark.parametrize("value", [0, -4])
def test_pad_of_another_value_stays(value: int) -> None:
    module = _conv_module(value, 7, 6, "(1, 1), (1, 1)")
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
    module = run_passes(_conv_module(-3, 8, 7, "(1, 2), (0, 3)"), (FoldPad(), RemoveDead()))
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
    module = parse_module(f"""module
fn main(%image: {IMAGE}) {{
  %total: {IMAGE} = ADD(%image, %image) activation="none" unbounded=false
  %relu: {IMAGE} = RELU(%total)
}} -> (%total, %relu)
""")
    assert len(run_passes(module, (FuseActivations(),)).main.body) == 2


def test_folding_keeps_the_memory_scope() -> None:
    """A folded value must not move to the default memory: its scope goes to the constant."""
    module = parse_module("""module
const $c0: float32[1] align 4 = base64 "AACAPw=="
fn main() {
  %negated: float32[1] @(none, none, "dtcm") = NEG($c0: float32[1])
} -> (%negated)
""")
    module = run_passes(module, (FoldConstants(),))
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
    ints = tensor_type((1, 4), scale=0.5, zero=-3)
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
