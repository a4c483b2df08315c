"""Files of many models in one build, each kind joined to one: most of what gcc takes is starting and headers.

That every emitted file compiles by itself is for tests of single models (tests/emit, tests/e2e).
"""

import re
from dataclasses import replace

from codegen.program.image import Sources

_BENCH = re.compile(r"firmware/(?P<model>\w+)_bench\.c")
_STATIC = re.compile(r"^static [^;={(\[]*?(?P<name>\w+)(?: =|[(\[;])", re.MULTILINE)

_WORD = re.compile(r"(?<![\w.>])[A-Za-z_]\w*")

_REQUIRED = re.compile(r"^CG_REQUIRE\(\w+\);$", re.MULTILINE)
"""What every file says to the linker, and a file may say once."""


def joined(sources: Sources) -> Sources:
    """The same program, compiled from one file with the code of all models and one with what the test
    firmware knows of them. Only names that no other file sees are other ones."""
    models = [match["model"] for path in sources.c_files if (match := _BENCH.fullmatch(path))]
    code = {f"{model}.c": model for model in models}
    bench = {f"firmware/{model}_bench.c": model for model in models}
    files = dict(sources.files)
    for whole, parts in (("joined.c", code), ("firmware/joined_bench.c", bench)):
        texts = [_named_apart(files.pop(path), model) for path, model in parts.items()]
        others = (f"#undef CG_MODEL\n{_REQUIRED.sub('', text)}" for text in texts[1:])
        files[whole] = "\n".join([texts[0], *others])
    rest = [path for path in sources.c_files if path not in code and path not in bench]
    return replace(
        sources,
        files=files,
        c_files=(*rest, "joined.c", "firmware/joined_bench.c"),
        model_files=("joined.c", *(path for path in sources.model_files if path not in code)),
        is_traced=False,  # What runs is what ships: with step hooks all models would be compiled once more.
    )


def _named_apart(text: str, model: str) -> str:
    """`text` with the model in front of its static names; members of structs keep theirs."""
    names = frozenset(match["name"] for match in _STATIC.finditer(text))
    return _WORD.sub(lambda word: f"{model}_own_{word[0]}" if word[0] in names else word[0], text)
