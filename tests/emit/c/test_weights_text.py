"""The text of weights: millions of numbers, each as it would be written alone."""

import numpy as np

from codegen.emit.c.literals import float32
from codegen.emit.values.constants import numbers, table_rows
from tests.plan.growth import calls


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
