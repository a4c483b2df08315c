"""Pools and constants of the caller's: refused before anything runs, apart from each other."""

import shutil
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.emit import render, write
from codegen.emit.values.model_data import CONSTANTS_ABI, CONSTANTS_MAGIC
from codegen.joint import together
from codegen.program.interface import ConstantsMode, EntryMode, IoMode, PoolOwner
from tests.emit import samples
from tests.emit.compiling import call, run_main
from tests.emit.variants import owned

ARM = ("arm-none-eabi-gcc", "-std=c11", *samples.M4_FLAGS)
SANITIZED = ("-O1", "-fsanitize=address,undefined")

INTERLEAVED = """
#include <stdio.h>
#include <string.h>
#include "counter.h"
static uint8_t memory[2][2][64] CG_ALIGNED(16);
int main(void)
{
    static const int8_t x[2][4] = {{-128, -3, 0, 100}, {1, 2, 3, 4}};
    counter_workspace_pools pools[2];
    for (unsigned i = 0; i < 2; i++) {
        pools[i] = (counter_workspace_pools){memory[i][0], 64, memory[i][1], 64};
        memcpy(counter_input_x(&pools[i]), x[i], sizeof x[i]);
    }
    for (uint32_t step = 0; step < COUNTER_STEPS; step++) {
        for (unsigned i = 0; i < 2; i++) {
            if (counter_step(step, &pools[i]) != CG_OK) {
                return 1;
            }
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        const int8_t *const sum = counter_output_sum(&pools[i]);
        printf("%d %d %d %d\\n", sum[0], sum[1], sum[2], sum[3]);
    }
    return 0;
}
"""


def test_two_instances_take_turns_at_every_step(tmp_path: Path) -> None:
    """By hand: the mean of x + 2 and x + 4 is x + 3."""
    program = owned(samples.counter(), constants=ConstantsMode.LINKED, entry=EntryMode.STEPS)
    sources = render(together((program,)))
    write(sources, tmp_path / "out")
    assert run_main(sources, tmp_path / "out", INTERLEAVED, *SANITIZED) == "-125 0 3 103\n4 5 6 7\n"


POOLS = """
#include <stdio.h>
#include <string.h>
#include "mixed.h"
static uint8_t memory[2][64] CG_ALIGNED(16);
int main(void)
{
    static const float a[6] = {1.0f, -5.0f, 2.5f, 4.0f, 5.0f, -1.0f};
    static const float b[3] = {0.5f, 1.0f, 20.0f};
    float scaled[6] = {0};
    int8_t stored[6] = {0};
    const mixed_inputs inputs = {.double_ = a, .int8_t_ = b};
    const mixed_outputs outputs = {.class_ = scaled, .double_ = stored};
    const mixed_workspace_pools good = {.sram = memory[0], .sram_size_bytes = MIXED_SRAM_POOL_SIZE};
    mixed_workspace_pools none = good, small = good, odd = good;
    none.sram = NULL;
    small.sram_size_bytes--;
    odd.sram++;
    memset(memory, 0x5a, sizeof memory);
    printf("%d %d %d %d %d\\n", (int)mixed_run(NULL, &inputs, &outputs),
           (int)mixed_run(&none, &inputs, &outputs), (int)mixed_run(&small, &inputs, &outputs),
           (int)mixed_run(&odd, &inputs, &outputs), (int)mixed_run(&good, NULL, &outputs));
    for (unsigned i = 0; i < sizeof memory; i++) {
        if (((uint8_t *)memory)[i] != 0x5a) {
            return 1;
        }
    }
    for (unsigned i = 0; i < 6; i++) {
        if (scaled[i] != 0.0f || stored[i] != 0) {
            return 1;
        }
    }
    const cg_status status = mixed_run(&good, &inputs, &outputs);
    printf("%d %.2f\\n", (int)status, (double)scaled[0]);
    return 0;
}
"""


def test_pools_that_will_not_do_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    """NULL is 1, a size 4, an alignment 5; by hand: 1 + 0.5 = 1.5, a tenth of it 0.15."""
    program = owned(samples.mixed(), constants=ConstantsMode.LINKED)
    sources = render(together((program,)))
    write(sources, tmp_path / "out")
    assert run_main(sources, tmp_path / "out", POOLS, *SANITIZED) == "1 1 4 5 1\n0 0.15\n"


@pytest.mark.skipif(shutil.which(ARM[0]) is None, reason="the cross compiler is missing")
def test_no_static_byte_is_left_that_is_written(tmp_path: Path) -> None:
    """With pools and constants of the caller's, nothing of the product lies in .data or .bss."""
    program = owned(samples.counter(board=samples.ARM), entry=EntryMode.STEPS)
    sources = render(together((program,)))
    assert "static const struct" not in sources.files["counter.c"]
    assert "counter_sram_pool" not in sources.files["counter.c"] + sources.files["counter_data.h"]
    assert "counter_sram_pool" in sources.files["firmware/bench_pools.c"]
    write(sources, tmp_path / "out")
    include = [f"-I{path}" for path in sources.include_dirs]
    call([*ARM, "-Os", *include, "-c", "counter.c", "-o", "counter.o"], tmp_path / "out")
    sizes = call(["arm-none-eabi-size", "counter.o"], tmp_path / "out").splitlines()[1].split()
    assert sizes[1:3] == ["0", "0"]


IMAGES = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "counter.h"
#include "counter_data.h"
static uint8_t image[COUNTER_CONSTANTS_SIZE + 16u] CG_ALIGNED(16);
static uint8_t good[COUNTER_CONSTANTS_SIZE];
static int8_t sum[4];
static int try(size_t flipped, size_t offset, uint32_t size_bytes)
{
    memcpy(image + offset, good, sizeof good);
    if (flipped < sizeof good) {
        image[offset + flipped] ^= 0x10;
    }
    return (int)counter_set_constants(POOLS image + offset, size_bytes);
}
static int run(void)
{
    static const int8_t x[4] = {-128, -3, 0, 100};
    const counter_inputs inputs = {.x = x};
    const counter_outputs outputs = {.sum = sum};
    return (int)counter_run(POOLS &inputs, &outputs);
}
int main(void)
{
    FILE *const file = fopen("counter_constants.bin", "rb");
    if (file == NULL || fread(good, 1, sizeof good, file) != sizeof good || fgetc(file) != EOF) {
        return 1;
    }
    const size_t none = SIZE_MAX;
    int told;
    PREPARE
    told = run();
    printf("%d %d\\n", told, sum[3]);
    printf("%d ", (int)counter_set_constants(POOLS NULL, COUNTER_CONSTANTS_SIZE));
    printf("%d %d %d ", try(none, 1, COUNTER_CONSTANTS_SIZE), try(none, 0, COUNTER_CONSTANTS_SIZE - 1u),
           try(none, 0, COUNTER_CONSTANTS_SIZE + 1u));
    printf("%d %d %d ", try(0, 0, COUNTER_CONSTANTS_SIZE), try(4, 0, COUNTER_CONSTANTS_SIZE),
           try(8, 0, COUNTER_CONSTANTS_SIZE));
    printf("%d %d\\n", try(12, 0, COUNTER_CONSTANTS_SIZE), try(27, 0, COUNTER_CONSTANTS_SIZE));
    for (size_t i = 28; i < COUNTER_CONSTANTS_SIZE; i++) {
        if (try(i, 0, COUNTER_CONSTANTS_SIZE) != CG_ERR_CONSTANTS_CONTENT) {
            return 1;
        }
    }
    told = run();
    printf("%d %d\\n", told, sum[3]);
    printf("%d ", try(none, 0, COUNTER_CONSTANTS_SIZE));
    told = run();
    printf("%d %d\\n", told, sum[3]);
    printf("%d %d\\n", (int)counter_set_constants(POOLS good + 1, COUNTER_CONSTANTS_SIZE), run());
    return 0;
}
"""
OWN_POOLS = """static uint8_t memory[2][64] CG_ALIGNED(16);
static counter_workspace_pools own = {
    .sram = memory[0], .sram_size_bytes = 64, .ccm = memory[1], .ccm_size_bytes = 64};
#define POOLS &own,
static int try("""


@pytest.mark.parametrize("owner", PoolOwner)
@pytest.mark.parametrize("io", IoMode)
@pytest.mark.sampled()
def test_images_that_will_not_do_are_refused_each_with_its_code(
    tmp_path: Path, owner: PoolOwner, io: IoMode
) -> None:
    """6 before any was accepted; 1 NULL, 7 alignment, 8 size, 9 magic, 10 ABI, 8 size again, 11 layout.

    A bit that flips anywhere behind that is 12. An image that was accepted stays when the next one is not.
    """
    sources = render(together((owned(samples.counter(io=io), pools=owner),)))
    write(sources, tmp_path / "out")
    own = owner is PoolOwner.CALLER
    main = IMAGES.replace("PREPARE", "memset(memory, 0x5a, sizeof memory);" if own else "")
    main = main.replace("static int try(", OWN_POOLS, 1) if own else main.replace("POOLS ", "")
    printed = run_main(sources, tmp_path / "out", main, *SANITIZED)
    assert printed.splitlines() == ["6 0", "1 7 8 8 9 10 8 11 11", "6 0", "0 0 103", "7 0"]


def test_an_image_is_its_header_and_the_constants_as_they_are_linked() -> None:
    """Taken apart with `struct` and zlib's CRC, against the documented format."""
    program = owned(samples.counter(), pools=PoolOwner.STATIC)
    image = render(together((program,))).binaries["counter_constants.bin"]
    magic, abi, size = struct.unpack_from("<3I", image)
    assert (magic, abi, size) == (CONSTANTS_MAGIC, CONSTANTS_ABI, len(image))
    assert image[:4] == b"CGCK"
    assert struct.unpack_from("<I", image, 28)[0] == zlib.crc32(image[32:], zlib.crc32(image[:28]))
    (pool,) = program.constants.pools
    assert len(image) == 32 + pool.size_bytes
    for member in pool.members:
        start = 32 + member.offset
        assert image[start : start + member.data.nbytes] == member.data.tobytes()


def test_the_layout_knows_the_code_and_not_the_name_or_the_file() -> None:
    def layout(name: str = "counter", io: IoMode = IoMode.POOL, field: str = "x", **metadata: str) -> bytes:
        program = samples.counter(name, io=io, field=field)
        program = replace(program, metadata={**program.metadata, **metadata})
        return render(together((owned(program),))).binaries[f"{name}_constants.bin"][12:28]

    assert layout() == layout("other") == layout(sha256="ff" * 32, file="new.tflite", options="--seed 1")
    assert len({layout(), layout(io=IoMode.CALLER), layout(field="y")}) == 3


def test_what_takes_nothing_says_so() -> None:
    """`check_call()` without `void` is no prototype: clang warns of it."""
    program = owned(samples.counter(), pools=PoolOwner.STATIC)
    assert "static cg_status check_call(void)\n" in render(together((program,))).files["counter.c"]


def test_several_models_do_not_share_what_is_the_callers() -> None:
    models = (owned(samples.counter()), owned(samples.mixed()))
    with pytest.raises(ValueError, match="for one model"):
        render(together(models))
