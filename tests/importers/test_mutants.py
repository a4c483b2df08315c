"""Files that attackers would make: refused in words or planned, within 2 s and 512 MiB, never a traceback.

26,000 mutated models found one field of options that was a traceback, a hang or gigabytes, and files of 688
bytes that asked for 5.4 GB. `python -m tests.importers.fuzz --count N --seed S` makes more of them.
Damaged files: whatever the bytes, the importer succeeds or raises CodegenError, and nothing else.
Nasty files in a child process with 512 MiB of address space: refused, never a crash or a traceback.
"""

import os
import random
import re
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.importers import limits
from codegen.importers.printable_names import identifiers
from codegen.importers.tflite.writing.writer import ModelBuilder
from tests import opgen
from tests.checkout import ROOT
from tests.engines import available
from tests.importers.fuzz.compared import verdicts
from tests.importers.fuzz.mutants import Mutant, draw
from tests.importers.hostile import shared_tables
from tests.importers.samples import Patch, everything, one_op, outcome, written
from tests.networks import drawn
from tests.sampling import examples

MUST_BE_REFUSED = {
    "one PAD to 128 MB": "E305",
    "ten PADs to 64 MB": "E305",
    "a chain of 300 PADs": "E305",
    "folded floats": "E305",
    "folded floats, each within the limit": "E305",
    "a window at every place": "E305",
    "RELU6 scale=1e-45": "E306",
    "RELU6 scale=inf": "E304",
    "RELU6 scale=nan": "E304",
    "RELU6 scale=0": "E304",
    "RELU6 scale=-1": "E304",
    "CONV_2D stride_w=0 SAME": "E303",
    "CONV_2D dilation_h=-1 SAME": "E303",
    "MAX_POOL_2D filter_height=32768 VALID": "E306",
}
MUST_WORK = (
    "pool of 2000",
    "pool of 30000",
    "pool of 2147483647",
    "pool of 2147483647, stride 2147483647",
    "windows over thirty large images",
    "dilation 100000",
    "dilation 2147483647",
    "CONV_2D stride_h=2147483647 SAME",
)


def fuzz(*words: str) -> tuple[int, str]:
    """Exit code and output of the fuzzer, whose processes have one thread each."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.importers.fuzz", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_every_integer_option_at_its_edges_and_small_files_that_ask_for_much() -> None:
    ended, text = fuzz("--handmade")
    assert ended == 0, text
    verdicts = {name: what for what, name in re.findall(r"^(\S+) +(.+)$", text, re.MULTILINE)}
    assert len(verdicts) >= 200
    assert sum(what.startswith("E") for what in verdicts.values()) >= 50
    assert {name: verdicts[name] for name in MUST_BE_REFUSED} == MUST_BE_REFUSED
    assert {verdicts[name] for name in MUST_WORK} <= {"ok", "same"}


@pytest.mark.parametrize(
    ("count", "fewest_imported"), [(100, 20), pytest.param(500, 100, marks=pytest.mark.thorough)]
)
def test_mutants(count: int, fewest_imported: int) -> None:
    ended, text = fuzz("--count", str(count), "--seed", "13")
    assert ended == 0, text
    counts = {
        what: int(count.replace(",", ""))
        for count, what in re.findall(r"^ *([\d,]+) (.+)$", text, re.MULTILINE)
    }
    assert counts["ok"] > fewest_imported
    assert counts["ran"] >= 1
    assert {"E301", "E302", "E303", "E304", "E305", "E306"} <= set(counts)


@pytest.mark.long
def test_a_hundred_thousand_mutants() -> None:
    ended, text = fuzz("--count", "100000", "--seed", "14")
    assert ended == 0, text


def test_a_mutant_repeats() -> None:
    assert draw(5, 17) == draw(5, 17)
    assert len({draw(5, number).data for number in range(40)}) > 35
    assert len(Counter(draw(5, number).change for number in range(60))) > 10


def test_thousands_of_inputs_of_one_name() -> None:
    """Each was numbered from 2 on: 33 million candidates."""
    names = identifiers(["x"] * 8192, [])
    assert names[:3] == ("x", "x_2", "x_3")
    assert len(set(names)) == 8192


def _quantized_by(scale: float) -> bytes:
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 4), "float32"), model.tensor("y", (1, 4), "int8", scale=scale)
    model.op("QUANTIZE", [x], [y])
    model.inputs(x)
    model.outputs(y)
    return model.build()


IMAGE = (1, 6, 6, 2)
OVERFLOWING = {
    "a pool of 2^31-1 rows": one_op(
        "AVERAGE_POOL_2D", IMAGE, IMAGE, padding="SAME", filter_width=3, filter_height=2**31 - 1
    ),
    "a tiny scale": _quantized_by(6e-32),
}


@pytest.mark.skipif(not available(), reason="no reference engine is installed")
@pytest.mark.parametrize("story", OVERFLOWING)
def test_what_the_engines_own_types_do_not_hold_is_no_fault_of_ours(story: str) -> None:
    """Of 100,000 mutants two were told as bugs: a pool of 2^31-1 rows, whose padding engines keep in an
    int16, and a QUANTIZE whose quotient they cast to an int32."""
    data = OVERFLOWING[story]
    mutant = Mutant(number=0, base=story, change="by hand", data=data, board="host", runs=True)
    assert [verdict.what for _, verdict in verdicts([mutant])] == ["ran", "engines overflow"]


SMALL = {
    "everything": everything(),
    "two_images": drawn("two_images").model,
    "dense_chain": drawn("dense_chain").model,
    "strided_slice": next(case.model for case in opgen.cases() if case.operator == "STRIDED_SLICE"),
    "conv_int16": next(
        case.model for case in opgen.cases() if case.operator == "CONV_2D" and "int16" in case.name
    ),
}
WORDS = [0, 1, 2, 3, 4, 8, 12, 16, 255, 256, 65535, 65536, 10**6, 2**30, 2**31 - 1, -1, -2, -(2**31)]


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
@pytest.mark.parametrize("key", SMALL)
@pytest.mark.sampled()
def test_mutated_files(key: str, mutation: str) -> None:
    original, rng = SMALL[key], random.Random(f"{key} {mutation}")
    seen: Counter[str] = Counter()
    for _ in range(200):
        data = bytearray(original)
        for _ in range(rng.choice((1, 1, 2, 4))):
            MUTATIONS[mutation](data, rng)
        seen[outcome(bytes(data))] += 1
    assert sum(seen.values()) == 200
    assert len(seen) > 1  # some mutations hit something that matters


@pytest.mark.parametrize("key", ["two_images", "strided_slice"])
def test_file_cut_at_every_byte(key: str) -> None:
    data = SMALL[key]
    refused = Counter(outcome(data[:length]) for length in range(len(data)))
    # The last bytes are the smallest vtable or padding of a buffer nobody reads: few cuts may pass.
    assert refused["ok"] <= 16
    assert refused["E302"] > len(data) // 2


def test_model_with_everything_cut_at_many_bytes() -> None:
    data = everything()
    refused = Counter(outcome(data[:length]) for length in range(0, len(data), 7))
    assert refused["E302"] > len(data) // 7 - 4


@given(st.binary(max_size=400))
@settings(max_examples=examples(200), deadline=None)
def test_any_bytes_behind_the_magic(tail: bytes) -> None:
    assert outcome(struct.pack("<I", 8) + b"TFL3" + tail) != "ok"


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(100), deadline=None)
def test_any_root_offset(root: int) -> None:
    data = everything()
    assert outcome(struct.pack("<I", root) + data[4:]) in ("ok", "E302", "E303", "E305")


@given(st.data())
@settings(max_examples=examples(300), deadline=None)
def test_several_words_overwritten(data: st.DataObject) -> None:
    """Hypothesis shrinks to the fewest words, should one of these ever fail."""
    file = bytearray(everything())
    positions = st.integers(0, len(file) // 4 - 1)
    words = st.one_of(st.sampled_from(WORDS), st.integers(-(2**31), 2**31 - 1))
    for position, word in data.draw(st.lists(st.tuples(positions, words), min_size=1, max_size=4)):
        file[4 * position : 4 * position + 4] = struct.pack("<i", word)
    outcome(bytes(file))


CHILD = """
import os, resource, sys
from pathlib import Path
from codegen.errors import CodegenError
from codegen.importers import load

def loaded(path):
    resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
    try:
        load(path)
    except CodegenError as error:
        path.with_suffix(".said").write_text(str(error.messages[0]))
        return int(error.exit_code)
    return 0

for path in map(Path, sys.argv[1:]):
    if not (child := os.fork()):
        os._exit(loaded(path))
    print(path.stem, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
"""Each file in a process of its own; only importing was done before."""


def _run(folder: Path, files: Mapping[str, Callable[[], bytes]]) -> dict[str, tuple[int, str]]:
    """Exit code and message by file; the timeout is there to end a hang, it measures nothing."""
    paths = [written(folder, f"{name}.tflite", make()) for name, make in files.items()]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CHILD, *map(str, paths)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    assert not done.stderr
    codes = [line.split() for line in done.stdout.splitlines()]
    said = {name: folder / f"{name}.said" for name in files}
    return {name: (int(code), said[name].read_text() if said[name].exists() else "") for name, code in codes}


def _huge_shapes() -> bytes:
    patch = Patch(everything())
    for name in ("q", "c", "d", "c/w"):
        for axis in range(4):
            patch.element(patch.tensor(name), 0, axis, "<i", 2**31 - 1)
    return patch.build()


def _huge_paddings() -> bytes:
    return one_op("PAD", (2, 2), (2, 2), ([[0, 2**31 - 1], [2**31 - 1, 0]],))


def _huge_strides() -> bytes:
    huge = 2**31 - 1
    sizes: dict[str, Any] = {"stride_w": huge, "stride_h": huge, "filter_width": huge, "filter_height": huge}
    return one_op("AVERAGE_POOL_2D", (1, 4, 4, 1), (1, 1, 1, 1), padding="SAME", activation="tanh", **sizes)


def _zeros_behind_the_magic() -> bytes:
    return struct.pack("<I", 8) + b"TFL3" + bytes(100 << 20)


FILES: dict[str, Callable[[], bytes]] = {
    "many_tensors": lambda: shared_tables(
        tensors=limits.MAX_TENSORS, buffers=limits.MAX_BUFFERS, name_bytes=2000
    ),
    "many_operators": lambda: shared_tables(
        tensors=2, operators=limits.MAX_OPERATORS, codes=limits.MAX_OPERATOR_CODES
    ),
    "many_operands": lambda: shared_tables(tensors=2, operators=4000, inputs=4000),
    "many_scales": lambda: shared_tables(tensors=8000, channels=100_000),
    "long_names": lambda: shared_tables(tensors=8000, name_bytes=60_000),
    "name_too_long": lambda: shared_tables(name_bytes=limits.MAX_NAME_BYTES + 1),
    "too_many_tensors": lambda: shared_tables(tensors=limits.MAX_TENSORS + 1),
    "too_many_subgraphs": lambda: shared_tables(subgraphs=limits.MAX_SUBGRAPHS + 1),
    "rank": lambda: shared_tables(tensors=2, rank=limits.MAX_RANK + 1),
    "large_buffers": lambda: shared_tables(tensors=2, buffers=limits.MAX_BUFFERS, buffer_bytes=100 << 20),
    "huge_shapes": _huge_shapes,
    "huge_paddings": _huge_paddings,
    "huge_strides": _huge_strides,
    "zeros": _zeros_behind_the_magic,
}
EXPECTED = {
    "many_operands": "E305",
    "many_scales": "E305",
    "name_too_long": "E305",
    "too_many_tensors": "E305",
    "too_many_subgraphs": "E305",
    "rank": "E305",
    "huge_shapes": "E305",
    "huge_strides": "E301",
}


def test_nasty_files(tmp_path: Path) -> None:
    answers = _run(tmp_path, FILES)
    assert set(answers) == set(FILES)
    for name, (code, text) in answers.items():
        assert code == 3, name
        assert text.startswith(f"error[{EXPECTED.get(name, 'E3')}"), name


def test_large_honest_model_fits(tmp_path: Path) -> None:
    """Constants of nearly the largest file: held once as the file, once as the module's own."""
    model = ModelBuilder()
    x, y = model.tensor("x", (1, 1000), "float32"), model.tensor("y", (1, 30_000), "float32")
    weights = model.tensor("w", (30_000, 1000), "float32", data=np.zeros((30_000, 1000), np.float32))
    model.op("FULLY_CONNECTED", [x, weights], [y])
    model.inputs(x)
    model.outputs(y)
    assert _run(tmp_path, {"large": model.build}) == {"large": (0, "")}
