"""`codegen build --watch`: a model that is changed is built again, a broken one is waited for."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.cli import watching
from codegen.cli.main import main
from codegen.errors import ExitCode
from tests.e2e.test_entry import network


class Editor:
    """In the place of `time.sleep`: each moment one edit, None for none; then Ctrl-C."""

    def __init__(self, *edits: Callable[[], object] | None) -> None:
        self._edits = [*edits]

    def __call__(self, seconds: float) -> None:
        assert seconds < 1
        if not self._edits:
            raise KeyboardInterrupt
        edit = self._edits.pop(0)
        if edit is not None:
            edit()


def test_a_model_is_built_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, other = network(tmp_path, 1), tmp_path / "other"
    other.mkdir()
    second = network(other, 2).read_bytes()
    report, seen = tmp_path / "out" / "report.json", list[str]()

    def note() -> None:
        seen.append(json.loads(report.read_text())["model"]["sha256"])

    def broken() -> None:
        note()
        model.write_bytes(b"no model")

    editor = Editor(broken, None, model.unlink, None, lambda: model.write_bytes(second), None, note)
    monkeypatch.setattr(watching.on_change, "__defaults__", (editor,))
    with pytest.raises(SystemExit) as left:
        main(["build", str(model), "--board", "host", "-o", str(tmp_path / "out"), "--watch", "-q"])
    assert left.value.code == ExitCode.OK
    note()
    assert len(set(seen)) == 2 and seen[1:] == [seen[1]] * 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("watching  ") == 3 and said.err.count("error[E") == 1


def test_the_exit_code_is_that_of_the_last_work(tmp_path: Path) -> None:
    file = tmp_path / "m"
    file.write_text("1")
    codes = [3, 0, 3]

    def work() -> int:
        return codes.pop(0)

    edits = (lambda: file.write_text("22"), None, lambda: file.write_text("333"), None)
    assert watching.on_change([file], work, Editor(*edits)) == 3
    assert codes == []


def test_json_is_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["build", str(network(tmp_path, 1)), "--board", "host", "--watch", "--json"])
    assert left.value.code == ExitCode.USAGE
    assert "--watch prints more than one document: leave --json out" in capsys.readouterr().err
