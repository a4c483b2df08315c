"""What `codegen plan` writes on request: exports and the picture."""

import errno
import os
from pathlib import Path

import pytest

from codegen.cli import main
from codegen.driver.example import example_model
from codegen.driver.export import write_tflm
from codegen.driver.inputs.files import write_file
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.plan.place import problem_files


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
    assert problem_files.read_problem(target).buffers
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


@pytest.mark.parametrize("link", ["itself", "symbolic", "hard"])
@pytest.mark.parametrize(
    ("flags", "said"),
    [(["--export", "tflm", "-o"], "-o"), (["--export", "minimalloc", "-o"], "-o"), (["--svg"], "--svg")],
)
def test_no_input_is_written_over(
    flags: list[str], said: str, link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`plan mine.tflite --export tflm -o mine.tflite` took the model away without a word."""
    model = tmp_path / "mine.tflite"
    model.write_bytes(example_model().read_bytes())
    target = model if link == "itself" else tmp_path / "link.svg"
    if link == "symbolic":
        target.symlink_to("mine.tflite")
    elif link == "hard":
        target.hardlink_to(model)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert call("plan", str(model), *flags, str(target)) == 2
    text = f"error[E218] {said} {target}: is an input of this command, which would be lost\nhelp: "
    assert text in capsys.readouterr().err
    assert model.read_bytes() == example_model().read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_nothing_that_a_command_reads_is_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table, source = tmp_path / "p.csv", tmp_path / "mine.c"
    texts = {
        table: "id,lower,upper,size\na,0,2,10\n",
        source: "int mine;\n",
        tmp_path / "codegen.toml": '[[kernel]]\nop = "X"\nsymbol = "mine"\nsource = "mine.c"\n',
        tmp_path / "app.elf": "no ELF",
        tmp_path / "b.toml": "no board",
    }
    for path, text in texts.items():
        path.write_text(text)
    export = ("plan", "p.csv", "--app-elf", "app.elf", "--board", "b.toml", "--export", "minimalloc", "-o")
    for target in (*(path.name for path in texts), "../" + tmp_path.name + "/p.csv"):
        assert call(*export, target) == 2
        assert f"error[E218] -o {target}: is " in capsys.readouterr().err
    assert call(*export, "both.svg", "--svg", "./both.svg") == 2
    assert "error[E218] --svg both.svg: is the file of -o" in capsys.readouterr().err
    (tmp_path / "ir").mkdir()
    (tmp_path / "ir" / "00_import.ir").symlink_to(table)
    for verb in ("plan", "build", "run", "validate"):
        assert call(verb, "p.csv", "--dump-ir", "ir") == 2
        assert "error[E218] --dump-ir ir/00_import.ir: is an input of" in capsys.readouterr().err
    assert {path: path.read_text() for path in texts} == texts


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link to another file stays a link, a file keeps its rights, a failure leaves what was there."""
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to("file")
    write_file(link, b"new")
    assert link.is_symlink() and file.read_text() == "new" and file.stat().st_mode & 0o777 == 0o640
    write_file(Path("/dev/null"), b"gone")

    def full(_path: Path, _target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(CodegenError, match=r"E206\] .*file: cannot be written: No space left"):
        write_file(file, b"newer")
    assert file.read_text() == "new" and sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_a_bare_problem_has_no_pools_of_boards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--pool sram=4K`, `--pool nonsense=4K` and `--board microbit` changed nothing, without a word."""
    monkeypatch.chdir(tmp_path)
    rows = "id,lower,upper,size\na,0,2,10\n"
    Path("p.csv").write_text(rows)
    Path("p.json").write_text(problem_files.to_json(problem_files.read_problem(Path("p.csv"))))
    csv, json = (
        "help: its only pool is ram: --pool ram=BYTES\n",
        "help: its pools and limits are in the file\n",
    )
    for name, words, said in (
        ("p.csv", ["sram=4K"], f"error[E215] p.csv takes no --pool sram\n{csv}"),
        ("p.csv", ["b=4K", "ram=4K", "a=1"], f"error[E215] p.csv takes no --pool a, b\n{csv}"),
        ("p.csv", ["ram=4K@0x100"], f"error[E215] p.csv takes no --pool ram at an address\n{csv}"),
        ("p.json", ["ram=4K"], f"error[E215] p.json takes no --pool ram\n{json}"),
    ):
        assert call("plan", name, *(each for word in words for each in ("--pool", word))) == 2
        assert capsys.readouterr().err == said
    for name in ("p.csv", "p.json"):
        assert call("plan", name, "--board", "microbit") == 2
        assert f"error[E219] --board: {name} is a bare problem, of no board" in capsys.readouterr().err
    assert call("plan", "p.csv", "-q", "--pool", "ram=10") == 0
    assert call("plan", "p.csv", "-q", "--pool", "ram=9") == 4
    # What a project says of its models is no mistake here.
    Path("codegen.toml").write_text('board = "microbit"\n[pool]\nsram = 4096\n')
    assert call("plan", "p.csv", "-q") == 0


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
