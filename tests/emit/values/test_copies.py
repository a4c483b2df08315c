"""Copies and decoded constants in C: the start function, hooks of an application, calls by groups."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codegen.board import load_board
from codegen.driver.build import Share, plan_model
from codegen.driver.options import Options
from codegen.emit import render, write
from codegen.joint import together
from codegen.program.program import Program
from codegen.toolchain import Optimize
from tests.emit.compiling import compile_all, run_main
from tests.emit.values.rendered import rendered_files
from tests.networks import model_path

KWS = "ds_cnn"

MAIN = """
#include <stdio.h>
#include <string.h>
#include "ds_cnn.h"
#ifdef CG_STAGE_HOOKS
/* A DMA engine that has done nothing before it is waited for. */
static struct { void *to; const void *from; size_t bytes; } queue[64];
static size_t queued;
void cg_stage_hook(void *to, const void *from, size_t bytes)
{
    queue[queued].to = to;
    queue[queued].from = from;
    queue[queued].bytes = bytes;
    queued++;
}
void cg_stage_wait_hook(void)
{
    for (size_t i = 0; i < queued; i++) {
        memcpy(queue[i].to, queue[i].from, queue[i].bytes);
    }
    queued = 0;
}
#endif
int main(void)
{
    static int8_t input[DS_CNN_INPUT_1_SIZE], output[DS_CNN_V13_SIZE];
    for (size_t i = 0; i < sizeof(input); i++) {
        input[i] = (int8_t)((i * 37u) % 251u) ;
    }
    const ds_cnn_inputs in = {.input_1 = input};
    const ds_cnn_outputs out = {.v13 = output};
    for (int run = 0; run < 2; run++) {
        if (ds_cnn_run(&in, &out) != CG_OK) {
            return 1;
        }
        for (size_t i = 0; i < sizeof(output); i++) {
            printf("%d ", output[i]);
        }
    }
    return 0;
}
"""


def planned(**options: Any) -> Program:
    """kws on the host as if its flash were slow."""
    host = load_board("host")
    regions = tuple(replace(each, access_cost=1.0 if each.writable else 8.0) for each in host.regions)
    chosen = replace(Options(board="host", optimize="speed"), **options)
    return plan_model(
        model_path(KWS), replace(host, regions=regions), chosen, share=Share(alone=True)
    ).program


def output(program: Program, folder: Path, *options: str) -> str:
    sources = render(together([program]))
    write(sources, folder)
    compile_all(sources, folder, ("gcc",), "-Os", *options)
    return run_main(sources, folder, MAIN, "-Os", *options)


@pytest.mark.covering
@pytest.mark.parametrize("hooks", [(), ("-DCG_STAGE_HOOKS",)], ids=["core", "hooks"])
@pytest.mark.parametrize("stage", ["use", "auto"])
@pytest.mark.sampled(1)
def test_results_are_those_without_copies(stage: str, hooks: tuple[str, ...], tmp_path: Path) -> None:
    program = planned(stage=stage)
    assert program.constants.staged
    assert {copy.copied_at is None for copy in program.constants.staged} == {stage == "auto"}
    expected = output(planned(stage="off"), tmp_path / "plain")
    assert output(program, tmp_path / "staged", *hooks) == expected
    assert len(set(expected.split())) > 1


def test_a_step_waits_for_its_copies_and_then_begins_those_of_the_next() -> None:
    text = render(together([planned(stage="use")])).files["ds_cnn.c"]
    steps = re.findall(r"CG_STEP_BEGIN\((\d+)u\);(.*?)CG_STEP_END", text, flags=re.S)
    waits = [(step, body) for step, body in steps if "CG_STAGE_WAIT" in body]
    assert len(waits) > 3
    for step, body in waits[1:]:
        assert step != "0"
        before, behind = body.split("CG_STAGE_WAIT();")
        assert "CG_STAGE_COPY" not in before
        assert behind.index("cg_") > behind.rfind("CG_STAGE_COPY")


def test_models_without_copies_have_nothing_of_them() -> None:
    files = render(together([planned(stage="off")])).files
    told = [path for path, text in files.items() if "stage_copy" in text or "CG_STAGE" in text]
    assert told == ["cg_runtime.h"]
    assert "_start" not in files["ds_cnn.h"]


def test_copies_that_save_next_to_nothing_are_not_made() -> None:
    """kws on stm32: a function, two macros and two headers for 0.24 % of what reads of constants cost.

    Arithmetic: 4,072,248 without copies, 4,062,456 with the one that fits below the peak.
    """
    board = load_board("stm32")
    program = plan_model(model_path(KWS), board, Options(board="stm32"), share=Share(alone=True)).program
    assert program.constants.copied == () and program.constants.costs.chosen == program.constants.costs.linked
    assert "stage_copy" not in render(together([program])).files[f"{program.name}_kernels.h"]


def files(flash: int, optimize: Optimize, **options: Any) -> Mapping[str, str]:
    return rendered_files(model_path("autoencoder"), flash, optimize, **options)


@pytest.mark.parametrize("optimize", ["speed", "balanced"])
def test_comments_say_what_is_decoded(optimize: Optimize) -> None:
    """Generated C said nothing of it: `fc1_stream` was an array like any other."""
    found = files(250_000, optimize)
    words = {name: " ".join(re.sub(r"\n +\*(?!/)", " ", text).split()) for name, text in found.items()}
    told = r"[^/]*; (\d+) bytes of weights decoded from (\d+)(?:, in (\d+) pieces, a call each)? \*/"
    steps = re.findall(r"/\* (\d+): FULLY_CONNECTED" + told, words["autoencoder.c"])
    calls = re.findall(r"\(void\)cg_unpack\(|_packed = cg_unpack\(", words["autoencoder.c"])
    assert steps and len(calls) == sum(1 if pieces == "" else 2 for *_, pieces in steps)
    assert any(pieces for *_, pieces in steps) == (optimize == "balanced")
    stored, decoded = (sum(int(step[index]) for step in steps) for index in (2, 1))
    arrays = "1 array" if len(steps) == 1 else f"{len(steps)} arrays"
    head = f"{arrays} stored compressed: {stored} bytes for {decoded}, decoded at every inference"
    assert stored < decoded and head in words["autoencoder.h"]
    for number, size, size_stored, _ in steps:
        array, note = f"uint8_t fc{number}_stream[{size_stored}];", f"packed: decodes to {size} bytes */"
        header = re.sub(r"0x\w+ ", "", words["autoencoder_data.h"])
        assert f"{array} /* {note}" in header or f"/* {note} {array}" in header
        assert f"/* packed: decodes to {size} bytes */ .fc{number}_stream = {{" in words["autoencoder_data.c"]
    assert found["autoencoder_data.c"].count("packed: ") == len(steps)


def test_models_that_decode_nothing_have_nothing_of_it() -> None:
    words = re.compile("unpack|packed: |stored compressed|weights decoded")
    assert not [path for path, text in files(280_912, "speed").items() if words.search(path + text)]
