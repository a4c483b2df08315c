"""Damaged files: whatever the bytes, the importer succeeds or raises CodegenError, and nothing else."""

import random
import struct
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.importers.samples import everything, outcome
from tests.testdata import model_path

SMALL = [
    "tflm/simple_add_model",
    "tflm/hello_world_int8",
    "seanet_strided_slice/strided_slice0",
    "seanet_conv/conv0",
]
WORDS = [0, 1, 2, 3, 4, 8, 12, 16, 255, 256, 65535, 65536, 10**6, 2**30, 2**31 - 1, -1, -2, -(2**31)]


def _model(key: str) -> bytes:
    return everything() if key == "everything" else model_path(key).read_bytes()


def _bit(data: bytearray, rng: random.Random) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _word(data: bytearray, rng: random.Random) -> None:
    position = rng.randrange(len(data) - 4) & ~3
    data[position : position + 4] = struct.pack("<i", rng.choice(WORDS))


def _random_word(data: bytearray, rng: random.Random) -> None:
    position = rng.randrange(len(data) - 4)
    data[position : position + 4] = rng.randbytes(4)


def _copied_word(data: bytearray, rng: random.Random) -> None:
    source, target = (rng.randrange(len(data) - 4) & ~3 for _ in range(2))
    data[target : target + 4] = data[source : source + 4]


MUTATIONS = {"bit": _bit, "word": _word, "random_word": _random_word, "copied_word": _copied_word}


@pytest.mark.parametrize("mutation", sorted(MUTATIONS))
@pytest.mark.parametrize("key", ["everything", *SMALL])
def test_mutated_files(key: str, mutation: str) -> None:
    original, rng = _model(key), random.Random(f"{key} {mutation}")
    seen: Counter[str] = Counter()
    for _ in range(200):
        data = bytearray(original)
        for _ in range(rng.choice((1, 1, 2, 4))):
            MUTATIONS[mutation](data, rng)
        seen[outcome(bytes(data))] += 1
    assert sum(seen.values()) == 200
    assert len(seen) > 1  # some mutations hit something that matters


@pytest.mark.parametrize("key", ["tflm/simple_add_model", "seanet_strided_slice/strided_slice0"])
def test_file_cut_at_every_byte(key: str) -> None:
    data = _model(key)
    refused = Counter(outcome(data[:length]) for length in range(len(data)))
    # The last bytes are the smallest vtable or padding of a buffer nobody reads: few cuts may pass.
    assert refused["ok"] <= 16
    assert refused["E302"] > len(data) // 2


def test_model_with_everything_cut_at_many_bytes() -> None:
    data = everything()
    refused = Counter(outcome(data[:length]) for length in range(0, len(data), 7))
    assert refused["E302"] > len(data) // 7 - 4


@given(st.binary(max_size=400))
@settings(max_examples=200, deadline=None)
def test_any_bytes_behind_the_magic(tail: bytes) -> None:
    assert outcome(struct.pack("<I", 8) + b"TFL3" + tail) != "ok"


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_any_root_offset(root: int) -> None:
    data = everything()
    assert outcome(struct.pack("<I", root) + data[4:]) in ("ok", "E302", "E303", "E305")


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_several_words_overwritten(data: st.DataObject) -> None:
    """Hypothesis shrinks to the fewest words, should one of these ever fail."""
    file = bytearray(everything())
    positions = st.integers(0, len(file) // 4 - 1)
    words = st.one_of(st.sampled_from(WORDS), st.integers(-(2**31), 2**31 - 1))
    for position, word in data.draw(st.lists(st.tuples(positions, words), min_size=1, max_size=4)):
        file[4 * position : 4 * position + 4] = struct.pack("<i", word)
    outcome(bytes(file))
