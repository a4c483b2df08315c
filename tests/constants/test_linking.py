"""Linked constants: merging, order, offsets as a C compiler lays them out, limits.
The code of packed constants: it decodes to what was packed, and no code of its kind has fewer bits.
The choice of items, against all choices there are.
"""

import ctypes
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from codegen.constants import coding, knapsack
from codegen.constants.coding import PREFIXES, Coder, best_code, unpack
from codegen.constants.knapsack import KnapsackItem, cheapest, relaxed
from codegen.constants.linking import link
from codegen.driver.checks.fit import telling
from codegen.errors import CodegenError
from codegen.kernels.contract import LinkedConstant
from codegen.kernels.primfunc import PrimFunc
from codegen.problem.problem import Pool
from tests.plan.build import prim, var
from tests.sampling import examples

FLASH = Pool(name="flash", region="FLASH", limit_bytes=1 << 20, section=".rodata.cg.flash")
QSPI = Pool(name="qspi", region="QSPI", limit_bytes=1 << 20, section=".rodata.cg.qspi")
X = var("x", 4)


def constant(role: str, data: np.ndarray, alignment: int = 1, scope: str | None = None) -> LinkedConstant:
    return LinkedConstant(role=role, data=data, alignment=alignment, memory_scope=scope)


def step(name: str, *constants: LinkedConstant) -> PrimFunc:
    return replace(prim(var(name, 4), X), constants=constants)


def int8(*values: int) -> np.ndarray:
    return np.array(values, np.int8)


def int32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_equal_constants_are_merged() -> None:
    steps = [
        step("conv0", constant("weight", int8(1, 2, 3)), constant("shift", int32(7, 8))),
        step("dw1", constant("weight", int8(1, 2, 4)), constant("shift", int32(7, 8), alignment=8)),
        step("fc2", constant("bias", int32(7, 8))),
    ]
    (pool,) = link(steps, [FLASH])
    # The table asks alignment 8 once, so it comes first; the weights follow in order of steps.
    assert [(m.name, m.offset, m.alignment) for m in pool.members] == [
        ("conv0_shift", 0, 8),
        ("conv0_weight", 8, 1),
        ("dw1_weight", 11, 1),
    ]
    assert pool.members[0].users == (("conv0", "shift"), ("dw1", "shift"), ("fc2", "bias"))
    assert pool.merged_bytes == 16
    assert pool.size_bytes == 16
    assert pool.unique_bytes == 14
    assert (pool.name, pool.region, pool.section, pool.alignment) == (
        "flash",
        "FLASH",
        ".rodata.cg.flash",
        16,
    )


def test_equal_bytes_of_other_types_are_one_piece_of_the_widest() -> None:
    (pool,) = link(
        [
            step("a", constant("q", int8(0, 0, 0, 0)), constant("p", int32(0))),
            step("b", constant("r", np.zeros(1, np.float32))),
        ],
        [FLASH],
    )
    (member,) = pool.members
    assert (member.name, member.data.dtype, member.data.tolist()) == ("a_p", np.int32, [0])
    assert [(part.user, part.dtype.name) for part in member.parts] == [
        (("a", "p"), "int32"),
        (("a", "q"), "int8"),
        (("b", "r"), "float32"),
    ]
    assert pool.merged_bytes == 8


def test_a_part_of_another_constant_is_read_there() -> None:
    steps = [
        step("a", constant("w", int8(3, 4), alignment=2)),
        step("b", constant("w", int8(1, 3, 4, 2, 3, 4, 5))),
        step("c", constant("w", int32(7, 8)), constant("v", int32(6, 7, 8, 9))),
        step("d", constant("w", int32(8), alignment=8)),
    ]
    (pool,) = link(steps, [FLASH])
    assert {m.name: [(p.user, p.offset_bytes, p.size_bytes) for p in m.parts] for m in pool.members} == {
        "c_v": [(("c", "v"), 0, 16), (("c", "w"), 4, 8)],
        "b_w": [(("b", "w"), 0, 7), (("a", "w"), 4, 2)],
        # It is in c_v at byte 8, but to align all of c_v to 8 could cost as much as it saves.
        "d_w": [(("d", "w"), 0, 4)],
    }
    assert pool.merged_bytes == 10


def test_a_part_of_another_wide_type_stays_by_itself() -> None:
    """Characters may read anything; no pointer to words is made from one to floats."""
    steps = [step("a", constant("w", np.zeros(4, np.float32)), constant("v", int32(0, 0)))]
    (pool,) = link([*steps, step("b", constant("w", int8(0, 0, 0)))], [FLASH])
    assert [(m.name, len(m.parts)) for m in pool.members] == [("a_w", 2), ("a_v", 1)]


def test_odd_sizes_come_last_in_their_alignment() -> None:
    # In the order of steps: 5 bytes, 3 of padding, 8, then 4. Odd ones last: 8, 4, 5 and nothing lost.
    steps = [
        step("a", constant("w", int8(*range(5)), alignment=4)),
        step("b", constant("w", int8(*range(1, 9)), alignment=4)),
        step("c", constant("w", int32(1))),
    ]
    (pool,) = link(steps, [FLASH])
    assert [(m.name, m.offset) for m in pool.members] == [("b_w", 0), ("c_w", 8), ("a_w", 12)]


def test_pool_alignment_covers_its_members() -> None:
    (pool,) = link([step("a", constant("w", int8(1), alignment=64))], [FLASH])
    assert pool.alignment == 64
    assert pool.size_bytes == 1


def test_memory_scope_and_section_choose_the_pool() -> None:
    pinned = LinkedConstant(role="b", data=int8(1), alignment=1, section=".rodata.cg.qspi")
    steps = [step("a", constant("w", int8(2)), constant("v", int8(1), scope="qspi"), pinned)]
    flash, qspi = link(steps, [FLASH, QSPI])
    assert [m.name for m in flash.members] == ["a_w"]
    assert [m.users for m in qspi.members] == [(("a", "v"), ("a", "b"))]
    # What may lie anywhere is read where an equal one has to be.
    (qspi,) = link([step("b", constant("w", int8(1))), step("c", pinned)], [FLASH, QSPI])
    assert [m.users for m in qspi.members] == [(("b", "w"), ("c", "b"))]
    with pytest.raises(CodegenError) as caught:
        link([step("a", constant("w", int8(1), scope="itcm"), constant("v", int8(1), scope="dtcm"))], [FLASH])
    assert [str(message) for message in caught.value.messages] == [
        f"error[E404] a: linked constant {role} is to lie in {scope}, which no constant pool is\n"
        "help: constant pools are flash"
        for role, scope in (("w", "itcm"), ("v", "dtcm"))
    ]


def test_a_full_pool_spills_into_the_next() -> None:
    small = replace(FLASH, limit_bytes=32)
    steps = [step("a", constant("w", int8(*range(20))), constant("v", int8(*range(1, 31))))]
    flash, qspi = link(steps, [small, QSPI])
    # Read equally often, the larger one goes first.
    assert [m.name for m in flash.members] == ["a_v"]
    assert [m.name for m in qspi.members] == ["a_w"]


def test_what_does_not_fit_is_explained() -> None:
    small = replace(FLASH, limit_bytes=16)
    steps = [step("a", constant("w", int8(*range(20))), constant("v", int8(*range(1, 31))))]
    with pytest.raises(CodegenError) as caught, telling():
        link(steps, [small])
    assert str(caught.value) == (
        "error[E402] constant pool flash: lacks 34 bytes: constants need 50 bytes, the limit is 16; "
        "the biggest are a_v 30, a_w 20\n"
        "help: try a board with more read-only memory, or a smaller model"
    )


def test_constant_results_are_linked_too() -> None:
    (pool,) = link([], [FLASH], extra=[("c4", constant("data", int32(1)))])
    assert pool.members[0].name == "c4_data"
    assert link([], [FLASH]) == ()


def test_empty_constants_are_refused() -> None:
    with pytest.raises(ValueError, match="is empty"):
        link([step("a", constant("w", int8()))], [FLASH])


@given(
    st.lists(st.tuples(st.sampled_from(["int8", "int16", "int32", "float32"]), st.integers(1, 9)), min_size=1)
)
def test_offsets_are_those_of_a_c_struct(shapes: list[tuple[str, int]]) -> None:
    """ctypes lays a structure out as the platform's C compiler does."""
    c_types = {
        "int8": ctypes.c_int8,
        "int16": ctypes.c_int16,
        "int32": ctypes.c_int32,
        "float32": ctypes.c_float,
    }
    constants = [
        constant(f"r{index}", np.full(count, index + 1, dtype)) for index, (dtype, count) in enumerate(shapes)
    ]
    (pool,) = link([step("a", *constants)], [FLASH])
    fields = [(m.name, c_types[str(m.data.dtype)] * m.data.size) for m in pool.members]
    layout = type("Layout", (ctypes.Structure,), {"_fields_": fields})
    assert [m.offset for m in pool.members] == [getattr(layout, m.name).offset for m in pool.members]
    assert pool.size_bytes == ctypes.sizeof(layout)
    # int16 arrays of odd length are followed by nothing wider, so the order leaves no padding at all.
    assert pool.size_bytes - sum(m.data.nbytes for m in pool.members) < 16


DATA = st.one_of(
    st.binary(min_size=1, max_size=400),
    # A few symbols, unevenly: what the code is for.
    st.lists(st.sampled_from([0] * 20 + [1] * 9 + [255] * 5 + [7, 8, 9, 128]), min_size=1, max_size=400).map(
        bytes
    ),
)


@st.composite
def data_in_pieces(draw: st.DrawFn) -> tuple[bytes, tuple[int, ...]]:
    data = draw(DATA)
    cuts = sorted(draw(st.sets(st.integers(1, len(data) - 1), max_size=6))) if len(data) > 1 else []
    edges = [0, *cuts, len(data)]
    return data, tuple(stop - start for start, stop in pairwise(edges))


@settings(max_examples=examples(300), deadline=None)
@given(data_in_pieces())
def test_what_is_stored_decodes_to_what_was_packed(case: tuple[bytes, tuple[int, ...]]) -> None:
    data, pieces = case
    coder = Coder(data)
    packing = coder.packing(pieces)
    stored = coder.packed(packing)
    assert len(stored) == packing.stored_bytes
    assert packing.piece_bytes == pieces
    assert unpack(stored, packing.table_bytes, pieces) == data


@settings(max_examples=examples(100), deadline=None)
@given(DATA)
def test_padding_is_what_the_decoder_reads_and_no_more(data: bytes) -> None:
    """It takes 16 bits whenever fewer are left than a code may need: two or three bytes behind the end."""
    coder = Coder(data)
    packing = coder.packing()
    stored = coder.packed(packing)
    with pytest.raises(ValueError, match="behind the end"):
        unpack(stored[:-1], packing.table_bytes, packing.piece_bytes)
    _, lengths = best_code(data).words()
    bits = int(lengths[np.frombuffer(data, np.uint8)].sum())
    assert 2 <= packing.stored_bytes - packing.table_bytes - -(-bits // 8) <= 3
    assert packing.taken == -(-bits // 16)


def bits_of(counts: list[int], prefix: int, widths: tuple[int, ...]) -> int | None:
    """Bits of a table and of symbols with these frequencies, in this order; None if some get no code."""
    total, place = 8 * len(widths), 0
    for width in widths:
        total += sum(counts[place : place + (1 << width)]) * (prefix + width)
        place += 1 << width
    return total if place >= len(counts) else None


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=20))
def test_no_widths_have_fewer_bits(frequencies: list[int]) -> None:
    counts = sorted(frequencies, reverse=True)
    data = b"".join(bytes([symbol]) * count for symbol, count in enumerate(counts))
    code = best_code(data)
    found = bits_of(counts, code.prefix, code.widths)
    assert found is not None
    for prefix in (1, 2):
        for widths in product(range(6), repeat=1 << prefix):
            other = bits_of(counts, prefix, widths)
            assert other is None or found <= other


def test_codes_are_apart_and_at_most_twelve_bits() -> None:
    data = bytes(range(256)) + bytes(5000) + bytes([3]) * 900
    code = best_code(data)
    assert code.prefix in PREFIXES
    codes, lengths = code.words()
    assert (lengths >= 1).all() and (lengths <= 12).all()
    words = {f"{int(each):0{int(length)}b}" for each, length in zip(codes, lengths, strict=True)}
    assert len(words) == 256
    assert not any(one != other and other.startswith(one) for one in words for other in words)


def test_pieces_have_to_make_up_the_data() -> None:
    for pieces in [(2, 2), (5, 0), (6,)]:
        with pytest.raises(ValueError, match="pieces of"):
            Coder(b"hello").packing(pieces)


def test_what_does_not_decode_is_never_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The build compares what decodes with what was to be stored."""
    coder = Coder(bytes(40) + bytes([1, 2, 3]))

    def zeros(codes: NDArray[np.int64], lengths: NDArray[np.int64]) -> bytes:
        del codes
        return bytes(-(-int(lengths.sum()) // 8))

    monkeypatch.setattr(coding, "_stream", zeros)
    with pytest.raises(ValueError, match="not what was packed"):
        coder.packed(coder.packing())


def test_a_code_without_a_symbol_is_found() -> None:
    """One symbol in class 0, and one of the two that class 1 has room for."""
    table = bytes([1, 0, 1, 65, 66])
    assert unpack(table + bytes([0b0_10_00000, 0, 0, 0]), len(table), (2,)) == b"AB"
    with pytest.raises(ValueError, match="byte 1 has a code without a symbol"):
        unpack(table + bytes([0b0_11_00000, 0, 0, 0]), len(table), (2,))


ITEMS = st.builds(KnapsackItem, saved=st.integers(0, 40), cost=st.integers(0, 60))
GROUPS = st.lists(st.lists(ITEMS, max_size=3), max_size=5)


def best(groups: list[list[KnapsackItem]], need: int) -> int | None:
    costs = [
        sum(item.cost for item in choice if item)
        for choice in product(*([None, *group] for group in groups))
        if sum(item.saved for item in choice if item) >= need
    ]
    return min(costs, default=None)


@settings(max_examples=examples(300), deadline=None)
@given(GROUPS, st.integers(0, 120))
def test_no_choice_is_cheaper(groups: list[list[KnapsackItem]], need: int) -> None:
    found, least = cheapest(groups, need), best(groups, need)
    if found is None:
        assert least is None
        return
    taken = [group[item] for group, item in zip(groups, found.items, strict=True) if item is not None]
    assert sum(item.saved for item in taken) >= need
    assert sum(item.cost for item in taken) == found.cost == found.bound == least
    assert relaxed(groups, need) <= found.cost


@settings(max_examples=examples(100), deadline=None)
@given(GROUPS, st.integers(1, 120))
def test_a_thinned_choice_saves_enough_and_states_a_bound(
    groups: list[list[KnapsackItem]], need: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knapsack, "STATES", 2)
        found = cheapest(groups, need)
    least = best(groups, need)
    if found is None:
        assert least is None
        return
    assert least is not None
    taken = [group[item] for group, item in zip(groups, found.items, strict=True) if item is not None]
    assert sum(item.saved for item in taken) >= need
    assert found.bound <= least <= found.cost
