"""The decoder in C, under AddressSanitizer and UBSan, every buffer as long as the contract says."""

import struct
import subprocess
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from codegen.plan.constants.coding import Coder
from tests.kernels.calling import RUNTIME, WARNINGS

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cg_unpack.h"

static uint32_t number(FILE *file)
{
    uint32_t value = 0;
    if (fread(&value, sizeof value, 1, file) != 1) {
        exit(3);
    }
    return value;
}

static uint8_t *bytes(FILE *file, size_t count)
{
    uint8_t *const found = malloc(count);
    if (found == NULL || fread(found, 1, count, file) != count) {
        exit(4);
    }
    return found;
}

int main(int argc, char **argv)
{
    FILE *const file = (argc == 2) ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        return 2;
    }
    for (uint32_t cases = number(file); cases > 0u; cases--) {
        const size_t total = number(file), stored_bytes = number(file), table_bytes = number(file);
        uint8_t *const expected = bytes(file, total), *const stored = bytes(file, stored_bytes);
        const uint8_t *from = &stored[table_bytes], *left = expected;
        for (uint32_t pieces = number(file); pieces > 0u; pieces--) {
            const size_t size = number(file), end = number(file);
            uint8_t *const to = malloc(size);
            from = cg_unpack(to, size, stored, from);
            if (memcmp(to, left, size) != 0 || from != &stored[end]) {
                return 1;
            }
            left += size;
            free(to);
        }
        free(expected);
        free(stored);
    }
    puts("all decoded");
    return 0;
}
"""


def cases(seed: int) -> list[tuple[bytes, tuple[int, ...]]]:
    """Data of many distributions and lengths, in pieces of many sizes."""
    random = np.random.default_rng(seed)
    found: list[tuple[bytes, tuple[int, ...]]] = []
    for _ in range(250):
        size = int(random.integers(1, 700))
        spread = float(random.choice([0.0, 0.3, 2.0, 9.0, 40.0, 400.0]))
        values = (
            np.round(random.normal(0, spread, size)).astype(np.int64) if spread else np.zeros(size, np.int64)
        )
        cuts = random.integers(1, size, int(random.integers(0, 6))) if size > 1 else np.zeros(0, np.int64)
        edges = [0, *sorted(set(cuts.tolist())), size]
        pieces = tuple(stop - start for start, stop in pairwise(edges))
        found.append(((values & 255).astype(np.uint8).tobytes(), pieces))
    return found


def described(data: bytes, pieces: tuple[int, ...]) -> bytes:
    """A case as the program reads it."""
    coder = Coder(data)
    packing = coder.packing(pieces)
    stored = coder.packed(packing)
    rows = [struct.pack("=I", len(pieces))]
    end = packing.table_bytes
    _, lengths = coder.code.words()
    values, start = np.frombuffer(data, np.uint8), 0
    for size in pieces:
        end += -(-int(lengths[values[start : start + size]].sum()) // 8)
        start += size
        rows.append(struct.pack("=II", size, end))
    head = struct.pack("=III", len(data), len(stored), packing.table_bytes)
    return b"".join((head, data, stored, *rows))


@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_it_decodes_what_was_packed_and_reads_nothing_else(level: str, tmp_path: Path) -> None:
    found = cases(seed=4)
    written = b"".join(described(data, pieces) for data, pieces in found)
    (tmp_path / "cases").write_bytes(struct.pack("=I", len(found)) + written)
    (tmp_path / "main.c").write_text(MAIN)
    program = tmp_path / "program"
    sources = [str(RUNTIME / "kernels" / "portable" / "unpack.c"), str(tmp_path / "main.c")]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = ["gcc", "-std=c11", level, "-g", *sanitizers, *WARNINGS, f"-I{RUNTIME / 'include'}", *sources]
    subprocess.run([*command, "-o", str(program)], check=True)
    ran = subprocess.run([str(program), str(tmp_path / "cases")], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "all decoded\n"), ran.stderr
