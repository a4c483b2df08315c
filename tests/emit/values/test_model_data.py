"""The text of constants: each number as it would be written alone, bytes that several readers share."""

import re
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.constants.linking import link
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.emit import render, write
from codegen.emit.c.c_tables import bit_rows, numbers, table_rows
from codegen.emit.c.spelling import float32
from codegen.emit.model.structs import constant_addresses
from codegen.joint import together
from codegen.kernels.contract import LinkedConstant
from codegen.problem.problem import Pool
from tests.emit import samples
from tests.emit.compiling import compile_all, run_main
from tests.emit.variants import changed
from tests.networks import model_path
from tests.plan.growth import calls

FLASH = Pool(name="flash", region="FLASH", limit_bytes=1 << 20, section=".rodata.cg.flash")

GIVEN: dict[str, tuple[np.ndarray, int]] = {
    "bytes": (np.array([1, -2, 3, -4, 5], np.int8), 1),
    "part": (np.array([3, -4], np.int8), 2),
    "words": (np.array([7, -8, 9], np.int32), 4),
    "last_word": (np.array([9], np.int32), 4),
    "word_bytes": (np.array([7, 0, 0, 0, 0xF8], np.uint8), 1),
    "later_bytes": (np.array([0xFF, 9], np.uint8), 1),
    "integers": (np.zeros(2, np.int32), 4),
    "floats": (np.zeros(2, np.float32), 4),
    "characters": (np.zeros(8, np.int8), 1),
}
C_TYPES = {"int8": "int8_t", "uint8": "uint8_t", "int32": "int32_t", "float32": "float"}


@pytest.mark.parametrize("level", ["-Os", "-O3"])
@pytest.mark.parametrize("aliasing", ["-fno-strict-aliasing", "-fstrict-aliasing"])
def test_everyone_reads_their_values(level: str, aliasing: str, tmp_path: Path) -> None:
    program = samples.counter()
    own = [(prim.name, constant) for prim in program.steps.prim_funcs for constant in prim.constants]
    extra = [
        ("lut0", LinkedConstant(role=role, data=data, alignment=alignment))
        for role, (data, alignment) in GIVEN.items()
    ]
    program = changed(program, "constants", pools=link((), (FLASH,), [*own, *extra]))
    (pool,) = program.constants.pools
    names = [member.name for member in pool.members]
    assert [name for name in names if name not in ("lut0_table", "concat2_row_bytes")] == [
        "lut0_words",
        "lut0_integers",
        "lut0_bytes",
    ]
    bundle = together([program])
    sources = render(bundle)
    header = sources.files["counter_data.h"]
    integers = "int32_t lut0_integers[2]; float lut0_integers_float32[2]; uint32_t lut0_integers_uint32[2];"
    assert f"union {{ {integers} }};" in header
    write(sources, tmp_path)
    compile_all(sources, tmp_path, ("gcc",), level)
    addresses = constant_addresses(bundle, program)
    lines: list[str] = []
    for role, (data, _) in GIVEN.items():
        pointer = f"static const {C_TYPES[data.dtype.name]} *const {role} = {addresses['lut0', role]};"
        lines.append(
            f"{pointer}\n#define SHOW_{role} for (i = 0; i < {data.size}; i++) "
            f'{{ printf("%g ", (double){role}[i]); }} printf("\\n");'
        )
    shows = "\n".join(f"    SHOW_{role}" for role in GIVEN)
    main = '#include <stdio.h>\n#include "counter_data.h"\n' + "\n".join(lines)
    main += f"\nint main(void)\n{{\n    int i;\n{shows}\n    return 0;\n}}\n"
    printed = run_main(sources, tmp_path, main, level, aliasing)
    expected = [" ".join(f"{float(value):g}" for value in data.tolist()) for data, _ in GIVEN.values()]
    assert [line.strip() for line in printed.splitlines()] == expected


@pytest.mark.parametrize("board", ["host", "microbit", "mps2-an385", "mps2-an386", "mps3-an547"])
@pytest.mark.sampled(3)
def test_every_table_of_weights_says_its_layout(board: str) -> None:
    """Whoever opened <model>_data.c saw numbers, and not which weight was where."""
    options = Options(board=board, planner="greedy_by_size", schedule="file", compress="off", stage="off")
    program = plan_model(model_path("ds_cnn"), load_board(board), options).program
    text = render(together([program])).files["ds_cnn_data.c"]
    tables = re.findall(r"(.*)\n    \.(\w+) = \{\n", text)
    assert len(tables) >= 10
    assert not [name for before, name in tables if not re.fullmatch(r"    /\* \S.*\S \*/", before)]


def test_every_float_is_written_as_it_is_alone() -> None:
    generator = np.random.default_rng(1)
    bits = generator.integers(0, 1 << 32, 2_000, dtype=np.uint32)
    every = bits.view(np.float32)
    some = [0.0, -0.0, 1.0, -1.0, 1e-45, 3.4e38, 16_777_216.0, 0.1, 1e16, 1e-5]
    finite = np.concatenate([every[np.isfinite(every)], np.array(some, np.float32)])
    texts = numbers(finite)
    assert texts == [float32(float(value)) for value in finite]
    back = np.array([np.float32(text.removesuffix("f")) for text in texts])
    assert back.tobytes() == finite.tobytes()
    odd = np.array([1.5, np.inf, -np.inf, np.nan], np.float32)
    assert numbers(odd) == ["1.5f", "INFINITY", "-INFINITY", "NAN"]


def test_every_byte_is_written_as_its_number() -> None:
    assert numbers(np.arange(-128, 128, dtype=np.int8)) == [str(value) for value in range(-128, 128)]
    assert numbers(np.arange(256, dtype=np.uint8)) == [str(value) for value in range(256)]


def read_bits(rows: list[str], dtype: type[np.integer]) -> np.ndarray:
    """The integers of a table in hexadecimal; raises OverflowError for more bits than the type has."""
    cells = [cell.strip().removesuffix("u") for row in rows for cell in row.rstrip(",").split(",")]
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    return np.array([int(cell, 16) for cell in cells], unsigned).view(dtype)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32])
def test_integers_in_hexadecimal_are_rows_of_sixteen_bytes(dtype: type[np.integer]) -> None:
    limits = np.iinfo(dtype)
    data = np.array([limits.min, -1 if limits.min else 1, 0, 1, limits.max] * 7, dtype)
    rows = bit_rows(data)
    assert np.array_equal(read_bits(rows, dtype), data)
    assert {row.count("0x") * data.itemsize for row in rows[:-1]} == {16}


def test_rows_of_few_different_numbers_are_aligned_like_others() -> None:
    data = np.array([-128, 5, 40, 7] * 9, np.int8)
    rows = table_rows(numbers(data))
    assert [cell.strip() for row in rows for cell in row.rstrip(",").split(",")] == list(map(str, data))
    widths = {len(cell) for row in rows for cell in row.strip().rstrip(",").split(", ")}
    assert widths == {4}


def test_weights_are_written_without_work_on_each_alone() -> None:
    """A network of 3.9 million int8 weights took 3 s of processor time to write: each was formatted, measured
    and padded alone."""
    data = np.random.default_rng(1).integers(-128, 128, 40_000).astype(np.int8)
    assert calls(lambda: table_rows(numbers(data))) < len(data) / 4
