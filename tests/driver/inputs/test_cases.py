"""Input files: what fits is read, everything else is explained."""

from pathlib import Path

import numpy as np
import pytest

from codegen.driver.inputs.cases import ArraySource, pattern_case
from codegen.errors import CodegenError
from codegen.ir import DType, TensorType

INT8 = TensorType(shape=(1, 3), dtype=DType.INT8)
FLOAT = TensorType(shape=(2,), dtype=DType.FLOAT32)


def test_reads_plain_and_prefixed_arrays(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    np.savez(
        path,
        x0=np.array([1, 2, 3], np.int8),
        b_x0=np.array([[4, 5, 6]], np.int8),
        b_x1=np.zeros(2, np.float32),
    )
    (plain,) = ArraySource.parse(str(path)).read("x", [INT8], "input")
    assert plain.tolist() == [[1, 2, 3]]
    first, second = ArraySource.parse(f"{path}:b").read("x", [INT8, FLOAT], "input")
    assert first.tolist() == [[4, 5, 6]] and second.dtype == np.float32


def test_all_problems_of_a_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    np.savez(path, x0=np.array([1, 2], np.int8))
    with pytest.raises(CodegenError) as caught:
        ArraySource.parse(str(path)).read("x", [INT8, FLOAT], "input")
    wrong, missing = caught.value.messages
    assert wrong.code == "E222" and wrong.text == "array x0 is int8[2], input 0 is int8[1,3]"
    assert (
        missing.code == "E221" and missing.text == "no array x1 for input 1" and missing.help == "it holds x0"
    )


@pytest.mark.parametrize("content", [None, b"", b"not a zip", b"PK\x03\x04 broken"])
def test_unreadable_files(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "g.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CodegenError, match=r"error\[E220\].*cannot read arrays"):
        ArraySource.parse(str(path)).read("x", [INT8], "input")


def test_pattern_repeats_for_a_seed() -> None:
    one, two, other = (
        pattern_case([INT8, FLOAT], 3),
        pattern_case([INT8, FLOAT], 3),
        pattern_case([INT8, FLOAT], 4),
    )
    assert all(np.array_equal(a, b) for a, b in zip(one.inputs, two.inputs, strict=True))
    assert not np.array_equal(one.inputs[1], other.inputs[1])
