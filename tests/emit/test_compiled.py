"""Rendered folders compile without a warning, as C and as C++, and compute."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.emit import render, write
from codegen.joint import together
from codegen.program.interface import ConstantsMode, EntryMode, Interface, IoMode, PoolOwner
from codegen.program.program import Program
from tests.checkout import ROOT
from tests.emit import samples
from tests.emit.compiling import call, compile_all, run_main
from tests.emit.variants import on_core_1, owned, stepwise

LONGEST = "m" * 32


def _owners() -> tuple[Program, ...]:
    """Models whose pools and constants are the caller's: each in a folder of its own."""
    steps = EntryMode.STEPS
    return (
        owned(samples.counter(LONGEST, field="t" * 32), entry=steps),
        owned(samples.counter(LONGEST, io=IoMode.CALLER, field="t" * 32), pools=PoolOwner.STATIC),
        owned(samples.counter(LONGEST, field="t" * 32), constants=ConstantsMode.LINKED),
        owned(samples.mixed(), entry=steps),
        owned(samples.mixed(io=IoMode.POOL)),
        owned(samples.lasting(LONGEST), entry=steps),
        owned(on_core_1(samples.counter(LONGEST, field="t" * 32), "lut0", "lut1", "concat2", "mean4")),
        owned(on_core_1(samples.mixed(), "add0", "quantize3"), entry=steps),
    )


def _worst() -> tuple[Program, ...]:
    """The longest names a model and its tensors can have, beside ordinary ones."""
    longest = samples.counter(LONGEST, io=IoMode.CALLER, field="t" * 32)
    pool = samples.counter(LONGEST[:-1] + "n", field="t" * 32)
    return (
        samples.counter(),
        samples.mixed(),
        samples.bare(),
        samples.lasting(),
        longest,
        pool,
        samples.mixed("floats", io=IoMode.POOL),
        stepwise(samples.mixed("halting")),
        on_core_1(samples.mixed("apart"), "add0", "quantize3"),
        on_core_1(samples.counter("o" * 32, field="t" * 32), "lut0", "concat2", "mean4"),
        stepwise(samples.bare("thin")),
        stepwise(samples.counter("s" * 32, io=IoMode.CALLER, field="t" * 32)),
        stepwise(samples.counter("r" * 32, field="t" * 32)),
    )


def _refusing() -> tuple[Program, ...]:
    """Models that share their pools and refuse a second call, one of them step by step."""
    interface = Interface(busy_flag=True, entry=EntryMode.STEPS)
    programs = (samples.counter(LONGEST, field="t" * 32), samples.mixed(), samples.lasting())
    return tuple(replace(program, interface=interface) for program in programs)


def _bundles() -> list[tuple[Program, ...]]:
    """What is compiled together."""
    alone = replace(samples.counter(io=IoMode.CALLER), interface=Interface(busy_flag=True))
    return [_worst(), *((each,) for each in _owners()), _refusing(), (alone,)]


_COMPILERS = {"host": ("gcc",), "arm": ("arm-none-eabi-gcc", *samples.M4_FLAGS)}
_IN_SUITE = {("arm", "hooks", "-Os")}
_THOROUGH = {("host", "product", "-O3"), ("host", "hooks", "-O2"), ("arm", "product", "-O3")}
"""With these each compiler with and without hooks, each level; all combinations with `--long`."""


def _marks(combination: tuple[str, str, str]) -> tuple[pytest.MarkDecorator, ...]:
    if combination in _IN_SUITE:
        return ()
    return (pytest.mark.thorough if combination in _THOROUGH else pytest.mark.long,)


@pytest.mark.parametrize(
    ("compiler", "hooks", "level"),
    [
        pytest.param(
            _COMPILERS[name],
            ("-DCG_STEP_HOOKS",) if hooks == "hooks" else (),
            level,
            id=f"{name}-{hooks}-{level}",
            marks=_marks((name, hooks, level)),
        )
        for name in _COMPILERS
        for hooks in ("product", "hooks")
        for level in ("-Os", "-O2", "-O3")
    ],
)
def test_no_compiler_warns(
    tmp_path: Path, compiler: tuple[str, ...], hooks: tuple[str, ...], level: str
) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    done: set[str] = set()
    for number, bundle in enumerate(_bundles()):
        sources = render(together(bundle))
        write(sources, tmp_path / f"out{number}")
        compile_all(sources, tmp_path / f"out{number}", compiler, level, *hooks, done=done)


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_headers_compile_as_cpp(tmp_path: Path) -> None:
    sources = render(together(_worst()))
    write(sources, tmp_path / "out")
    headers = [path for path in sources.files if path.endswith(".h") and "/" not in path]
    text = "".join(f'#include "{path}"\n' for path in headers)
    text += "int main() { return counter_quantize_x(1.0f) == -1 ? 0 : 1; }\n"
    (tmp_path / "out" / "user.cpp").write_text(text)
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
    words = ["g++", *flags, "-I.", "user.cpp"]
    call([*words, "-c", "-o", "user.o"], tmp_path / "out")
    call([*words, "-DCG_NO_LINK_CHECKS", "-o", "user"], tmp_path / "out")
    call([str(tmp_path / "out" / "user")], tmp_path)


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="clang-format is not installed")
def test_clang_format_changes_nothing(tmp_path: Path) -> None:
    style = ROOT / ".clang-format"
    ending = ("_bench.c", "bench_models.c", "bench_pools.c")
    for number, bundle in enumerate(_bundles()):
        sources, folder = render(together(bundle)), tmp_path / f"out{number}"
        write(sources, folder)
        paths = [p for p in sources.files if p.endswith((".c", ".h")) and not p.startswith("runtime/")]
        ours = [p for p in paths if "/" not in p or p.endswith(ending)]
        call(["clang-format", f"--style=file:{style}", "--dry-run", "--Werror", *ours], folder)


def test_no_line_outside_tables_is_longer_than_100_columns() -> None:
    formatted = render(together([samples.counter(), samples.mixed()])).files
    long = [
        f"{path}:{number}"
        for path, text in formatted.items()
        if path.endswith((".c", ".h")) and not path.startswith("runtime/")
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > 100
    ]
    assert not long


COUNTER_POOL = """
#include <stdio.h>
#include <string.h>
#include "counter.h"
static void show(const int8_t *values)
{
    printf("%d %d %d %d\\n", values[0], values[1], values[2], values[3]);
}
int main(void)
{
    static const int8_t x[4] = {-128, -3, 0, 100};
    int8_t sum[4] = {0};
    const counter_inputs inputs = {.x = x};
    const counter_outputs outputs = {.sum = sum};
    const counter_inputs no_inputs = {.x = NULL};
    const counter_outputs no_outputs = {.sum = NULL};
    cg_status status = counter_run(&inputs, &outputs);
    show(sum);
    memcpy(counter_input_x(), x, sizeof x);
    status |= counter_run(NULL, NULL);
    show(counter_output_sum());
    memcpy(counter_input_x(), x, sizeof x);
    memset(sum, 0, sizeof sum);
    status |= counter_run(&no_inputs, &no_outputs);
    show(counter_output_sum());
    memcpy(counter_input_x(), x, sizeof x);
    const counter_inputs itself = {.x = counter_input_x()};
    status |= counter_run(&itself, &outputs);
    show(sum);
    return (int)status;
}
"""


@pytest.mark.parametrize(
    "options", [("-O2",), ("-O1", "-fsanitize=address,undefined")], ids=["plain", "asan"]
)
def test_pool_io_computes_with_and_without_pointers(tmp_path: Path, options: tuple[str, ...]) -> None:
    """By hand: the mean of x + 2 and x + 4 is x + 3."""
    sources = render(together([samples.counter()]))
    write(sources, tmp_path / "out")
    printed = run_main(sources, tmp_path / "out", COUNTER_POOL, *options)
    assert printed == "-125 0 3 103\n" * 4


LASTING = """
#include <stdio.h>
#include "lasting.h"
int main(void)
{
    static const int8_t x[3][4] = {{11, 21, 31, -127}, {1, 1, 3, 3}, {-7, 5, 7, 125}};
    int8_t sum[4] = {0};
    const lasting_outputs outputs = {.sum = sum};
    cg_status status = CG_OK;
    for (int turn = 0; turn < 2; turn++) {
        lasting_reset();
        for (int i = 0; i < 3; i++) {
            const lasting_inputs inputs = {.x = x[i]};
            status |= lasting_run(&inputs, &outputs);
            printf("%d %d %d %d\\n", sum[0], sum[1], sum[2], sum[3]);
        }
    }
    return (int)status;
}
"""


@pytest.mark.parametrize(
    "options", [("-O2",), ("-O1", "-fsanitize=address,undefined")], ids=["plain", "asan"]
)
def test_state_lasts_until_the_next_inference(tmp_path: Path, options: tuple[str, ...]) -> None:
    """By hand: the mean of x + 2 and of past + 2, both odd; past is -3 at first, then x + 2."""
    sources = render(together([samples.lasting()]))
    write(sources, tmp_path / "out")
    printed = run_main(sources, tmp_path / "out", LASTING, *options)
    assert printed == "6 11 16 -63\n9 14 20 -59\n0 6 8 67\n" * 2


TWO_CORES = """
#include <pthread.h>
#include <stdio.h>
#include "NAME.h"
void cg_core1_wake(void) {}
void cg_core1_sleep(void) {}
static void *core_1(void *unused)
{
    (void)unused;
    cg_core1_main();
}
int main(void)
{
    static const int8_t x[2][4] = {{-128, -3, 0, 100}, {1, 2, 3, 4}};
    pthread_t other;
    int8_t sum[4] = {0};
    cg_status status = pthread_create(&other, NULL, core_1, NULL) == 0 ? CG_OK : CG_ERR_STEP;
    for (int i = 0; i < 500; i++) {
        const NAME_inputs inputs = {.x = x[i % 2]};
        const NAME_outputs outputs = {.sum = sum};
        status |= NAME_run(&inputs, &outputs);
        if (i >= 498) {
            printf("%d %d %d %d\\n", sum[0], sum[1], sum[2], sum[3]);
        }
    }
    return (int)status;
}
"""


@pytest.mark.parametrize("io", IoMode)
def test_two_threads_in_place_of_two_cores(io: IoMode, tmp_path: Path) -> None:
    """By hand: x + 3, in every one of 500 runs through the mailbox."""
    program = on_core_1(samples.counter("split", io=io), "lut0", "concat2", "mean4")
    sources = render(together([program]))
    assert sources.functions.core1 == ("split_core1_0_lut0", "split_core1_2_concat2", "split_core1_4_mean4")
    write(sources, tmp_path / "out")
    main = TWO_CORES.replace("NAME", "split")
    assert run_main(sources, tmp_path / "out", main, "-O2", "-pthread") == "-125 0 3 103\n4 5 6 7\n"


MIXED_CALLER = """
#include <stdio.h>
#include <string.h>
#include "mixed.h"
#include "mixed_data.h"
int main(void)
{
    static const float a[6] = {1.0f, -5.0f, 2.5f, 4.0f, 5.0f, -1.0f};
    static const float b[3] = {0.5f, 1.0f, 20.0f};
    float scaled[6] = {0};
    int8_t stored[6] = {0};
    const mixed_inputs inputs = {.double_ = a, .int8_t_ = b};
    const mixed_outputs outputs = {.class_ = scaled, .double_ = stored};
    const mixed_inputs half = {.double_ = a, .int8_t_ = NULL};
    const mixed_outputs half_out = {.class_ = scaled, .double_ = NULL};
    memset(mixed_sram_pool, 0x5a, sizeof mixed_sram_pool);
    const cg_status refused[] = {mixed_run(NULL, &outputs), mixed_run(&inputs, NULL),
                                 mixed_run(&half, &outputs), mixed_run(&inputs, &half_out)};
    for (unsigned i = 0; i < 4; i++) {
        printf("%d", (int)refused[i]);
    }
    for (unsigned i = 0; i < sizeof mixed_sram_pool; i++) {
        if (mixed_sram_pool[i] != 0x5a) {
            printf(" pool written");
        }
    }
    for (unsigned i = 0; i < 6; i++) {
        if ((scaled[i] != 0.0f) || (stored[i] != 0)) {
            printf(" outputs written");
        }
    }
    printf("\\n%d\\n", (int)mixed_run(&inputs, &outputs));
    for (unsigned i = 0; i < 6; i++) {
        printf("%.2f %d\\n", (double)scaled[i], stored[i]);
    }
    return 0;
}
"""


def test_caller_io_computes_and_refuses_null_before_it_writes(tmp_path: Path) -> None:
    """By hand: a + b = 1.5 -4 22.5 4.5 6 19, at most 6, then clamped to [-1.5, 1e6], then a tenth of it.

    Stored with scale 0.5 and zero point -3: 0.15 / 0.5 = 0.3 -> 0, -0.3 -> 0, 1.2 -> 1, 0.9 -> 1.
    """
    sources = render(together([samples.mixed()]))
    write(sources, tmp_path / "out")
    printed = run_main(sources, tmp_path / "out", MIXED_CALLER, "-O1", "-fsanitize=address,undefined")
    assert printed.splitlines() == [
        *("1111", "0", "0.15 -3", "-0.15 -3", "0.60 -2", "0.45 -2", "0.60 -2", "0.60 -2")
    ]


def test_two_models_link_into_one_program(tmp_path: Path) -> None:
    """The same model under two names, and another one: nothing clashes, each computes. They share their pool,
    so each result is read before the next model runs."""
    sources = render(together([samples.counter("first"), samples.counter("second"), samples.mixed()]))
    write(sources, tmp_path / "out")
    main = """
#include <stdio.h>
#include "first.h"
#include "mixed.h"
#include "second.h"
int main(void)
{
    first_input_x()[0] = 1;
    if ((first_run(NULL, NULL) != CG_OK) || (mixed_run(NULL, NULL) != CG_ERR_NULL_POINTER)) {
        return 1;
    }
    printf("%d\\n", first_output_sum()[0]);
    second_input_x()[0] = 2;
    if (second_run(NULL, NULL) != CG_OK) {
        return 1;
    }
    printf("%d\\n", second_output_sum()[0]);
    return 0;
}
"""
    assert run_main(sources, tmp_path / "out", main) == "4\n5\n"
    assert sources.functions.entries == ("first_run", "second_run", "mixed_run")
    assert sources.files["models_kernels.c"].count("\nvoid cg_lut_s8(") == 1


def test_another_runtime_abi_does_not_compile(tmp_path: Path) -> None:
    sources = render(together([samples.counter()]))
    write(sources, tmp_path / "out")
    header = tmp_path / "out" / "cg_runtime.h"
    header.write_text(header.read_text().replace("#define CG_RUNTIME_ABI 1", "#define CG_RUNTIME_ABI 2"))
    with pytest.raises(AssertionError, match="generated for runtime ABI 1"):
        compile_all(sources, tmp_path / "out", ("gcc",))
