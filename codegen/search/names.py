"""C names for models, inputs and outputs, from whatever a file calls them."""

import re
from collections.abc import Iterable
from typing import Literal

from codegen.ir.c_names import is_taken

_LONGEST = 32


def identifier(text: str, fallback: str, *, keep: Literal["head", "tail"] = "tail") -> str:
    """A lower-case C identifier close to `text`, never a word that is taken in C or C++.

    Longer text is cut to 32 characters: of a tensor's name (a path of scopes) the end says most, of a
    file's name (`keep="head"`) the start.
    """
    text = re.sub(r"^(serving_default_|StatefulPartitionedCall[/:]?)", "", text)
    text = re.sub(r":\d+$", "", text)
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if len(words) > _LONGEST:
        words = (words[:_LONGEST] if keep == "head" else words[-_LONGEST:]).strip("_")
    if not words or words[0].isdigit():
        words = f"{fallback}_{words}".strip("_")
    return f"{words}_" if is_taken(words) else words


def unique(names: Iterable[str]) -> list[str]:
    """The names in order, later duplicates numbered."""
    taken: set[str] = set()
    found: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        found.append(candidate)
    return found
