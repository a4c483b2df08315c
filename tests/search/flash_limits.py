"""Plans within a limit of flash, and the smallest limit that a refusal names."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from codegen.board import load_board
from codegen.driver.build import Share, plan_model
from codegen.driver.checks.fit import telling
from codegen.driver.options import Options
from codegen.driver.preparing import prepared
from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.program.program import Program

BOARD = load_board("mps2-an386")


def plan_within(
    path: Path, flash: int | None, *, on: Board = BOARD, alone: bool = True, **options: Any
) -> Program:
    """A model with so many bytes for constants."""
    limits = {**({} if flash is None else {"flash": flash}), **options.pop("limits", {})}
    chosen = replace(Options(board=on.name, pool_limits=limits), **options)
    ready = None if alone else prepared(path, chosen, ["sram"], among_others=True)
    with telling():
        return plan_model(path, on, chosen, share=Share(alone=alone, ready=ready)).program


def smallest_limit(message: Message) -> int:
    """The smallest limit that E402 names."""
    assert (message.code, message.where) == ("E402", "constant pool flash")
    line = message.text.splitlines()[1]
    assert line.endswith(" bytes")
    return int(line.removeprefix("  the smallest limit for which a plan was found is ").split()[0])


def outcome_within(path: Path, flash: int, **options: Any) -> tuple[bool, int]:
    """Whether there is a program and how many bytes its constants have, or the smallest limit it is told."""
    try:
        return True, plan_within(path, flash, **options).constants.size_bytes
    except CodegenError as missed:
        (message,) = missed.messages
        return False, smallest_limit(message)
