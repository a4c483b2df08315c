"""Bytes of linked constants under codes that a small core can decode: why `cg_unpack` has the one it has.

python benchmarks/codes.py                      # the shared models, Cortex-M4
python benchmarks/codes.py --board microbit     # as the Cortex-M0's kernels pack them

Every constant is stored in the way that is smaller, as it is or coded, each code with a table of its own:
- entropy: what no code of single bytes goes below, without a table
- classes: `codegen.constants.coding`, as it is stored
- shared: the same code, one table for all constants of the model
- huffman: codes of at most 12 bits, lengths as the table (4 bits a symbol): decoded length by length
- lookup: codes of at most 10 bits, 2 bytes for each of 2^10 prefixes: decoded by one look-up
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen.board import load_board
from codegen.constants.coding import Coder, best_code
from codegen.driver.build import plan_model
from codegen.driver.options import Options

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("CODEGEN_TESTDATA") or HERE.parents[1] / "shared" / "testdata")
MODELS = (
    "mlperf_tiny/ad01_int8",
    "mlperf_tiny/kws_ref_model",
    "mlperf_tiny/vww_96_int8",
    "mlperf_tiny/pretrainedResnet_quant",
    "tflm/person_detect",
    "tflm/micro_speech_quantized",
    "tinyengine/vww",
)


def constants(model: str, board: str) -> list[bytes]:
    """Linked constants of a model as kernels read them. Raises CodegenError."""
    path = SHARED / "models" / f"{model}.tflite"
    program = plan_model(path, load_board(board), Options(board=board)).program
    return [member.data.tobytes() for pool in program.constants.pools for member in pool.members]


def entropy_bytes(counts: NDArray[np.int64]) -> float:
    """Of order 0."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log2(shares)).sum() * counts.sum() / 8)


def huffman_bytes(counts: NDArray[np.int64], most: int) -> float:
    """With codes of at most `most` bits (package-merge); infinite where there are more symbols."""
    leaves = sorted(int(count) for count in counts if count)
    if len(leaves) > 1 << most:
        return float("inf")
    packages: list[int] = []
    for _ in range(most):
        pairs = [sum(pair) for pair in zip(packages[::2], packages[1::2], strict=False)]
        packages = sorted([*leaves, *pairs])
    # The cost of the first 2n - 2 packages is the sum of lengths, each times its count.
    return sum(packages[: max(2 * len(leaves) - 2, 1)]) / 8


def row(data: bytes) -> list[float]:
    """Bytes of a constant under each code, at most as many as it has."""
    counts = np.bincount(np.frombuffer(data, np.uint8), minlength=256)
    coded = [
        entropy_bytes(counts),
        Coder(data).packing().stored_bytes,
        huffman_bytes(counts, 12) + 128,
        huffman_bytes(counts, 10) + 2048,
    ]
    return [len(data), *(min(size, len(data)) for size in coded)]


def shared_bytes(found: Sequence[bytes]) -> float:
    """Of all constants with one table of classes."""
    code = best_code(b"".join(found))
    _, lengths = code.words()
    bits = [int(lengths[np.frombuffer(data, np.uint8)].sum()) for data in found]
    return len(code.table) + sum(
        min(-(-each // 8), len(data)) for each, data in zip(bits, found, strict=True)
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--board", default="mps2-an386")
    parser.add_argument("--models", nargs="*", default=MODELS, help="below the shared test data's models")
    given = parser.parse_args()
    names = ("bytes", "entropy", "classes", "huffman", "lookup", "shared")
    print(f"{'model':36}" + "".join(f"{name:>10}" for name in names))
    for model in given.models:
        found = constants(model, given.board)
        totals = [*np.sum([row(data) for data in found], axis=0), shared_bytes(found)]
        print(f"{model:36}" + "".join(f"{round(total):>10,}" for total in totals))


if __name__ == "__main__":
    main()
