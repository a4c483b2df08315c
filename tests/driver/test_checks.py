"""An image is held against plan and board before it runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.driver.checks import check_image
from codegen.errors import CodegenError
from codegen.plan.bundle import together
from codegen.plan.image import ElfSizes, Image
from tests.emit import samples


def _image(bound: int | None, core1: int | None = None) -> Image:
    sizes = ElfSizes(
        text_bytes=0, rodata_bytes=0, data_bytes=0, bss_bytes=0, model_code_bytes=0, stack_bound_bytes=bound,
        core1_stack_bound_bytes=core1,
    )  # fmt: skip
    return Image(path=Path("firmware.elf"), sizes=sizes, symbols={}, sections={}, build_sha256="")


def test_a_stack_that_is_too_short_is_told_before_the_run() -> None:
    board, bundle = replace(load_board("netduinoplus2"), stack_bytes=512), together([samples.bare()])
    check_image(_image(384), board, bundle)
    check_image(_image(None), board, bundle)
    with pytest.raises(CodegenError) as caught:
        check_image(_image(385), board, bundle)
    (message,) = caught.value.messages
    assert (message.code, message.where) == ("E405", "stack of netduinoplus2")
    assert message.text.startswith("lacks 1 byte: the model needs up to 385, the link 128")


def test_the_stack_of_core_1_is_held_against_its_own_bytes() -> None:
    board, bundle = load_board("mps2-an521"), together([samples.bare()])
    assert board.second_core is not None
    spare = board.second_core.stack_bytes - 128
    check_image(_image(384, spare), board, bundle)
    with pytest.raises(CodegenError) as caught:
        check_image(_image(384, spare + 8), board, bundle)
    (message,) = caught.value.messages
    assert (message.code, message.where) == ("E405", "stack of core 1 of mps2-an521")
    assert message.text.startswith("lacks 8 bytes: its steps need up to 3976, an exception 128")
