"""Copies and decoded constants in C: the start function, hooks of an application, calls by groups."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from codegen.program.interface import EntryMode
from codegen.toolchain import Optimize
from tests.emit.values.rendered import rendered_files, step
from tests.public.testdata import model_path


def files(flash: int, optimize: Optimize, **options: Any) -> Mapping[str, str]:
    return rendered_files(model_path("mlperf_tiny/ad01_int8"), flash, optimize, **options)


WHOLE = """\
    (void)cg_unpack(&ad01_int8_sram_pool[0x580], 17664u, ad01_int8_flash_pool.fc1_stream,
                    &ad01_int8_flash_pool.fc1_stream[168]);
    cg_fully_connected_joined_s8_dsp(&fc1_params,
                                     (const int32_t *)(const void *)&ad01_int8_sram_pool[0x580],
                                     fc1_inputs, fc0, fc1);
"""
PIECES = """\
    const uint8_t *fc2_packed = &ad01_int8_flash_pool.fc2_stream[160];
    fc2_packed =
        cg_unpack(&ad01_int8_sram_pool[0x180], 1104u, ad01_int8_flash_pool.fc2_stream, fc2_packed);
    cg_fully_connected_joined_s8_dsp(&fc2_params,
                                     (const int32_t *)(const void *)&ad01_int8_sram_pool[0x180],
                                     fc2_inputs, fc1, fc2);
    for (int32_t fc2_done = 8; fc2_done < 128; fc2_done += 8) {
        /* clang-format off */
        fc2_packed = cg_unpack(&ad01_int8_sram_pool[0x180], 1104u, ad01_int8_flash_pool.fc2_stream,
                               fc2_packed);
        /* clang-format on */
        /* clang-format off */
        cg_fully_connected_widened_joined_s8_dsp(
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
    assert "cg_unpack(" in found["ad01_int8_kernels.h"] and "cg_unpack(" in found["ad01_int8_kernels.c"]
    assert "cg_stage_copy" not in found["ad01_int8_kernels.h"]


def test_a_group_has_parameters_of_its_own_size() -> None:
    """128 outputs by eight."""
    text = files(250_000, "balanced")["ad01_int8.c"]
    found = re.search(r"fc2_params = \{(.*?)\};", text, flags=re.S)
    assert found is not None and ".out_len = 8," in found[1]


def test_a_step_of_its_own_declares_what_decodes() -> None:
    text = files(250_000, "balanced", entry=EntryMode.STEPS)["ad01_int8.c"]
    found = re.search(r"static void step_2_fc2\(void\)\n\{(.*?)\n\}\n", text, flags=re.S)
    assert found is not None and "const uint8_t *fc2_packed = " in found[1]
