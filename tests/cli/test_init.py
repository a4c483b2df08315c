"""`codegen init`: the file is read as it is, and with any key uncommented; what is there stays.

Completion in a shell, as docs/configuration.md turns it on.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.cli.init_file import project_file
from codegen.cli.main import main
from codegen.command.option_table import ROWS
from codegen.command.project_file import settings
from codegen.errors import ExitCode
from tests.checkout import ROOT

KEYS = [row.key for row in ROWS.values() if row.toml is not None]
_SET = re.compile(r"^# (?P<line>(?P<key>[a-z-]+) = .*)$", re.MULTILINE)


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main([*words])
    return int(str(left.value.code))


def test_every_key_is_there_and_any_may_be_set(tmp_path: Path) -> None:
    text = project_file(None)
    assert sorted(match["key"] for match in _SET.finditer(text)) == sorted(KEYS)
    file = tmp_path / "codegen.toml"
    file.write_text(text)
    assert settings(file=file).defaults == {}
    for match in _SET.finditer(text):
        file.write_text(text.replace(match[0], match["line"], 1))
        assert settings(file=file).defaults, match["line"]
    file.write_text(_SET.sub(r"\g<line>", text))
    assert len(settings(file=file).defaults) == len(KEYS)


def test_a_file_is_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("init", "--board", "no-such") == ExitCode.USAGE
    assert not Path("codegen.toml").exists()
    assert call("init", "--board", "mps2-an386") == ExitCode.OK
    assert capsys.readouterr().out == "written   codegen.toml\n"
    assert settings(file=Path("codegen.toml")).defaults == {"board": "mps2-an386"}
    before = Path("codegen.toml").read_bytes()
    assert call("init") == ExitCode.USAGE
    assert capsys.readouterr().err == (
        "error[E280] codegen.toml: is there already: nothing was written\n"
        "help: change it, move it away, or name another file: codegen init other.toml, then --config\n"
    )
    assert Path("codegen.toml").read_bytes() == before


def test_a_shell_is_offered_flags() -> None:
    asked = {"COMP_WORDS": "codegen flash --dr", "COMP_CWORD": "2", "_CODEGEN_COMPLETE": "bash_complete"}
    words, environment = [sys.executable, "-m", "codegen"], {**os.environ, **asked}
    said = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert said.stdout.split() == ["plain,--dry-run"]
