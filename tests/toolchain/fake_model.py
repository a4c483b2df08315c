"""A hand-written model of three steps, its test link and a bare firmware: sources as emit will write them.

Pool `sram`, 64 bytes, planned peak 50:  input [0, 16)  first [16, 40)  second [40, 50)  output [0, 8).
step 0: first[i] = input[i mod 16] + i     step 1: second[i] = first[i] ^ first[i + 10]
step 2: output[i] = second[i] + second[i + 2]
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from codegen import resources
from codegen.ir import Board, Region, Runner, Target
from codegen.program.image import BenchModel, ProductFunctions, RunRequest, Sources, Trace

SHA256 = hashlib.sha256(b"tiny").digest()
STEPS = ("first", "second", "third")
INPUT_BYTES, OUTPUT_BYTES, PEAK_BYTES, POOL_BYTES = 16, 8, 50, 64

MODEL = """\
#include "tiny.h"
#include "tiny_data.h"
#include "kernels.h"

uint8_t tiny_sram_pool[64] CG_SECTION(".bss.cg.sram") CG_ALIGNED(16);

cg_status tiny_run(void)
{
    CG_STEP_BEGIN(0);
    tiny_first(tiny_sram_pool + FIRST, tiny_sram_pool);
    CG_STEP_END(0);
    CG_STEP_BEGIN(1);
    tiny_second(tiny_sram_pool + 40, tiny_sram_pool + 16);
    CG_STEP_END(1);
    CG_STEP_BEGIN(2);
    tiny_third(tiny_sram_pool, tiny_sram_pool + 40);
    CG_STEP_END(2);
    return CG_OK;
}
"""

KERNELS = """\
#include "kernels.h"

void tiny_first(uint8_t *out, const uint8_t *in)
{
    for (uint32_t i = 0; i < 24u; ++i) {
        out[i] = (uint8_t)(in[i % 16u] + i);
    }
}

void tiny_second(uint8_t *out, const uint8_t *in)
{
    for (uint32_t i = 0; i < 10u; ++i) {
        out[i] = in[i] ^ in[i + 10u];
    }
}

void tiny_third(uint8_t *out, const uint8_t *in)
{
    for (uint32_t i = 0; i < 8u; ++i) {
        out[i] = (uint8_t)(in[i] + in[i + 2u]);
    }
}

void tiny_unused(uint8_t *out)
{
    out[0] = 1;
}
"""

BENCH = """\
#include "cg_bench.h"
#include "tiny.h"
#include "tiny_data.h"

static const cg_bench_tensor inputs[] = {{"x", tiny_sram_pool, 16}};
static const cg_bench_tensor outputs[] = {{"y", tiny_sram_pool, 8}};
static const cg_bench_pool pools[] = {{"sram", tiny_sram_pool, 64, 50, 32}};
static const cg_bench_step steps[] = {
    {"first", tiny_sram_pool + 16, 24},
    {"second", tiny_sram_pool + 40, 10},
    {"third", tiny_sram_pool, 8},
};
static const cg_bench_live live[] = {
    {0, 0, 0, 16},
    {0, 0, 16, 24},
    {1, 0, 16, 24},
    {1, 0, 40, 10},
    {2, 0, 40, 10},
    {2, 0, 0, 8},
};
static cg_status run(void)
{
    return tiny_run();
}
const cg_bench_model tiny_bench = {
    .name = "tiny",
    .sha256 = {SHA256},
    .run = run,
    .inputs = inputs,
    .outputs = outputs,
    .pools = pools,
    .steps = steps,
    .live = live,
    .input_count = 1,
    .output_count = 1,
    .pool_count = 1,
    .step_count = 3,
    .live_count = sizeof live / sizeof live[0],
};
const cg_bench_model *const cg_bench_models[] = {&tiny_bench};
const uint32_t cg_bench_model_count = 1;
"""

STARTUP = """\
#include "cg_bench.h"

void cg_step_begin(uint32_t step)
{
    (void)step;
}
void cg_step_end(uint32_t step)
{
    (void)step;
}
void reset(void);
void reset(void)
{
    for (;;) {
        (void)cg_bench_models[0]->run();
    }
}
extern const uint32_t vectors[];
__attribute__((section(".vectors"), used)) static void (*const table[])(void) = {reset, reset};
"""

SCRIPT = """\
ENTRY(reset)
MEMORY
{
  FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 64K
  SRAM (rwx) : ORIGIN = 0x20000000, LENGTH = 8K
}
SECTIONS
{
  .text : { KEEP(*(.vectors)) *(.text .text.*) } > FLASH
  .rodata : { *(.rodata .rodata.*) } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) } > FLASH
  .data : { *(.data .data.*) } > SRAM AT> FLASH
  .pool : { *(.bss.cg.sram) } > SRAM
  .bss : { *(.bss .bss.*) *(COMMON) } > SRAM
}
"""

M4_FLAGS = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")


def arm_board(flags: tuple[str, ...] = M4_FLAGS, *, sram_address: int = 0x20000000) -> Board:
    """A board with 64 KiB of FLASH and 8 KiB of SRAM."""
    flash = Region(name="FLASH", address=0x08000000, size_bytes=64 << 10, writable=False, executable=True)
    sram = Region(name="SRAM", address=sram_address, size_bytes=8 << 10, writable=True)
    return Board(
        name="tiny",
        title="a board for tests",
        target=Target(cpu="cortex-m4", compiler_flags=flags),
        runner=Runner.QEMU,
        regions=(flash, sram),
        code_region="FLASH",
        data_region="SRAM",
        stack_bytes=1024,
        reserved_bytes=2048,
    )


def host_board() -> Board:
    """The machine the tests run on."""
    sram = Region(name="SRAM", address=0, size_bytes=1 << 20, writable=True)
    return Board(
        name="host",
        title="this machine",
        target=Target(cpu="host"),
        runner=Runner.HOST,
        regions=(sram,),
        code_region="SRAM",
        data_region="SRAM",
        stack_bytes=65536,
        reserved_bytes=0,
        buffer_alignment_bytes=8,
    )


Edits = Mapping[str, tuple[str, str]]


def sources(board: Board, *, first: int = 16, replace: Edits | None = None) -> Sources:
    """Files of the model on `board`. `first` is where step 0 really writes; `replace`: path -> (old, new)."""
    prototypes = "".join(f"void tiny_{name}(uint8_t *out, const uint8_t *in);\n" for name in STEPS)
    prototypes += "void tiny_unused(uint8_t *out);\n"
    include = resources.folder("runtime_c") / "include"
    files = {
        "tiny.h": '#include "cg_runtime.h"\ncg_status tiny_run(void);\n',
        "tiny_data.h": "#include <stdint.h>\nextern uint8_t tiny_sram_pool[64];\n",
        "tiny.c": MODEL.replace("FIRST", str(first)),
        "runtime/include/cg_runtime.h": (include / "cg_runtime.h").read_text(),
        "runtime/include/cg_bench.h": (include / "cg_bench.h").read_text(),
        "runtime/include/kernels.h": "#include <stdint.h>\n" + prototypes,
        "runtime/kernels/tiny.c": KERNELS,
        "firmware/tiny_bench.c": BENCH.replace("SHA256", ", ".join(map(str, SHA256))),
    }
    c_files = ["tiny.c", "runtime/kernels/tiny.c", "firmware/tiny_bench.c"]
    script = None
    if board.runner is not Runner.HOST:
        script = "firmware/link.ld"
        files |= {script: SCRIPT, "firmware/startup.c": STARTUP}
        c_files.append("firmware/startup.c")
    for path, (old, new) in (replace or {}).items():
        assert old in files[path]
        files[path] = files[path].replace(old, new)
    return Sources(
        files=files,
        c_files=tuple(c_files),
        model_files=("tiny.c", "runtime/kernels/tiny.c"),
        include_dirs=(".", "runtime/include"),
        linker_script=script,
        functions=ProductFunctions(entries=("tiny_run",)),
        prefix="tiny",
    )


def write(files: Sources, folder: Path) -> Sources:
    """Write the files below `folder` and hand them back."""
    for path, text in files.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return files


def request(*cases: bytes, trace: Trace = Trace.NONE) -> RunRequest:
    """Run the cases (16 bytes each)."""
    return RunRequest(
        model=BenchModel(
            sha256=SHA256.hex(), output_sizes=(OUTPUT_BYTES,), pools=("sram",), step_sizes=(24, 10, 8)
        ),
        cases=tuple((case,) for case in cases),
        trace=trace,
    )


def asking(request: RunRequest, **changes: Any) -> RunRequest:
    """`request` with other cases, or with other fields of its model."""
    if "cases" in changes:
        return replace(request, **changes)
    return replace(request, model=replace(request.model, **changes))


def expected(case: bytes) -> tuple[bytes, bytes, bytes]:
    """What the three steps compute, by the formulas above."""
    first = bytes((case[i % 16] + i) & 255 for i in range(24))
    second = bytes(first[i] ^ first[i + 10] for i in range(10))
    return first, second, bytes((second[i] + second[i + 2]) & 255 for i in range(8))
