"""Modules with open sizes: what they are at each of them, their text, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen import importers
from codegen.driver.inputs.dims import parsed
from codegen.driver.options import Options
from codegen.driver.preparing import prepared
from codegen.ir import DType, Module, TensorType, Var
from codegen.ir.builder import Builder
from codegen.ir.formulas import (
    Formula,
    Largest,
    Lookup,
    OpenSizes,
    Quotient,
    RoundedUp,
    Sum,
    Symbol,
    SymbolicInt,
    named,
    said,
)
from codegen.ir.operator import Padding2D
from codegen.ir.ops import OPS, Attrs, ConcatAttrs, PadAttrs, PoolAttrs, ReshapeAttrs, TransposeAttrs
from codegen.ir.ranged import Unlike, function_at, merged_module
from codegen.ir.text import parse_module, print_module
from codegen.ir.text.sizes import SizeReader
from codegen.ir.text.tokens import Tokens
from codegen.ir.verify import problems, verify
from tests.sampling import examples
from tests.search.ranges.networks import Network, audio, detector, overlapping, residual

T = Symbol(name="T", low=5, high=23)
U = Symbol(name="U", low=2, high=4)
SIZES = OpenSizes(symbols=(T, U))

Step = Callable[[Builder, Var], Var]


def typed(shape: tuple[int, ...]) -> TensorType:
    return TensorType(shape=shape, dtype=DType.FLOAT32)


def pool(window: int, stride: int) -> Step:
    """SAME along the open axis, as importers resolve it."""

    def add(builder: Builder, x: Var) -> Var:
        rows = x.type.shape[1]
        result = -(-rows // stride)
        total = max((result - 1) * stride + window - rows, 0)
        padding = Padding2D(top=total // 2, bottom=total - total // 2)
        attrs = PoolAttrs(window=(window, 1), stride=(stride, 1), padding=padding)
        shape = (x.type.shape[0], result, *x.type.shape[2:])
        return builder.call(OPS["MAX_POOL_2D"], [x], attrs, typed(shape))

    return add


def padded(before: int, after: int) -> Step:
    def add(builder: Builder, x: Var) -> Var:
        paddings = ((0, 0), (before, after), (0, 0), (0, 0))
        shape = (x.type.shape[0], x.type.shape[1] + before + after, *x.type.shape[2:])
        return builder.call(OPS["PAD"], [x], PadAttrs(paddings=paddings), typed(shape))

    return add


def doubled(axis: int) -> Step:
    def add(builder: Builder, x: Var) -> Var:
        shape = tuple(2 * extent if i == axis else extent for i, extent in enumerate(x.type.shape))
        return builder.call(OPS["CONCATENATION"], [x, x], ConcatAttrs(axis=axis), typed(shape))

    return add


def flat(builder: Builder, x: Var) -> Var:
    """RESHAPE and back: the shape of the first is in its attributes."""
    there = (x.type.elements,)
    found = builder.call(OPS["RESHAPE"], [x], ReshapeAttrs(shape=there), typed(there))
    return builder.call(OPS["RESHAPE"], [found], ReshapeAttrs(shape=x.type.shape), x.type)


def turned(builder: Builder, x: Var) -> Var:
    shape = (x.type.shape[0], x.type.shape[1], x.type.shape[3], x.type.shape[2])
    return builder.call(OPS["TRANSPOSE"], [x], TransposeAttrs(permutation=(0, 1, 3, 2)), typed(shape))


STEPS = st.one_of(
    st.builds(pool, st.integers(1, 4), st.integers(1, 3)),
    st.builds(padded, st.integers(0, 2), st.integers(0, 2)),
    st.builds(doubled, st.integers(1, 3)),
    st.sampled_from([flat, turned]),
)


def module(steps: list[Step], rows: int, channels: int) -> Module:
    builder = Builder()
    x = builder.param("x", typed((1, rows, 2, channels)))
    for step in steps:
        x = step(builder, x)
    return builder.build([builder.call(OPS["RELU"], [x], Attrs(), x.type)])


@settings(max_examples=examples(15))
@given(st.lists(STEPS, min_size=1, max_size=6), st.booleans())
def test_any_module_is_at_each_size_what_it_was_made_of(steps: list[Step], both: bool) -> None:
    """And its text reads back to the same formulas."""
    symbols = (T, U) if both else (T,)
    values = [
        {"T": t, **({"U": u} if both else {})} for t in range(5, 24) for u in range(2, 5 if both else 3)
    ]
    members = [module(steps, each["T"], each.get("U", 3)) for each in values]
    axes = {(0, 1): named("T"), **({(0, 3): named("U")} if both else {})}
    try:
        found = verify(merged_module(symbols, axes, values, members))
    except Unlike as unlike:  # few products of three sizes have a formula
        assert "follows no formula" in str(unlike)
        return
    text = print_module(found)
    back = parse_module(text)
    assert print_module(back) == text
    assert back.main.sizes == found.main.sizes
    for each, member in zip(values, members, strict=True):
        assert function_at(back.main, each) == member.main


NAMES = st.sampled_from(["T", "U"])
TERMS = st.tuples(
    st.integers(-9, 9).filter(bool), st.lists(NAMES, min_size=1, max_size=2).map(sorted).map(tuple[str, ...])
)
SUMS = st.builds(Sum, constant=st.integers(-99, 99), terms=st.tuples(TERMS) | st.tuples(TERMS, TERMS))
LOOKUPS = st.builds(
    Lookup,
    values=st.tuples(*[st.integers(-(2**31), 2**31 - 1)] * 19),
    index=st.just(Sum(constant=-5, terms=((1, ("T",)),))),
)


def larger(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    items = st.tuples(inner) | st.tuples(inner, inner)
    multiples = st.sampled_from([2, 8, 64])
    return st.builds(Largest, items=items) | st.builds(RoundedUp, value=inner, multiple=multiples)


FORMULAS: st.SearchStrategy[Formula] = st.recursive(
    SUMS | LOOKUPS | st.builds(Quotient, dividend=SUMS, divisor=st.integers(2, 99)), larger, max_leaves=4
)


@settings(max_examples=examples(40))
@given(FORMULAS)
def test_any_formula_reads_back(formula: Formula) -> None:
    text = said(SymbolicInt(0, formula))
    reader = SizeReader(Tokens(f"<T in 5..23, U in 2..4>{text}"))
    assert reader.sizes == SIZES
    assert reader.at_symbolic
    read = reader.symbolic()
    assert read.formula == formula
    assert read == SIZES.number_at(formula, SIZES.largest)


def dumped(network: Network, folder: Path, *dims: str) -> list[Module]:
    """What `--dump-ir` writes."""
    path = folder / f"{network.name}.tflite"
    path.write_bytes(network.data)
    ir = folder / "ir"
    prepared(path, Options(dims=parsed(dims), dump_ir=ir))
    return [parse_module(each.read_text(encoding="utf-8")) for each in sorted(ir.iterdir())]


@pytest.mark.parametrize(
    ("network", "dims"),
    [(audio(), ("x0.1=16..20",)), (residual(), ("T=10..13",)), (detector(), ("x0.1=8..9", "x0.2=8..9"))],
    ids=["audio", "residual", "detector"],
)
def test_shapes_of_every_stage_say_their_expression(
    network: Network, dims: tuple[str, ...], tmp_path: Path
) -> None:
    """Each stage at each size is what the importer, told that size, gives."""
    first, *_, last = found = dumped(network, tmp_path, *dims)
    assert len(found) == 13
    for each in (first, last):
        verify(each)
        assert len(each.main.sizes.symbols) == len(dims)
    path = tmp_path / f"{network.name}.tflite"
    symbols = first.main.sizes.symbols
    for high in (False, True):
        values = {symbol.name: symbol.high if high else symbol.low for symbol in symbols}
        extents = {(0, axis): values[symbol.name] for axis, symbol in enumerate(symbols, 1)}
        assert function_at(first.main, values) == importers.load(path, (), extents).main


def test_an_extent_is_an_expression_of_the_symbol(tmp_path: Path) -> None:
    text = print_module(dumped(overlapping(), tmp_path, "x0.1=9..14")[0])
    assert "fn main<x0_dim1 in 9..14" in text
    assert "%x0: int8[1,x0_dim1,4,4]" in text
    assert "%conv3: int8[1,(x0_dim1 - 1)/2,2,12]" in text  # a window of 3, VALID, by strides of 2
    assert "%maxpool8: int8[1,(x0_dim1 - 1)/2,1,12]" in text  # two of them joined, halved


def test_a_formula_that_an_operator_forbids_is_told_with_a_size() -> None:
    sound = merged_module(
        (T,),
        {(0, 1): named("T")},
        [{"T": t} for t in range(5, 24)],
        [module([pool(2, 2)], t, 3) for t in range(5, 24)],
    )
    text = print_module(verify(sound))
    wrong = parse_module(text.replace("float32[1,(T + 1)/2,2,3]", "float32[1,(T + 2)/2,2,3]"))
    assert problems(wrong)[0] == (
        'main step 0 MAX_POOL_2D "maxpool0": result shape is [1, 4, 2, 3], '
        "the operator gives [1, 3, 2, 3] at T=6"
    )
    with pytest.raises(ValueError, match=r"follows from unknown sizes \['V'\]"):
        replace(
            sound.main,
            params=(Var(name="x", type=typed((1, SymbolicInt(23, named("V"))))),),
            body=(),
            results=(),
        )
    with pytest.raises(ValueError, match="T is not that at the largest"):
        replace(
            sound.main,
            params=(Var(name="x", type=typed((1, SymbolicInt(9, named("T"))))),),
            body=(),
            results=(),
        )
    with pytest.raises(ValueError, match="size T: there twice"):
        OpenSizes(symbols=(T, T))


def test_what_has_no_formula_is_unlike() -> None:
    values = [{"T": t} for t in range(5, 24)]
    constants = [Builder() for _ in values]
    members: list[Module] = []
    for each, builder in zip(values, constants, strict=True):
        x = builder.param("x", typed((each["T"], 2)))
        table = builder.constant(np.full(2, each["T"], np.float32))
        members.append(builder.build([builder.call(OPS["ADD"], [x, table], OPS["ADD"].attrs_type(), x.type)]))
    with pytest.raises(Unlike, match="constant c0 is another one at some sizes"):
        merged_module((T,), {(0, 0): named("T")}, values, members)
    with pytest.raises(Unlike, match="there are other operators"):
        merged_module((T,), {}, values[:2], [module([flat], 5, 2), module([turned, turned, turned], 6, 2)])
