"""Inputs that arrive row by row: whether a model can take its own so."""

from codegen.errors import CodegenError, Message
from codegen.ir import Function
from codegen.search.attempt import Choices, Planning


def check_stream(planning: Planning, function: Function, choices: Choices) -> None:
    """Raises CodegenError E217 if the input cannot be delivered row by row."""
    if planning.streamed is None:
        return
    readers = [let for step, let in enumerate(function.body) if step in function.uses()[planning.streamed]]
    problem = None
    if choices.keep_inputs:
        problem = "--keep-inputs keeps the bytes of an input that has none"
    elif len(function.params) != 1:
        problem = f"the model has {len(function.params)} inputs, supported is one"
    elif not choices.blocks:
        problem = "rows that arrive one by one need blocks, which --no-blocks excludes"
    elif not planning.tiler().can_stream:
        names = ", ".join(let.where for let in readers) or "nothing"
        problem = f"input {planning.streamed} is read by {names}, which cannot go row by row together"
    if problem:
        raise CodegenError(
            Message(
                code="E217",
                where="--stream-input",
                text=problem,
                help="an int8 image that convolutions or pools read first can be streamed; a float image can "
                "with --io-types int8 if the model quantises it first",
            )
        )
