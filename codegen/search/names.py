"""C names for models, inputs and outputs, from whatever a file calls them."""

import re
from collections.abc import Iterable
from typing import Literal

_KEYWORDS = frozenset(
    [
        "alignas",
        "alignof",
        "and",
        "asm",
        "auto",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "constexpr",
        "continue",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "not",
        "nullptr",
        "operator",
        "or",
        "private",
        "protected",
        "public",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "static_assert",
        "struct",
        "switch",
        "template",
        "this",
        "thread_local",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "while",
        "xor",
        "inputs",
        "outputs",
        "main",
    ]
)
_LONGEST = 32


def identifier(text: str, fallback: str, *, keep: Literal["head", "tail"] = "tail") -> str:
    """A lower-case C identifier close to `text`, never a C or C++ keyword.

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
    return f"{words}_" if words in _KEYWORDS else words


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
