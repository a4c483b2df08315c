"""Words of `--window`, taken apart without loading a model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codegen.errors import Messages

_WORD = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:\.(?P<axis>[0-9]{1,2}))?=(?P<step>[0-9]{1,9})")
_HELP = "for example --window input_1=1 (the axis is found), or --window input_1.1=1 (axis 1 of input_1)"


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenWindow:
    """The word of `--window`: an input, perhaps an axis of it, and the rows by which it moves in a call."""

    text: str
    name: str
    axis: int | None
    step: int

    def __str__(self) -> str:
        return self.text


def parsed_windows(words: Sequence[str]) -> tuple[GivenWindow, ...]:
    """Words of `--window`. Raises CodegenError E224 for one that says no window, and for a second one."""
    messages = Messages()
    windows: list[GivenWindow] = []
    for word in words:
        match = _WORD.fullmatch(word)
        where = f"--window {word}"
        if match is None or int(match["step"]) < 1:
            messages.add("E224", "says no input and number of rows", where=where, help=_HELP)
        elif windows:
            text = f"a second window beside --window {windows[0]}: one input slides"
            messages.add("E224", text, where=where, help="leave one out")
        else:
            axis = None if match["axis"] is None else int(match["axis"])
            windows.append(GivenWindow(text=word, name=match["name"], axis=axis, step=int(match["step"])))
    messages.raise_if_any()
    return tuple(windows)
