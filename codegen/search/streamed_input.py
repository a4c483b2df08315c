"""Refusals of an input that is to arrive row by row (`--stream-input`), each with its reason."""

from codegen.errors import Message, Messages
from codegen.ir import Function
from codegen.search.choices import Choices
from codegen.search.memory.attempt import Planning

_WHOLE = "leave out --stream-input: the input then lies in RAM whole"
_KINDS = (
    "an image of int8, uint8 or float32 that convolutions or pools read first can be streamed, converted "
    "before or not"
)


def check_stream(planning: Planning, function: Function, choices: Choices) -> None:
    """Raises CodegenError E217 with all that keeps the input from being delivered row by row."""
    if planning.streamed is None:
        return
    messages = Messages()

    def refuse(text: str, help_: str) -> None:
        messages.take(Message(code="E217", text=text, where="--stream-input", help=help_, of_one_model=True))

    if choices.keep_inputs:
        refuse(
            "--keep-inputs keeps the bytes of an input that has none",
            "leave out --keep-inputs: who delivers the rows has them and can keep them; or "
            f"{_WHOLE}, and is kept",
        )
    if not choices.blocks:
        refuse(
            "rows that arrive one by one need blocks, which --no-blocks excludes",
            f"leave out --no-blocks; or {_WHOLE}",
        )
    if len(function.params) != 1:
        refuse(f"the model has {len(function.params)} inputs, supported is one", _WHOLE)
    elif choices.blocks and not planning.tiler().can_stream:
        readers = [
            let.where for s, let in enumerate(function.body) if s in function.uses()[planning.streamed]
        ]
        names = ", ".join(readers) or "nothing"
        refuse(f"input {planning.streamed} is read by {names}, which cannot go row by row together", _KINDS)
    messages.raise_if_any()
