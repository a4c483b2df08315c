"""The code of packed constants: it decodes to what was packed, and no code of its kind has fewer bits."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from codegen.plan.constants import coding
from codegen.plan.constants.coding import PREFIXES, Coder, best_code, unpack

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


@settings(max_examples=300, deadline=None)
@given(data_in_pieces())
def test_what_is_stored_decodes_to_what_was_packed(case: tuple[bytes, tuple[int, ...]]) -> None:
    data, pieces = case
    coder = Coder(data)
    packing = coder.packing(pieces)
    stored = coder.packed(packing)
    assert len(stored) == packing.stored_bytes
    assert packing.piece_bytes == pieces
    assert unpack(stored, packing.table_bytes, pieces) == data


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=60, deadline=None)
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
