"""What `codegen plan` writes on request: exports and the picture.
--no-reduce, what reports say of the reduction, and its key in codegen.toml.
What summaries say of steps on core 1: which they are, before anything is run.
"""

import errno
import json
import os
import re
from pathlib import Path

import pytest

from codegen.cli import main
from codegen.driver.inputs.files import example_model, write_file
from codegen.driver.options import Options
from codegen.driver.plan_export import write_tflm
from codegen.errors import CodegenError
from codegen.plan.place import problem_files
from tests.cli.test_verbs import call
from tests.networks import model_path
from tests.search.ranges.networks import residual


def _call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_minimalloc_is_a_problem_that_can_be_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "digits.csv"
    assert _call("plan", str(example_model()), "--export", "minimalloc", "-o", str(target)) == 0
    assert f"written   {target}" in capsys.readouterr().out
    assert target.read_text().startswith("id,lower,upper,size")
    assert problem_files.read_problem(target).buffers
    again = tmp_path / "again.csv"
    assert _call("plan", str(target), "-q", "--export", "minimalloc", "-o", str(again)) == 0
    assert again.read_text() == target.read_text()


def test_tflm_is_the_model_and_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "planned.tflite"
    assert _call("plan", str(example_model()), "--export", "tflm", "-o", str(target)) == 0
    assert "TFLite Micro's arena head:" in capsys.readouterr().out
    assert target.read_bytes().endswith(example_model().read_bytes())
    assert _call("plan", str(target), "-q") == 0


def test_a_picture_of_a_model_and_of_a_problem(tmp_path: Path) -> None:
    model, problem, table = tmp_path / "m.svg", tmp_path / "p.svg", tmp_path / "p.csv"
    table.write_text("id,lower,upper,size\na,0,2,10\nb,1,3,10\n")
    assert _call("plan", str(example_model()), "-q", "--svg", str(model)) == 0
    assert _call("plan", str(table), "-q", "--svg", str(problem)) == 0
    assert all(path.read_text().startswith("<svg ") for path in (model, problem))


def test_a_picture_of_sizes_that_are_ranges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The peak over them; the map of memory where there is one size only."""
    model, svg = tmp_path / "m.tflite", tmp_path / "m.svg"
    model.write_bytes(residual().data)
    for dim, title, told in (
        ("T=10..14", "m: peak over T", "the peaks over all sizes"),
        ("T=12..12", "m: memory over time", "memory over time"),
    ):
        assert _call("plan", str(model), "--dim", dim, "--svg", str(svg)) == 0
        assert f"<title>{title}</title>" in svg.read_text()
        assert f"written   {svg}  ({told})" in capsys.readouterr().out


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
    assert _call("plan", str(example_model()), "-q", *words) == 2
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
    assert _call("plan", str(model), *flags, str(target)) == 2
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
        assert _call(*export, target) == 2
        assert f"error[E218] -o {target}: is " in capsys.readouterr().err
    assert _call(*export, "both.svg", "--svg", "./both.svg") == 2
    assert "error[E218] --svg both.svg: is the file of -o" in capsys.readouterr().err
    (tmp_path / "ir").mkdir()
    (tmp_path / "ir" / "00_import.ir").symlink_to(table)
    for verb in ("plan", "build", "run", "validate"):
        assert _call(verb, "p.csv", "--dump-ir", "ir") == 2
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
        assert _call("plan", name, *(each for word in words for each in ("--pool", word))) == 2
        assert capsys.readouterr().err == said
    for name in ("p.csv", "p.json"):
        assert _call("plan", name, "--board", "microbit") == 2
        assert f"error[E219] --board: {name} is a bare problem, of no board" in capsys.readouterr().err
    assert _call("plan", "p.csv", "-q", "--pool", "ram=10") == 0
    assert _call("plan", "p.csv", "-q", "--pool", "ram=9") == 4
    # What a project says of its models is no mistake here.
    Path("codegen.toml").write_text('board = "microbit"\n[pool]\nsram = 4096\n')
    assert _call("plan", "p.csv", "-q") == 0


def test_only_a_model_carries_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "p.csv"
    table.write_text("id,lower,upper,size\na,0,2,10\n")
    assert _call("plan", str(table), "-q", "--export", "tflm", "-o", str(tmp_path / "x")) == 2
    assert "error[E207] p.csv: only a .tflite file" in capsys.readouterr().err


def test_an_arena_that_is_too_small(tmp_path: Path) -> None:
    target = tmp_path / "x.tflite"
    with pytest.raises(CodegenError, match=r"E401.* pool arena") as caught:
        write_tflm(example_model(), target, Options(pool_limits={"arena": 16}))
    assert caught.value.exit_code == 4
    assert not target.exists()


SMALL = model_path("dense_chain_pruned")


def plan(*words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", str(SMALL), *words])
    assert not ended.value.code


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CODEGEN_REDUCE", raising=False)


def test_the_summary_has_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """4 of 16 neurons of the first layer are constant: 4 * (1 + 16) products less."""
    plan()
    line = "reduced   to 220 of 288 multiply-accumulates, 220 of 288 weight bytes"
    assert f"{line} (4 channels constant or unread)" in capsys.readouterr().out.splitlines()
    plan("--no-reduce")
    assert "reduced" not in capsys.readouterr().out


def test_speed_is_of_what_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """`work 3,727,313 multiply-accumulates` stood beside a speed per one of the file's 7,489,664."""
    with pytest.raises(SystemExit) as ended:
        main(["run", str(SMALL), "--board", "mps2-an386"])
    assert not ended.value.code
    out = capsys.readouterr().out
    assert "\nwork      220 multiply-accumulates, none extra;" in out
    told = re.search(r"^speed     ([0-9,]+) instructions an inference \(([0-9.]+) per mult", out, re.M)
    assert told is not None
    assert told[2] == f"{int(told[1].replace(',', '')) / 220:.2f}"


def test_the_report_names_what_was_removed(capsys: pytest.CaptureFixture[str]) -> None:
    plan("--json")
    document = json.loads(capsys.readouterr().out)
    assert document["model"]["macs"] == 288
    assert document["model"]["macs_executed"] == 220
    found = document["reduction"]
    assert (found["macs_before"], found["macs_after"]) == (288, 220)
    assert (found["weight_bytes_before"], found["weight_bytes_after"]) == (288, 220)
    (step,) = found["steps"]
    assert step["op"] == "FULLY_CONNECTED"
    assert step["where"].startswith("op 0 FULLY_CONNECTED")
    assert (step["channels_before"], step["channels_after"], step["stuck_at_clamp"]) == (16, 12, 4)
    assert (step["zero_weights"], step["constant_input"], step["unread"]) == (0, 0, 0)
    plan("--json", "--no-reduce")
    document = json.loads(capsys.readouterr().out)
    assert document["reduction"] is None
    assert document["model"]["macs_executed"] == 288


def test_environment_and_file_turn_it_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("codegen.toml").write_text("reduce = false\n")
    plan("--json")
    assert json.loads(capsys.readouterr().out)["reduction"] is None
    plan("--json", "--reduce")
    assert json.loads(capsys.readouterr().out)["reduction"] is not None
    Path("codegen.toml").unlink()
    monkeypatch.setenv("CODEGEN_REDUCE", "false")
    plan("--json")
    assert json.loads(capsys.readouterr().out)["reduction"] is None


BOARD = ("--board", "mps2-an521", "--optimize", "speed")
PLACE = "[[place]]\n{}\ndevice_id = {}\n"
TOLD = "core 1    4 of 13 steps: 1 dw1, 3 dw3, 5 dw5, 7 dw7"


def _kws(folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, core: int = 1) -> str:
    """kws_ref_model, planned in a folder where `place` is asked for."""
    (folder / "codegen.toml").write_text(PLACE.format(place, core))
    monkeypatch.chdir(folder)
    return str(model_path("ds_cnn"))


def test_steps_on_core_1_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only `run` told, and only how many they are: `core 1    4 of 13 steps, stack ...`."""
    model = _kws(tmp_path, monkeypatch, 'op = "DEPTHWISE_CONV_2D"')
    assert call("plan", model, *BOARD) == 0
    lines = capsys.readouterr().out.splitlines()
    assert TOLD in lines
    rows = [line.split()[1] for line in lines if line.endswith("  core 1")]
    assert rows == ["dw1", "dw3", "dw5", "dw7"]
    assert call("build", model, *BOARD, "-o", "out") == 0
    assert TOLD in capsys.readouterr().out.splitlines()
    assert "   1 dw1 " in (text := Path("out/ds_cnn.c").read_text(encoding="utf-8"))
    assert text.count("  core 1\n") == 4
    assert json.loads(Path("out/report.json").read_text(encoding="utf-8"))["plan"]["core1_steps"] == [
        1,
        3,
        5,
        7,
    ]


def test_a_program_on_one_core_says_nothing_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _kws(tmp_path, monkeypatch, "op = 0", core=0)
    assert call("plan", model, *BOARD) == 0
    assert "core 1" not in capsys.readouterr().out
    assert call("plan", model, *BOARD, "--json") == 0
    assert json.loads(capsys.readouterr().out)["plan"]["core1_steps"] == []


@pytest.mark.qemu
def test_a_run_tells_of_both_stacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _kws(tmp_path, monkeypatch, 'op = "DEPTHWISE_CONV_2D"')
    assert call("run", model, *BOARD) == 0
    lines = capsys.readouterr().out.splitlines()
    assert TOLD in lines
    [at] = [index for index, line in enumerate(lines) if line.startswith("stack ")]
    assert lines[at + 1].startswith("          on core 1 ") and ", static bound " in lines[at + 1]


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (
            "inputs = true",
            "error[E325] codegen.toml, line 1, place 1: "
            "input_1: given to cortex-m33 device 1, but no step computes "
            "an input: the caller writes it\n"
            'help: place what reads it instead (tensor = "conv0"), or leave device_id out\n',
        ),
        (
            'op = "RESHAPE"',
            "error[E325] codegen.toml, line 1, place 1: "
            "reshape10 (a view of avgpool9): given to cortex-m33 device "
            "1, but no code runs for a view: its bytes are there already\n"
            'help: place what computes these bytes instead (tensor = "avgpool9"), or leave device_id out\n',
        ),
        (
            'op = "CONV_2D"\ntarget = "npu"',
            "error[E322] codegen.toml, line 1, place 1: "
            "conv0, conv2, conv4, conv6, conv8 are given to npu device 1, "
            "but mps2-an521 has only its cores, cortex-m33 device 0 and cortex-m33 device 1, and no kernel "
            "of these steps drives another device\n"
            "help: leave target and device_id out, or declare a [[kernel]] that has them\n",
        ),
    ],
    ids=["inputs", "views", "target"],
)
def test_places_without_effect_are_refused(
    place: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = _kws(tmp_path, monkeypatch, place)
    assert call("plan", model, *BOARD) == 3
    assert capsys.readouterr().err == told


def test_what_is_offered_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _kws(tmp_path, monkeypatch, 'tensor = "avgpool9"')
    assert call("plan", model, *BOARD) == 0
    assert "core 1    1 of 13 steps: 9 avgpool9" in capsys.readouterr().out.splitlines()
