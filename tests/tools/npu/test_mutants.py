"""Damaged files of Vela's: refused in words or run, within 2 s, never a traceback or a crash of the model."""

from pathlib import Path

import pytest

from tests.tools.npu.mutants import verdicts


@pytest.mark.parametrize("count", [60, pytest.param(20_000, marks=pytest.mark.long)])
def test_changed_files_are_refused_or_run(count: int, tmp_path: Path) -> None:
    answers = verdicts(count, 44, tmp_path)
    assert {number: word for number, word in answers.items() if word.startswith("bad")} == {}
    assert "runs" in answers.values() and "E316" in answers.values()
