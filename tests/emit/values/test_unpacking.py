"""Constants that are decoded, in C: in front of a step's call, or of each of its calls."""

import re
from collections.abc import Mapping

import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.emit import render
from codegen.plan.models.bundling import together
from codegen.program.interface import EntryMode, Interface
from codegen.toolchain import Optimize
from tests.testdata import model_path


def files(flash: int, optimize: Optimize, *, entry: EntryMode = EntryMode.RUN) -> Mapping[str, str]:
    options = Options(
        board="mps2-an386",
        optimize=optimize,
        pool_limits={"flash": flash},
        interface=Interface(entry=entry),
    )
    path = model_path("mlperf_tiny/ad01_int8")
    return render(together([plan_model(path, load_board("mps2-an386"), options, alone=True).program])).files


def step(text: str, index: int) -> str:
    """What step `index` runs."""
    found = re.search(rf"CG_STEP_BEGIN\({index}u\);\n(.*?)    CG_STEP_END", text, flags=re.S)
    assert found is not None
    return found[1]


WHOLE = """\
    (void)cg_unpack(&ad01_int8_sram_pool[0x580], 17664u, ad01_int8_flash_pool.fc1_stream,
                    &ad01_int8_flash_pool.fc1_stream[161]);
    cg_fully_connected_s8_dsp(&fc1_params,
                              (const int32_t *)(const void *)&ad01_int8_sram_pool[0x580],
                              fc1_inputs, fc0, fc1);
"""
PIECES = """\
    const uint8_t *fc2_packed = &ad01_int8_flash_pool.fc2_stream[170];
    fc2_packed =
        cg_unpack(&ad01_int8_sram_pool[0x180], 1104u, ad01_int8_flash_pool.fc2_stream, fc2_packed);
    cg_fully_connected_s8_dsp(&fc2_params,
                              (const int32_t *)(const void *)&ad01_int8_sram_pool[0x180],
                              fc2_inputs, fc1, fc2);
    for (int32_t fc2_done = 8; fc2_done < 128; fc2_done += 8) {
        /* clang-format off */
        fc2_packed = cg_unpack(&ad01_int8_sram_pool[0x180], 1104u, ad01_int8_flash_pool.fc2_stream,
                               fc2_packed);
        /* clang-format on */
        /* clang-format off */
        cg_fully_connected_widened_s8_dsp(
            &fc2_params, (const int32_t *)(const void *)&ad01_int8_sram_pool[0x180], fc2_inputs,
            &fc2[fc2_done]);
        /* clang-format on */
    }
"""


@pytest.mark.parametrize(
    ("optimize", "index", "expected"), [("speed", 1, WHOLE), ("balanced", 2, PIECES)], ids=["whole", "pieces"]
)
def test_a_step_decodes_what_it_reads(optimize: Optimize, index: int, expected: str) -> None:
    found = files(250_000, optimize)
    assert step(found["ad01_int8.c"], index) == expected
    assert '#include "cg_unpack.h"' in found["ad01_int8.c"]
    assert {"runtime/kernels/unpack.c", "runtime/include/cg_unpack.h"} <= found.keys()
    assert not [path for path in found if "stage_copy" in path]


@pytest.mark.parametrize("optimize", ["speed", "balanced"])
def test_comments_say_what_is_decoded(optimize: Optimize) -> None:
    """Generated C said nothing of it: `fc1_stream` was an array like any other."""
    found = files(250_000, optimize)
    words = {name: " ".join(re.sub(r"\n +\*(?!/)", " ", text).split()) for name, text in found.items()}
    told = r"[^/]*; (\d+) bytes of weights decoded from (\d+)(?:, in (\d+) pieces, a call each)? \*/"
    steps = re.findall(r"/\* (\d+): FULLY_CONNECTED" + told, words["ad01_int8.c"])
    calls = re.findall(r"\(void\)cg_unpack\(|_packed = cg_unpack\(", words["ad01_int8.c"])
    assert steps and len(calls) == sum(1 if pieces == "" else 2 for *_, pieces in steps)
    assert any(pieces for *_, pieces in steps) == (optimize == "balanced")
    stored, decoded = (sum(int(step[index]) for step in steps) for index in (2, 1))
    arrays = "1 array" if len(steps) == 1 else f"{len(steps)} arrays"
    head = f"{arrays} stored compressed: {stored} bytes for {decoded}, decoded at every inference"
    assert stored < decoded and head in words["ad01_int8.h"]
    for number, size, size_stored, _ in steps:
        array = re.search(
            rf"uint8_t fc{number}_stream\[{size_stored}\]; /\* 0x\w+ (.*?) \*/", words["ad01_int8_data.h"]
        )
        assert array is not None and array[1] == f"packed: decodes to {size} bytes"
        assert f"/* packed: decodes to {size} bytes */ .fc{number}_stream = {{" in words["ad01_int8_data.c"]
    assert found["ad01_int8_data.c"].count("packed: ") == len(steps)


def test_a_group_has_parameters_of_its_own_size() -> None:
    """128 outputs by eight."""
    text = files(250_000, "balanced")["ad01_int8.c"]
    found = re.search(r"fc2_params = \{(.*?)\};", text, flags=re.S)
    assert found is not None and ".out_len = 8," in found[1]


def test_a_step_of_its_own_declares_what_decodes() -> None:
    text = files(250_000, "balanced", entry=EntryMode.STEPS)["ad01_int8.c"]
    found = re.search(r"static void step_2_fc2\(void\)\n\{(.*?)\n\}\n", text, flags=re.S)
    assert found is not None and "const uint8_t *fc2_packed = " in found[1]


def test_models_without_have_nothing_of_them() -> None:
    words = re.compile("unpack|packed: |stored compressed|weights decoded")
    assert not [path for path, text in files(280_912, "speed").items() if words.search(path + text)]
