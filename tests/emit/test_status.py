"""Status codes in words, and the one that a call inside a call gets."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.emit import render, write
from codegen.joint import together
from codegen.program.interface import EntryMode, Interface
from tests.checkout import ROOT
from tests.emit import samples
from tests.emit.compiling import call, run_main


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="the compiler is missing")
@pytest.mark.parametrize("level", ["-O0", "-Os"])
def test_status_in_words_costs_nothing_where_nobody_asks(level: str, tmp_path: Path) -> None:
    """Without sections of their own, and without a linker that drops what is not used."""
    runtime = ROOT / "runtime_c" / "include"
    texts = {"silent": "", "telling": "const char *tell(cg_status s) { return cg_status_text(s); }\n"}
    sizes: dict[str, int] = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(f'#include "cg_runtime.h"\n{text}')
        call(["arm-none-eabi-gcc", *samples.M4_FLAGS, level, f"-I{runtime}", "-c", f"{name}.c"], tmp_path)
        sizes[name] = sum(map(int, call(["arm-none-eabi-size", f"{name}.o"], tmp_path).split()[6:9]))
    assert sizes["silent"] == 0 and sizes["telling"] > 800


def test_every_status_has_words_of_its_own() -> None:
    text = (ROOT / "runtime_c" / "include" / "cg_runtime.h").read_text()
    codes = re.findall(r"^    (CG_\w+) = \d+", text, re.MULTILINE)
    words = dict(re.findall(r'case (CG_\w+):\s+return "([^"]+)";', text))
    assert list(words) == codes and len(set(words.values())) == len(codes) > 18


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_call_inside_a_call_is_refused_by_every_model_that_shares_its_memory(tmp_path: Path) -> None:
    """A hook stands for an interrupt; between two steps of an inference nothing is held. State was
    reset, saved and put back in the midst of an inference without a word."""
    interface = Interface(busy_flag=True, entry=EntryMode.STEPS)
    programs = tuple(
        replace(each, interface=interface) for each in (samples.counter(), samples.mixed(), samples.lasting())
    )
    sources = render(together(programs))
    write(sources, tmp_path / "out")
    main = """
#include "counter.h"
#include "lasting.h"
#include "mixed.h"
void cg_step_begin(uint32_t step);
void cg_step_end(uint32_t step);
static unsigned busy, others;
static uint8_t kept[LASTING_STATE_BYTES];
void cg_step_begin(uint32_t step)
{
    (void)step;
    busy += (counter_run(NULL, NULL) == CG_ERR_BUSY) && (counter_step(0u) == CG_ERR_BUSY);
    others += (mixed_run(NULL, NULL) == CG_ERR_BUSY) && (lasting_reset() == CG_ERR_BUSY) &&
              (lasting_save(kept, sizeof kept) == CG_ERR_BUSY) &&
              (lasting_load(kept, sizeof kept) == CG_ERR_BUSY);
}
void cg_step_end(uint32_t step)
{
    (void)step;
}
int main(void)
{
    if (lasting_reset() != CG_OK || lasting_save(kept, sizeof kept) != CG_OK ||
        lasting_load(kept, sizeof kept) != CG_OK) {
        return 2;
    }
    cg_status status = counter_run(NULL, NULL);
    const unsigned told = busy;
    for (uint32_t step = 0; step < COUNTER_STEPS && status == CG_OK; step++) {
        status = counter_step(step);
    }
    return (status == CG_OK && told > 0u && busy == 2u * told && others == busy) ? 0 : 1;
}
"""
    run_main(sources, tmp_path / "out", main, "-DCG_STEP_HOOKS")
