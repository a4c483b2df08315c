"""An image is held against plan and board before it runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.driver.checks.image_checks import check_stack_budget, short_stacks
from codegen.errors import CodegenError
from codegen.program.image import ElfSizes, Image


def _image(bound: int | None, core1: int | None = None) -> Image:
    sizes = ElfSizes(
        text_bytes=0, rodata_bytes=0, data_bytes=0, bss_bytes=0, model_code_bytes=0, stack_bound_bytes=bound,
        core1_stack_bound_bytes=core1,
    )  # fmt: skip
    return Image(path=Path("firmware.elf"), sizes=sizes, symbols={}, sections={}, build_sha256="")


def test_a_stack_that_is_too_short_is_told_before_the_run() -> None:
    board = replace(load_board("netduinoplus2"), stack_bytes=512)
    assert short_stacks(_image(384), board) == short_stacks(_image(None), board) == ()
    (message,) = short_stacks(_image(385), board)
    assert str(message) == (
        "error[E405] stack of netduinoplus2: lacks 1 byte for the test firmware: the model needs up to 385, "
        "the link 128, the board file gives 512; so firmware.elf is left out, the C sources are complete\n"
        "help: to run it, a board file of your own with more stack_bytes and reserved_bytes; --stack BYTES "
        "holds the model against the stack that your application has"
    )


def test_the_stack_of_core_1_is_held_against_its_own_bytes() -> None:
    board = load_board("mps2-an521")
    assert board.second_core is not None
    spare = board.second_core.stack_bytes - 128
    assert short_stacks(_image(384, spare), board) == ()
    (message,) = short_stacks(_image(384, spare + 8), board)
    assert (message.code, message.where) == ("E405", "stack of core 1 of mps2-an521")
    assert message.text.startswith(
        "lacks 8 bytes for the test firmware: its steps need up to 3976, an exception"
    )


def test_the_users_own_budget_of_stack() -> None:
    board = load_board("netduinoplus2")
    check_stack_budget(_image(384), board, 384)
    check_stack_budget(_image(None), board, None)
    with pytest.raises(CodegenError) as caught:
        check_stack_budget(_image(385), board, 384)
    assert str(caught.value).splitlines()[0] == (
        "error[E406] --stack 384: lacks 1 byte: the model needs up to 385 bytes of stack"
    )
    assert caught.value.exit_code == 4
    with pytest.raises(CodegenError, match=r"E277\] --stack: nothing bounds the stack on host"):
        check_stack_budget(_image(None), load_board("host"), 384)
