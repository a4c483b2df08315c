"""What `codegen plan` writes on request: exports and the picture."""

from pathlib import Path

import pytest

from codegen.cli import main
from codegen.driver.example import example_model
from codegen.driver.export import write_tflm
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.plan import files


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_minimalloc_is_a_problem_that_can_be_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "digits.csv"
    assert call("plan", str(example_model()), "--export", "minimalloc", "-o", str(target)) == 0
    assert f"written   {target}" in capsys.readouterr().out
    assert target.read_text().startswith("id,lower,upper,size")
    assert files.read_problem(target).buffers
    again = tmp_path / "again.csv"
    assert call("plan", str(target), "-q", "--export", "minimalloc", "-o", str(again)) == 0
    assert again.read_text() == target.read_text()


def test_tflm_is_the_model_and_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "planned.tflite"
    assert call("plan", str(example_model()), "--export", "tflm", "-o", str(target)) == 0
    assert "TFLite Micro's arena head:" in capsys.readouterr().out
    assert target.read_bytes().endswith(example_model().read_bytes())
    assert call("plan", str(target), "-q") == 0


def test_a_picture_of_a_model_and_of_a_problem(tmp_path: Path) -> None:
    model, problem, table = tmp_path / "m.svg", tmp_path / "p.svg", tmp_path / "p.csv"
    table.write_text("id,lower,upper,size\na,0,2,10\nb,1,3,10\n")
    assert call("plan", str(example_model()), "-q", "--svg", str(model)) == 0
    assert call("plan", str(table), "-q", "--svg", str(problem)) == 0
    assert all(path.read_text().startswith("<svg ") for path in (model, problem))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--export", "tflm"], "error[E208] --export needs -o FILE"),
        (["-o", "x"], "error[E208] -o needs --export FORMAT"),
        (["--export", "minimalloc", "-o", "missing/x.csv"], "error[E206] missing/x.csv: cannot be written"),
        (["--svg", "missing/x.svg"], "error[E206] missing/x.svg: cannot be written"),
    ],
)
def test_wrong_use(
    words: list[str],
    text: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("plan", str(example_model()), "-q", *words) == 2
    assert text in capsys.readouterr().err


def test_only_a_model_carries_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "p.csv"
    table.write_text("id,lower,upper,size\na,0,2,10\n")
    assert call("plan", str(table), "-q", "--export", "tflm", "-o", str(tmp_path / "x")) == 2
    assert "error[E207] p.csv: only a .tflite file" in capsys.readouterr().err


def test_an_arena_that_is_too_small(tmp_path: Path) -> None:
    target = tmp_path / "x.tflite"
    with pytest.raises(CodegenError, match=r"E401.* pool arena") as caught:
        write_tflm(example_model(), target, Options(pool_limits={"arena": 16}))
    assert caught.value.exit_code == 4
    assert not target.exists()
