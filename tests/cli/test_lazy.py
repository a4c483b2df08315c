"""`codegen --help` imports what it prints with, nothing else.

It took 0.95 s of processor time: it imported NumPy, the search and every kernel to list eight verbs.
Modules are counted, not seconds.
"""

import subprocess
import sys

import pytest

from codegen.cli.main import cli

_LIST_IMPORTS = """
import sys
from codegen.cli import main
try:
    main([{word!r}])
except SystemExit as ended:
    assert not ended.code, ended.code
print(*sys.modules, file=sys.stderr)
"""

_OWN_MODULES = 12
"""Modules of codegen that may be imported to print help; all are about 250."""

_HEAVY = {"numpy", "jinja2", "rich", "msgspec", "serial", "elftools", "tflite", "flatbuffers", "cffi"}


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_imports_no_verb(word: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LIST_IMPORTS.format(word=word)], capture_output=True, text=True, check=True
    )
    assert done.stdout
    modules = done.stderr.split()
    own = [name for name in modules if name.partition(".")[0] == "codegen"]
    assert len(own) <= _OWN_MODULES, own
    assert not _HEAVY & {name.partition(".")[0] for name in modules}


def test_lists_say_what_verbs_say_of_themselves() -> None:
    """Verbs are listed without being imported, so their summaries are written down a second time."""
    listed = {name: verb.summary for name, verb in cli.verbs.items()}
    assert listed == {name: cli.commands[name].get_short_help_str(limit=1000) for name in cli.commands}
