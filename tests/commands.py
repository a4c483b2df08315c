"""Commands of codegen, called in this process."""

from pathlib import Path

import pytest

from codegen.cli.main import main


def codegen(*words: str | Path) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)
