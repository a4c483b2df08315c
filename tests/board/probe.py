"""Three hand-written models that do what their inputs say, built into the test firmware of a board.

`pattern`: 64-byte input; output[i] = input[63 - i] ^ i. Pool of 208 bytes, peak 203. input[0] picks a
mischief (see MISCHIEF). Two steps: `fill` writes 100 bytes at offset 103, `flip` the output at 0.
`stack`: uses exactly 200 bytes of stack.   `loop`: a known number of instructions.
`broken`: its input lies where no memory is, so that the link itself faults.
"""

import hashlib
from pathlib import Path

from codegen.board import session
from codegen.emit.firmware.folder_files import firmware_files, firmware_headers
from codegen.emit.gathered.runtime_files import included_headers
from codegen.ir import Board
from codegen.program.image import BenchModel, Image, ProductFunctions, RunRequest, RunResult, Sources, Trace
from codegen.toolchain import build

PEAK_BYTES, POOL_BYTES, SIZE = 203, 208, 64
STACK_BYTES = 200
LOOP_INSTRUCTIONS = 2 * 100_000

MISCHIEF = {
    "none": 0,
    "behind": 200,
    "front": 201,
    "far": 202,
    "null": 203,
    "code": 204,
    "divide": 205,
    "overflow": 206,
    "undefined": 207,
    "endless": 208,
    "status": 209,
    "hole": 210,
    "stale": 211,
    "top": 212,
    "near": 213,
    "unaligned": 214,
}

SOURCE = """\
#include <string.h>

#include "cg_bench.h"

cg_status pattern_run(void);

uint8_t pattern_POOL_pool[208] CG_SECTION(".bss.cg.POOL") CG_ALIGNED(16);
uint8_t stack_POOL_pool[16] CG_SECTION(".bss.cg.POOL") CG_ALIGNED(16);

#if defined(__riscv)
#define UNDEFINED "unimp"
#define UNALIGNED "lw t0, 0(%0)"
#define CLOBBERED "t0"
#define TAKE_200  "   addi sp, sp, -200\\n   li t0, 0x11\\n   sw t0, 0(sp)\\n   addi sp, sp, 200\\n" \
                  "   li a0, 0\\n   ret\\n"
#define LOOP      "   li t0, 100000\\n1: addi t0, t0, -1\\n   bnez t0, 1b\\n   li a0, 0\\n   ret\\n"
#else
#define UNDEFINED "udf #1"
#define UNALIGNED "ldr r0, [%0, #0]"
#define CLOBBERED "r0"
#define TAKE_200  ".syntax unified\\n   sub sp, #200\\n   movs r0, #0x11\\n   str r0, [sp]\\n" \
                  "   add sp, #200\\n   movs r0, #0\\n   bx lr\\n"
#define LOOP      ".syntax unified\\n   ldr r0, =100000\\n1: subs r0, #1\\n   bne 1b\\n" \
                  "   bx lr\\n   .ltorg\\n"
#endif

volatile uint32_t pattern_address = ADDRESS;
volatile int pattern_zero;
volatile uint8_t pattern_sink;

static void deep(uint32_t depth)
{
    volatile uint8_t room[64];
    room[0] = (uint8_t)depth;
    if (depth != 0) {
        deep(depth - 1u);
    }
    pattern_sink = room[0];
}

static volatile uint8_t *pool_byte(uint32_t offset)
{
    return (volatile uint8_t *)((uintptr_t)pattern_POOL_pool + (uintptr_t)offset);
}

static volatile uint8_t *byte_at(uint32_t address)
{
    return (volatile uint8_t *)(uintptr_t)address;
}

static void mischief(uint8_t kind)
{
    switch (kind) {
    case 200: /* 0xA5 is one of the paints: the other shows it */
        *pool_byte(208) = 0xA5;
        break;
    case 201:
        *pool_byte((uint32_t)-1) = 0x5A;
        break;
    case 202:
        *byte_at(pattern_address) = 1;
        break;
    case 203:
        *byte_at(0) = 1;
        break;
    case 204:
        *byte_at((uint32_t)(uintptr_t)&deep) = 1;
        break;
    case 205:
        pattern_sink = (uint8_t)(1000 / pattern_zero);
        break;
    case 206:
        deep(100000);
        break;
    case 207:
        __asm__ volatile(UNDEFINED);
        break;
    case 208:
        for (;;) {
            pattern_sink = 0;
        }
    case 210:
        *byte_at(0x2002FFFCu) = 1;
        break;
    case 211:
        pattern_POOL_pool[0] = *pool_byte(205);
        break;
    case 212: /* highest byte of the array, which the plan does not use */
        *pool_byte(207) = 1;
        break;
    case 213: /* behind the guard band, still inside the region */
        *pool_byte(208u + 8192u) = 1;
        break;
    case 214:
        __asm__ volatile(UNALIGNED ::"r"(&pattern_POOL_pool[1]) : CLOBBERED, "memory");
        break;
    default:
        break;
    }
}

static cg_status run_pattern(void)
{
    uint8_t *const pool = pattern_POOL_pool;
    const uint8_t kind = pool[0];
    if (kind == 209) {
        return pattern_run();
    }
    CG_STEP_BEGIN(0);
    for (uint32_t i = 0; i < 100u; i++) {
        pool[103u + i] = i < 64u ? pool[i] : (uint8_t)i;
    }
    CG_STEP_END(0);
    CG_STEP_BEGIN(1);
    for (uint32_t i = 0; i < 64u; i++) {
        pool[i] = (uint8_t)(pool[103u + 63u - i] ^ i);
    }
    mischief(kind);
    CG_STEP_END(1);
    return CG_OK;
}

__attribute__((naked)) static cg_status run_stack(void)
{
    __asm__ volatile(TAKE_200);
}

__attribute__((naked)) static cg_status run_loop(void)
{
    __asm__ volatile(LOOP);
}

static const cg_bench_tensor inputs[] = {{"x", pattern_POOL_pool, 64}};
static const cg_bench_tensor outputs[] = {{"y", pattern_POOL_pool, 64}};
static const cg_bench_pool pools[] = {{"POOL", pattern_POOL_pool, 208, 203, 32}};
static const cg_bench_pool small[] = {{"POOL", stack_POOL_pool, 16, 0, 32}};
static const cg_bench_step steps[] = {
    {"fill", pattern_POOL_pool + 103, 100}, {"flip", pattern_POOL_pool, 64}, {"view", NULL, 0}};

static const cg_bench_model pattern = {
    .name = "pattern", .sha256 = {DIGEST}, .run = run_pattern, .inputs = inputs,
    .outputs = outputs, .pools = pools, .steps = steps, .input_count = 1, .output_count = 1,
    .pool_count = 1, .step_count = 3};
static const cg_bench_model stack = {
    .name = "stack", .sha256 = {DIGEST}, .run = run_stack, .pools = small, .pool_count = 1};
static const cg_bench_model loop = {
    .name = "loop", .sha256 = {DIGEST}, .run = run_loop, .pools = small, .pool_count = 1};
static const cg_bench_tensor nowhere[] = {{"x", (void *)ADDRESS, 16}};
static const cg_bench_model broken = {
    .name = "broken", .sha256 = {DIGEST}, .run = run_stack, .inputs = nowhere, .pools = small,
    .input_count = 1, .pool_count = 1};
const cg_bench_model *const cg_bench_models[] = {&pattern, &stack, &loop, &broken};
const uint32_t cg_bench_model_count = 4;
const uint8_t cg_bench_build_sha256[32] = {DIGEST};
"""

PRODUCT = """\
#include "cg_runtime.h"

cg_status pattern_run(void);
cg_status pattern_run(void)
{
    return CG_ERR_NULL_POINTER;
}
"""
"""The toolchain measures a product; the probe has none worth measuring."""

DIGEST = hashlib.sha256(b"probe").digest()


def firmware(folder: Path, board: Board, *, address: int, pool: str | None = None) -> Image:
    """The probe built for `board` with its pools in region `pool`; mischief `far` writes to `address`."""
    name = pool or board.data_region.lower()
    text = SOURCE.replace("POOL", name).replace("ADDRESS", f"{address:#x}u")
    text = text.replace("DIGEST", ", ".join(map(str, DIGEST)))
    code = {"probe.c": text, "product.c": PRODUCT, **firmware_files(board, ())}
    files = {**code, **firmware_headers(code.values()), **included_headers(code.values())}
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    sources = Sources(
        files=files,
        c_files=tuple(path for path in sorted(files) if path.endswith(".c")),
        model_files=("product.c",),
        include_dirs=(".", "firmware", "firmware/bench", "firmware/core"),
        linker_script="firmware/link.ld",
        functions=ProductFunctions(entries=("pattern_run",)),
        prefix="pattern",
        build_sha256=DIGEST.hex(),
    )
    return build(sources, folder, board)


def run(image: Image, board: Board, asked: RunRequest, *, port: str | None = None) -> RunResult:
    """Answer one request in a session of its own."""
    with session(image, board, port=port) as target:
        return target.run(asked)


def request(*kinds: str, model: int = 0, trace: Trace = Trace.NONE, pool: str = "sram") -> RunRequest:
    """One case for each mischief (`pattern`), or a run of another model."""
    cases = tuple((case(kind),) for kind in kinds) if model == 0 else ((),)
    return RunRequest(
        model=BenchModel(
            number=model,
            sha256=DIGEST.hex(),
            output_sizes=(SIZE,) if model == 0 else (),
            pools=(pool,),
            step_sizes=(100, SIZE, 0) if model == 0 else (),
        ),
        cases=cases,
        trace=trace,
    )


def case(kind: str) -> bytes:
    """Input of `pattern` that does mischief `kind`."""
    return bytes([MISCHIEF[kind], *range(1, SIZE)])


def filled(data: bytes) -> bytes:
    """Result of step 0."""
    return data + bytes(range(64, 100))


def flipped(data: bytes) -> bytes:
    """Result of step 1, the output."""
    return bytes(data[63 - i] ^ i for i in range(SIZE))
