"""Running step by step: computes what the entry function computes, costs nothing unused."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.emit import render, write
from codegen.joint import together
from codegen.program.image import Sources
from codegen.program.interface import IoMode
from tests.emit import samples
from tests.emit.compiling import WARNINGS, run_main
from tests.emit.variants import changed, stepwise

POOL = """
#include <stdio.h>
#include <string.h>
#include "counter.h"
int main(void)
{
    static const int8_t x[4] = {-128, -3, 0, 100};
    int8_t sum[4];
    memcpy(counter_input_x(), x, sizeof x);
    for (uint32_t step = 0; step < COUNTER_STEPS; step++) {
        if (counter_step(step) != CG_OK) {
            return 1;
        }
    }
    memcpy(sum, counter_output_sum(), sizeof sum);
    printf("%d %d %d %d\\n", sum[0], sum[1], sum[2], sum[3]);
    const counter_inputs inputs = {.x = x};
    if (counter_run(&inputs, NULL) != CG_OK || memcmp(sum, counter_output_sum(), sizeof sum) != 0) {
        return 1;
    }
    printf("%d %d\\n", (int)counter_step(COUNTER_STEPS), (int)counter_step(UINT32_MAX));
    return 0;
}
"""


def test_steps_one_by_one_are_an_inference(tmp_path: Path) -> None:
    """By hand: the mean of x + 2 and x + 4 is x + 3; 3 is CG_ERR_STEP."""
    sources = render(together((stepwise(samples.counter()),)))
    write(sources, tmp_path / "out")
    options = ("-O1", "-fsanitize=address,undefined")
    assert run_main(sources, tmp_path / "out", POOL, *options) == "-125 0 3 103\n3 3\n"


CALLER = """
#include <stdio.h>
#include <string.h>
#include "mixed.h"
#include "mixed_data.h"
int main(void)
{
    static const float a[6] = {1.0f, -5.0f, 2.5f, 4.0f, 5.0f, -1.0f};
    static const float b[3] = {0.5f, 1.0f, 20.0f};
    float scaled[2][6] = {{0}};
    int8_t stored[2][6] = {{0}};
    const mixed_inputs inputs = {.double_ = a, .int8_t_ = b};
    const mixed_outputs outputs = {.class_ = scaled[0], .double_ = stored[0]};
    const mixed_outputs others = {.class_ = scaled[1], .double_ = stored[1]};
    const mixed_outputs half = {.class_ = scaled[0], .double_ = NULL};
    memset(mixed_sram_pool, 0x5a, sizeof mixed_sram_pool);
    printf("%d%d%d%d\\n", (int)mixed_step(0, NULL, &outputs), (int)mixed_step(0, &inputs, NULL),
           (int)mixed_step(0, &inputs, &half), (int)mixed_step(MIXED_STEPS, &inputs, &outputs));
    for (unsigned i = 0; i < sizeof mixed_sram_pool; i++) {
        if (mixed_sram_pool[i] != 0x5a) {
            return 1;
        }
    }
    for (uint32_t step = 0; step < MIXED_STEPS; step++) {
        if (mixed_step(step, &inputs, &outputs) != CG_OK) {
            return 1;
        }
    }
    if (mixed_run(&inputs, &others) != CG_OK || memcmp(scaled[0], scaled[1], sizeof scaled[0]) != 0) {
        return 1;
    }
    printf("%.2f %d\\n", (double)scaled[0][5], stored[0][5]);
    return memcmp(stored[0], stored[1], sizeof stored[0]);
}
"""


def test_steps_with_the_callers_inputs_and_outputs(tmp_path: Path) -> None:
    """By hand: -1 + 20 = 19, at most 6, a tenth is 0.6, and 0.6 / 0.5 = 1.2 -> 1, -3: -2."""
    sources = render(together((stepwise(samples.mixed()),)))
    write(sources, tmp_path / "out")
    options = ("-O1", "-fsanitize=address,undefined")
    assert run_main(sources, tmp_path / "out", CALLER, *options) == "1113\n0.60 -2\n"


HOOKS = """
#include <stdio.h>
#include "counter.h"
void cg_step_begin(uint32_t step)
{
    printf("<%u", step);
}
void cg_step_end(uint32_t step)
{
    printf("%u>", step);
}
int main(void)
{
    counter_inputs inputs = {.x = NULL};
    if (counter_run(&inputs, NULL) != CG_OK || counter_step(2) != CG_OK) {
        return 1;
    }
    return 0;
}
"""


MODEL_HOOKS = """
#include <stdio.h>
#include "counter.h"
#include "mixed.h"
static const char *const names[] = {COUNTER_STEP_NAMES};
void cg_model_step_begin(const cg_model *model, uint32_t step)
{
    printf("<%s %u/%u %s", model->name, step, model->steps, model->step_names[step]);
}
void cg_model_step_end(const cg_model *model, uint32_t step)
{
    printf("%s %u>\\n", (model == &counter_model) ? "first" : "second", step);
}
int main(void)
{
    printf("%s %u %s\\n", COUNTER_NAME, COUNTER_STEPS, names[COUNTER_STEPS - 1u]);
    return (counter_run(NULL, NULL) == CG_OK && mixed_run(NULL, NULL) == CG_OK) ? 0 : 1;
}
"""


def test_hooks_are_called_around_every_step_with_code_of_both_functions(tmp_path: Path) -> None:
    """Step 3 is a view."""
    sources = render(together((stepwise(samples.counter()),)))
    write(sources, tmp_path / "out")
    printed = run_main(sources, tmp_path / "out", HOOKS, "-DCG_STEP_HOOKS")
    assert printed == "<00><11><22><44><22>"


@pytest.mark.parametrize("io", [IoMode.POOL, IoMode.CALLER])
@pytest.mark.parametrize("steps", [False, True], ids=["run", "steps"])
def test_a_view_is_a_comment_and_nothing_else(steps: bool, io: IoMode) -> None:
    """A view, which needs no call, had two macros in the entry function and with --entry steps a function."""
    program = samples.counter(io=io)
    text = render(together((stepwise(program) if steps else program,))).files["counter.c"]
    assert "/* 3: RESHAPE concat2 1x8 -> reshape3 2x4; a view, no code; " in text
    assert not re.search(r"CG_STEP_(BEGIN|END)\(3u\)|step_3_", text)
    comment, _, rest = text.partition("/* 3: RESHAPE")[2].partition("*/")
    assert "view" in comment
    assert rest.strip().startswith("/* 4: MEAN")
    assert ("    case 3u: /* no code */\n        break;\n" in text) == steps


def test_a_view_with_work_of_its_own_keeps_its_step() -> None:
    """The last step writes the new state, whatever else it does."""
    program = samples.lasting()
    assert program.silent_steps == {3}
    cut = program.running(program.steps.prim_funcs[:4])
    assert cut.silent_steps == frozenset()
    assert changed(cut, "signature", states=()).silent_steps == {3}


def test_hooks_tell_models_apart_and_steps_have_names(tmp_path: Path) -> None:
    """Two models in one firmware called the same hooks with the same numbers, and without --entry steps the
    header had neither the number of steps nor their names."""
    sources = render(together((samples.counter(), samples.mixed(io=IoMode.POOL))))
    write(sources, tmp_path / "out")
    printed = run_main(sources, tmp_path / "out", MODEL_HOOKS, "-DCG_MODEL_HOOKS").splitlines()
    first = ("lut0", "lut1", "concat2", "reshape3", "mean4")
    second = ("add0", "clamp1", "scale2", "quantize3")
    assert printed == [
        "counter 5 mean4",
        *(f"<counter {step}/5 {name}first {step}>" for step, name in enumerate(first) if step != 3),
        *(f"<mixed {step}/4 {name}second {step}>" for step, name in enumerate(second)),
    ]


def _code(sources: Sources, folder: Path, compiler: tuple[str, ...], name: str, level: str) -> bytes:
    """The object file of the model's source, without debug information."""
    write(sources, folder)
    include = [f"-I{path}" for path in sources.include_dirs]
    command = [*compiler, *WARNINGS, level, *include, "-c", f"{name}.c", "-o", "out.o"]
    subprocess.run(command, cwd=folder, check=True)
    return (folder / "out.o").read_bytes()


@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
@pytest.mark.parametrize("io", [IoMode.POOL, IoMode.CALLER])
@pytest.mark.parametrize("steps", [False, True], ids=["run", "steps"])
@pytest.mark.parametrize(
    "compiler", [("gcc",), ("arm-none-eabi-gcc", *samples.M4_FLAGS)], ids=["host", "arm"]
)
@pytest.mark.sampled()
def test_unused_hooks_leave_no_code(
    tmp_path: Path, compiler: tuple[str, ...], steps: bool, io: IoMode, level: str
) -> None:
    """The object is, byte for byte, that of a source in which nobody ever wrote a hook or a step's name."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    program = samples.counter(io=io)
    sources = render(together((stepwise(program) if steps else program,)))
    bare, count = re.subn(r"    CG_STEP_(BEGIN|END)\(\d+u\);\n", "", sources.files["counter.c"])
    assert count == 2 * (len(program.steps.prim_funcs) - len(program.silent_steps))
    without = replace(sources, files={**sources.files, "counter.c": bare})
    found = [_code(each, tmp_path / "out", compiler, "counter", level) for each in (sources, without)]
    assert found[0] == found[1]
