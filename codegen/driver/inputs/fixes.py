"""Inputs that are constants: words of `--fix` taken apart."""

from collections.abc import Sequence

from codegen.errors import Messages
from codegen.importers.graph_inputs import FixedInput

_HELP = "for example --fix sr=16000, --fix training=false, --fix scales=1,1,2,2"
_WORDS = {"true": 1.0, "false": 0.0}


def parsed_fixes(words: Sequence[str]) -> tuple[FixedInput, ...]:
    """Words of `--fix`. Raises CodegenError E276 naming every one that gives no numbers to a name, or a name
    that has some already."""
    messages = Messages()
    fixes: dict[str, FixedInput] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            numbers = tuple(_WORDS[part] if part in _WORDS else float(part) for part in value.split(","))
        except ValueError:
            numbers = ()
        if not name or not numbers:
            messages.add("E276", "gives no number to an input", where=f"--fix {word}", help=_HELP)
        elif name in fixes:
            messages.add(
                "E276", f"{fixes[name].spelled} says it already", where=f"--fix {word}", help="leave one out"
            )
        else:
            fixes[name] = FixedInput(text=word, name=name, numbers=numbers)
    messages.raise_if_any()
    return tuple(fixes.values())
