"""An interrupt that calls a model while main is inside: wrong results with CG_OK, or CG_ERR_BUSY.

Of 20 results of main 2 were wrong without a word. SysTick calls the model here, on QEMU, where instructions
are counted, so that it comes at the same moments in every run.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.board import load_board
from tests.checkout import ROOT
from tests.commands import codegen
from tests.tools.packages.bare import GCC, call, export, needs_tools

MODEL = ROOT / "examples" / "digits" / "digits.tflite"
_MAIN = """
#include <stdio.h>
#include <string.h>
#include "sample_input.h"

static int8_t zeros[DIGITS_IMAGE_ELEMENTS], expected[DIGITS_ODDS_ELEMENTS], odds[DIGITS_ODDS_ELEMENTS];
static volatile unsigned done, busy;
void tick(void);
void tick(void)
{
    static int8_t other[DIGITS_ODDS_ELEMENTS];
    const digits_inputs inputs = {zeros};
    const digits_outputs outputs = {other};
    const cg_status status = digits_run(&inputs, &outputs);
    done += (status == CG_OK);
    busy += (status == CG_ERR_BUSY);
}
int main(void)
{
    const digits_inputs inputs = {digits_image_sample};
    unsigned wrong = 0, refused = 0;
    digits_outputs outputs = {expected};
    refused += (digits_run(&inputs, &outputs) != CG_OK);
    outputs.odds = odds;
    *(volatile uint32_t *)0xE000E014u = RELOAD;
    *(volatile uint32_t *)0xE000E018u = 0;
    *(volatile uint32_t *)0xE000E010u = 7; /* SysTick, its interrupt, by the core's clock */
    for (int run = 0; run < 20; run++) {
        refused += (digits_run(&inputs, &outputs) != CG_OK);
        wrong += (memcmp(odds, expected, sizeof odds) != 0);
    }
    *(volatile uint32_t *)0xE000E010u = 0;
    printf("%u wrong, %u refused, %u busy, %u done in the interrupt\\n", wrong, refused, busy, done);
    return 0;
}
"""


def _counts(board: str, reload: int, folder: Path, *flags: str) -> dict[str, int]:
    """What the program counts on a board: `wrong`, `refused`, `busy`, `done`."""
    assert codegen("build", MODEL, "--board", board, "-o", folder / "built", "-q", *flags) == 0
    package = export(folder / "built", "cmake", folder / "package")
    example = package / "example"
    (example / "main.c").write_text(_MAIN)
    start = (example / "start.c").read_text()
    start = start.replace("void start(void);\n", "void start(void);\nvoid tick(void);\n", 1)
    start = start.replace("stack_top, (const", "[15] = (const void *)tick, [0] = stack_top, (const", 1)
    (example / "start.c").write_text(start)
    target = load_board(board).target
    sources = sorted(str(path) for path in (package / "src").rglob("*") if path.suffix in {".c", ".S"})
    words = [GCC, *target.compiler_flags, "-O2", "-std=c11", "-fno-strict-aliasing", f"-DRELOAD={reload}u"]
    words += [f"-I{package / 'src'}", f"-I{package / 'src' / 'runtime' / 'include'}", *sources]
    words += [str(example / "main.c"), str(example / "start.c"), f"-T{example / 'link.ld'}", "-nostartfiles"]
    image = folder / "image.elf"
    call(*words, "--specs=rdimon.specs", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments", "-o", image)
    machine = load_board(board).qemu_machine or ""
    quiet = ["-display", "none", "-monitor", "none", "-serial", "none", "-icount", "shift=0"]
    run = ["qemu-system-arm", "-M", machine, *quiet, "-semihosting", "-kernel", str(image)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    numbers = [part.split()[:2] for part in (done.stdout + done.stderr).strip().split(", ")]
    return {word: int(number) for number, word in numbers}


@needs_tools
@pytest.mark.qemu
def test_without_it_results_are_wrong_and_nobody_says_so(tmp_path: Path) -> None:
    counts = _counts("mps2-an386", 5_000, tmp_path)
    assert counts["wrong"] > 0 and counts["refused"] == counts["busy"] == 0 and counts["done"] > 0
    assert not list((tmp_path / "built").rglob("cg_busy.h"))


@needs_tools
@pytest.mark.qemu
@pytest.mark.parametrize(
    "board", ["microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547"]
)
@pytest.mark.sampled(1)
def test_with_it_the_interrupt_is_told_and_main_is_right(board: str, tmp_path: Path) -> None:
    counts = _counts(board, 2_000, tmp_path, "--busy-flag")
    assert counts["wrong"] == counts["refused"] == 0 and counts["busy"] > 0


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is missing")
def test_on_this_machine_a_call_in_a_call_is_refused(tmp_path: Path) -> None:
    """A hook stands for the interrupt: it is called in the midst of an inference."""
    assert codegen("build", MODEL, "--board", "host", "-o", tmp_path / "b", "-q", "--busy-flag") == 0
    package = export(tmp_path / "b", "cmake", tmp_path / "p")
    (tmp_path / "main.c").write_text("""
#include "sample_input.h"
static unsigned busy;
void cg_step_begin(uint32_t step)
{
    (void)step;
    busy += (digits_run(0, 0) == CG_ERR_BUSY);
}
void cg_step_end(uint32_t step)
{
    (void)step;
}
int main(void)
{
    const digits_inputs inputs = {digits_image_sample};
    const cg_status runs = digits_run(&inputs, 0);
    const unsigned told = busy;
    return (runs == CG_OK && told > 0 && digits_run(&inputs, 0) == CG_OK && busy == 2 * told) ? 0 : 1;
}
""")
    sources = sorted(str(path) for path in (package / "src").rglob("*.c"))
    include = [f"-I{package / name}" for name in ("src", "example")]
    call("gcc", "-DCG_STEP_HOOKS", "-O1", "-fno-strict-aliasing", *include, *sources, tmp_path / "main.c",
         "-o", tmp_path / "main")  # fmt: skip
    call(tmp_path / "main")


def test_pools_of_the_callers_need_no_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--board", "host", "--busy-flag", "--pools", "caller", "-o", tmp_path / "b", "-q"]
    assert codegen("build", MODEL, *words) == 2
    assert capsys.readouterr().err == (
        "error[E278] --busy-flag with --pools caller: instances have memory of their own each\n"
        "help: leave out one of them: calls with different pools may interrupt each other\n"
    )
