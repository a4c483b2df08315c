"""docs/report.md has every key of report.json, and none that no report has; so have the docs every flag.
A value that is wrong is told where it was set: file, line and key, or the environment variable.

Values of codegen.toml and of the environment were told as if they were flags that nobody had typed.
What summaries and reports say of constants and their copies.
A model whose stack does not fit the test firmware is built all the same: the stack is the application's.

`build` wrote nothing for micro_speech_quantized on stm32vldiscovery, although the product fits.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import click
import pytest

from codegen.cli.main import cli
from codegen.command.option_table import ROWS
from codegen.driver.build import build
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.files import example_model
from codegen.driver.options import Options
from codegen.driver.report.single import report
from codegen.driver.run import execute
from tests.checkout import ROOT
from tests.cli.test_verbs import call
from tests.ethos_u.files import pooled_by_npu
from tests.importers.onnx.drawn import chain
from tests.networks import model_path
from tests.search.ranges.networks import residual

DOCS = ROOT / "docs"
_KEY = re.compile(r"`([a-z0-9_.\[\]]+)`")


def documented() -> set[str]:
    """Keys in front of the colon of the page's list items."""
    page = (DOCS / "report.md").read_text(encoding="utf-8")
    heads = re.findall(r"^- ((?:`[^`]+`,?\s+)*`[^`]+`):", page, re.MULTILINE)
    return {key for head in heads for key in _KEY.findall(head)}


def _keys(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in cast("Mapping[str, object]", value).items():
            named = f"{path}.{key}" if path else key
            yield named
            yield from _keys(part, named)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from _keys(part, f"{path}[]")


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> set[str]:
    """Keys of the document that a verb prints; `code` and `data` of waits are told in the text."""
    assert call(*words, "--json") == 0
    return {key for key in _keys(json.loads(capsys.readouterr().out)) if "flash_waits_estimate." not in key}


def _placed(monkeypatch: pytest.MonkeyPatch, folder: Path, *tables: str) -> None:
    (folder / "codegen.toml").write_text("".join(f"[[place]]\n{table}\n" for table in tables))
    monkeypatch.chdir(folder)


KWS, VWW, AD = "ds_cnn", "mobilenet_v1_pruned", "autoencoder"
SPEECH = "speech"


@pytest.mark.qemu
def test_a_run_with_core_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _placed(monkeypatch, tmp_path, 'op = "DEPTHWISE_CONV_2D"\ndevice_id = 1')
    board = ("--board", "mps2-an521", "--optimize", "speed")
    found = _told(capsys, "run", str(model_path(KWS)), *board, "--cycles")
    assert {"steps[].core", "run.core1_stack_peak_bytes", "elf.core1_stack_bound_bytes"} <= found
    assert found - documented() == set()


def test_a_build_with_compression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    limit = ("--board", "mps2-an386", "--pool", "flash=250000")
    found = _told(capsys, "build", str(model_path(AD)), *limit)
    assert "constants.compressed.constants[].stored_bytes" in found
    assert found - documented() == set()


def test_no_key_is_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that reports can have: blocks, lost channels, staged constants, copies between memories, several
    models, a run, compression, the curve."""
    where = tmp_path / "places"
    where.mkdir()
    monkeypatch.chdir(tmp_path)
    found = _told(capsys, "plan", str(model_path(VWW)), "--board", "stm32")
    staged = ("--board", "nucleo-g474re", "--stage", "use", "--optimize", "speed", "--pool", "sram=5300")
    found |= _told(capsys, "plan", str(model_path(SPEECH)), *staged, "--pool", "ccm=0")
    found |= _told(capsys, "plan", str(model_path(AD)), "--board", "mps2-an386", "--pool", "flash=250000")
    found |= _told(capsys, "run", str(model_path("dense_chain")), "--board", "host")
    models = [str(model_path(key)) for key in ("dense_chain", SPEECH)]
    several = _told(capsys, "build", *models, "--board", "mps2-an386")
    several = {key.removeprefix("models[].") for key in several}
    names = "|".join(Path(model).stem for model in models)
    found |= {re.sub(rf"^constants\.staged\.({names})(\.|$)", r"constants.staged\2", key) for key in several}
    found |= _told(capsys, "plan", str(model_path(KWS)), "--pareto", "--optimize", "size")
    found |= _told(capsys, "plan", str(model_path(SPEECH)), "--window", "input_1.1=40")
    sized = tmp_path / "residual.tflite"
    sized.write_bytes(residual().data)
    found |= _told(capsys, "run", str(sized), "--board", "host", "--dim", "T=20..24", "--at", "T=21")
    found |= _told(capsys, "validate", str(sized), "--board", "host", "--dim", "T=20..24", "--at", "T=21")
    limit = ("--board", "mps2-an386", "--pool", "sram=600", "--pool", "psram=0")
    found |= _told(capsys, "plan", str(sized), *limit, "--dim", "T=20..")
    found |= _told(capsys, "plan", models[0], "--board", "mps2-an385", "--dim", "N=1..8")
    batch = ("--dim", "x0.0=1..4", "--dim", "x0.1=40..40")
    found |= _told(capsys, "plan", str(sized), "--board", "mps3-an547", *batch, "--pool", "dtcm=2000")
    rounded = tmp_path / "rounded.onnx"
    rounded.write_bytes(chain().qdq)
    found |= _told(capsys, "plan", str(rounded), "--board", "host")
    npu = tmp_path / "npu.tflite"
    npu.write_bytes(pooled_by_npu())
    found |= _told(capsys, "plan", str(npu), "--board", "host")
    found |= _told(capsys, "plan", str(rounded), "--board", "host", "--pareto")
    _placed(monkeypatch, where, 'op = "CONV_2D"\nmemory = "sram"', 'op = "DEPTHWISE_CONV_2D"\nreads = "dtcm"')
    found |= _told(capsys, "plan", str(model_path(KWS)), "--board", "mps3-an547")
    assert (found - documented(), documented() - found) == (set(), set())


def test_cycles_of_a_real_board_are_reported(tmp_path: Path) -> None:
    """`run.cycles` was null whatever the counter of a board had said."""
    built = build([model_path("dense_chain")], Options(board="host"), tmp_path / "out")
    [planned] = built.models
    program = planned.program
    measured = execute(built, [pattern_case([tensor.type for tensor in program.signature.inputs], 0)])
    [case] = measured.result.cases
    assert cast("Mapping[str, object]", report(planned, "host", None, measured)["run"])["cycles"] is None
    result = replace(measured.result, cases=(replace(case, cycles=1234),))
    counted = report(planned, "host", None, replace(measured, result=result))
    assert cast("Mapping[str, object]", counted["run"])["cycles"] == 1234


def test_no_build_reports_a_time() -> None:
    """The planner's seconds were in every report.json, so that two builds of one input differed."""
    counted = {"time.milliseconds", "steps[].microseconds"}  # follows from counts, which repeat
    assert {key for key in documented() if "second" in key} - counted == {"run.planning_seconds"}


def test_every_flag_is_documented() -> None:
    """Some were in `--help` alone."""
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    flags = {
        name
        for verb in ("build", "run", "validate", "plan")
        for parameter in cli.commands[verb].params
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    }
    assert len(flags) > 25
    assert {flag for flag in flags if not re.search(rf"{flag}\b(?!-)", page)} == set()


def test_the_table_of_options_is_that_of_the_docs() -> None:
    """Flags, variables, keys and defaults of docs/configuration.md, written there by hand."""
    lines = (DOCS / "configuration.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    told: dict[str, set[str]] = {}
    for flag, variable, key, default in (row for row in rows if len(row) == 4 and row[0].startswith("`--")):
        name = re.findall(r"--([a-z-]+)", flag)[0]
        said = re.findall(r"`(CODEGEN_\w+)`", variable)
        keys = {name} & set(re.findall(r"[a-z-]+", key))
        told.setdefault(name, set()).update([*said, *keys, default.strip("`")])
    settable = {row.key: row for row in ROWS.values() if row.toml is not None}
    assert told.keys() == settable.keys()
    for key, row in settable.items():
        assert {row.variable, key} <= told[key], key
        default = row.settings.get("default")
        words = {True: "on", None: "off" if row.settings.get("is_flag") else None}
        expected = words.get(default, str(default))
        assert expected is None or expected in told[key], key


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _told_origin(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert call("plan", str(example_model()), *words) == 2
    told = capsys.readouterr()
    assert not told.out
    return told.err.splitlines()


_FILE = [
    ('# mine\n\noptimize = "fast"\n', "codegen.toml, line 3, key optimize: 'fast' is not one of 'speed', "),
    ('seed = 1\nboard = "stm23"\n', "codegen.toml, line 2, key board: there is no board 'stm23'"),
    ('planner = "hillclimb"\n', "codegen.toml, line 1, key planner: planner hillclimb: "),
    ("deadline = -1\n", "codegen.toml, line 1, key deadline: -1.0 is not in the range x>0"),
    (
        '[pool]\n\nsram = "32KB"\n',
        'codegen.toml, line 3, key pool.sram: must be a size: 4096, 0x1000 or "4K", got ',
    ),
    ("deadline = nan\n", "codegen.toml, line 1, key deadline: nan is not in the range x>0"),
    ('app-elf = "none.elf"\n', "codegen.toml, line 1, key app-elf: "),
    ('seed = 1\nbord = "x"\n', "codegen.toml, line 2, key bord: unknown key 'bord'"),
    ("keep-inputs = 1\n", "codegen.toml, line 1, key keep-inputs: keep-inputs must be true or false"),
    ("seed = true\n", "codegen.toml, line 1, key seed: seed must be an integer"),
    ('text = """\nboard = 3\n"""\nstack = "1K5"\n', "codegen.toml, line 1, key text: unknown key 'text'"),
]


@pytest.mark.parametrize(("text", "told"), _FILE, ids=[told.split(":")[0].split()[-1] for _, told in _FILE])
def test_a_wrong_value_of_the_file(text: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("codegen.toml").write_text(text)
    (first, *_) = _told_origin(capsys)
    code, _, rest = first.partition("] ")
    assert rest.startswith(told), first
    assert code.startswith("error[E2")


def test_a_deadline_that_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    """`--deadline nan` was taken, and planning never ended by it."""
    (first, *_) = _told_origin(capsys, "--deadline", "nan")
    assert first == "error[E201] Invalid value for '--deadline': nan is not in the range x>0."


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("OPTIMIZE", "fast", "'fast' is not one of 'speed', 'balanced', 'size'."),
        ("BOARD", "stm23", "there is no board 'stm23'"),
        ("POOL", "sram=1 ccm", "ccm is not NAME=BYTES"),
        ("SEED", "one", "'one' is not a valid integer."),
    ],
)
def test_a_wrong_value_of_the_environment(
    name: str, value: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"CODEGEN_{name}", value)
    (first, *_) = _told_origin(capsys)
    assert first.partition("] ")[2].startswith(f"environment variable CODEGEN_{name}: {told}")


def test_a_flag_is_told_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("codegen.toml").write_text('optimize = "fast"\n')
    (first, *_) = _told_origin(capsys, "--optimize", "quick")
    assert first.startswith("error[E201] Invalid value for '--optimize': 'quick' is not one of ")
    (first, *_) = _told_origin(capsys, "--optimize", "speed", "--pool", "sram")
    assert first == "error[E203] --pool sram is not NAME=BYTES"


def test_the_file_is_looked_for_up_to_the_root_of_the_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was read in the current folder alone: a build in a folder of the project took other settings."""
    (tmp_path / "codegen.toml").write_text('board = "of-others"\n')
    project, inner = tmp_path / "project", tmp_path / "project" / "firmware" / "app"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert call("plan", "-q", str(example_model())) == 0  # no repository: what lies above belongs to others
    (project / ".git").mkdir()
    assert call("plan", "-q", str(example_model())) == 0  # and beyond its root, too
    (project / "codegen.toml").write_text('board = "boards/mine.toml"\n')
    (first, *_) = _told_origin(capsys)
    assert first == (
        f"error[E251] ../../codegen.toml, line 1, key board: {project}/boards/mine.toml: cannot be read: "
        "No such file or directory"
    )
    (tmp_path / "other.toml").write_text('board = "host"\n')
    assert call("plan", str(example_model()), "--json", "--config", str(tmp_path / "other.toml")) == 0
    assert json.loads(capsys.readouterr().out)["board"]["name"] == "host"
    monkeypatch.setenv("CODEGEN_CONFIG", str(tmp_path / "other.toml"))
    assert call("plan", "-q", str(example_model())) == 0
    (first, *_) = _told_origin(capsys, "--config", "none.toml")
    assert first == "error[E204] no file none.toml"
    monkeypatch.setenv("CODEGEN_CONFIG", "gone.toml")
    (first, *_) = _told_origin(capsys)
    assert first == "error[E204] environment variable CODEGEN_CONFIG: no file gone.toml"


def test_a_folder_called_codegen_toml_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """It was passed over in silence: the build took other settings than meant."""
    Path("codegen.toml").mkdir()
    first, help_ = _told_origin(capsys)
    assert first == "error[E204] codegen.toml: is a folder"
    assert help_.startswith("help: settings are looked for there: rename it, ")


def test_wrong_tables_are_told_all_at_once_with_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of [[...]] had no line; those of [pool] came after all others were mended, with the line of the
    table."""
    Path("codegen.toml").write_text(
        '# mine\n[[place]]\ninputs = true\nmemory = "ccm"\n\n  [[place]]\nmemory = "ccm"\n'
        "[[state]]\n[pool]\nccm = 5\nsram = true\nflash = -1\n"
    )
    told = [line for line in _told_origin(capsys) if line.startswith("error")]
    assert told == [
        "error[E202] codegen.toml, line 6, place 2: needs exactly one of tensor, op, inputs, outputs",
        "error[E202] codegen.toml, line 8, state 1: needs input and output, or memory, or all three",
        'error[E202] codegen.toml, line 11, key pool.sram: must be a size: 4096, 0x1000 or "4K", got True',
        'error[E202] codegen.toml, line 12, key pool.flash: must be a size: 4096, 0x1000 or "4K", got -1',
    ]


def test_a_name_that_cannot_be_says_its_place_once(capsys: pytest.CaptureFixture[str]) -> None:
    """`codegen.toml, line 1, key name: codegen.toml, name string: ...` (E227)."""
    Path("codegen.toml").write_text('name = "string"\n')
    (first, *_) = _told_origin(capsys)
    assert first.startswith("error[E227] codegen.toml, line 1, key name: a model cannot be called string")
    assert first.count("codegen.toml") == 1


def test_a_file_that_cannot_be_written_says_what_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    """E206 had no help."""
    first, help_ = _told_origin(capsys, "-q", "-o", "none/plan.json")
    assert first.startswith("error[E206] none/plan.json: cannot be written: ")
    assert help_ == "help: name a file in a folder that is there and that you may write to"


def test_constants_of_the_callers_lie_in_no_flash(capsys: pytest.CaptureFixture[str]) -> None:
    """They were reported as bytes in flash, with its section, though no image of the model holds them."""
    model = str(model_path("speech"))
    words = ["plan", model, "--board", "mps2-an386", "--constants"]
    assert call(*words, "external", "--json") == 0
    found = json.loads(capsys.readouterr().out)["constants"]
    size = found["total_bytes"]
    assert found["mode"] == "external" and size > 0
    [pool] = found["pools"]
    assert (pool["name"], pool["region"], pool["section"], pool["size_bytes"]) == ("flash", None, None, size)
    assert call(*words, "external") == 0
    told = f"constants {size:,} bytes not in the image: the caller's, planned as if in flash\n"
    assert told in capsys.readouterr().out
    assert call(*words, "linked", "--json") == 0
    [pool] = json.loads(capsys.readouterr().out)["constants"]["pools"]
    assert (pool["region"], pool["section"]) == ("FLASH", ".rodata.cg.flash")


def test_copies_of_one_model_are_told_without_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    """`staged    micro_speech_quantized: ... 1 copies an inference` below a headline with the name."""
    model = str(model_path("speech"))
    words = ["--board", "nucleo-g474re", "--stage", "use", "--optimize", "speed", "--pool", "ccm=0"]
    for limit, copies in ((5100, "160 bytes in 1 copy"), (5300, "320 bytes in 2 copies")):
        assert call("plan", model, *words, "--pool", f"sram={limit}") == 0
        [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("staged")]
        assert line.startswith(f"staged    0 bytes at start-up, {copies} an inference, to sram; reads of")


def test_one_compressed_constant_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """`compressed 1 constants`."""
    words = ["plan", str(model_path("autoencoder")), "--board", "mps2-an386", "--optimize", "speed"]
    for limit, told in ((275_000, "1 constant"), (270_000, "2 constants")):
        assert call(*words, "--pool", f"flash={limit}") == 0
        assert f"\ncompressed {told}, " in capsys.readouterr().out


@pytest.mark.qemu
def test_the_product_is_written_without_the_test_firmware(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = (str(model_path("speech")), "--board", "stm32vldiscovery", "-o", "made")
    assert call("build", *words) == 0
    told = capsys.readouterr()
    assert told.err.startswith("warning[E405] stack of stm32vldiscovery: lacks ")
    assert "so firmware.elf is left out, the C sources are complete\nhelp: to run it, " in told.err
    assert "written   made/  (C sources, no firmware.elf, report.json)" in told.out
    names = {path.name for path in Path("made").iterdir()}
    assert "speech.c" in names and "firmware.elf" not in names
    report = json.loads(Path("made/report.json").read_text())
    assert [message["code"] for message in report["warnings"]] == ["E405"]
    bound = report["elf"]["stack_bound_bytes"]

    # What cannot be run is an error of `run`; the folder is there, which says the same.
    assert call("run", *words) == 4
    told_once = capsys.readouterr().err
    assert told_once.startswith("error[E405] stack of stm32vldiscovery: lacks ")
    assert told_once.count("E405") == 1

    monkeypatch.setenv("CODEGEN_STACK", str(bound - 1))
    assert call("build", *words) == 4
    assert capsys.readouterr().err.startswith(
        "error[E406] environment variable CODEGEN_STACK: lacks 1 byte: the model needs up to "
    )
    assert json.loads(Path("made/report.json").read_text()) == report


@pytest.mark.qemu
def test_plan_takes_no_stack(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`plan --stack 1` was taken and ignored: without a compiler nothing is known of the stack."""
    assert call("plan", str(model_path("dense_chain")), "--stack", "1") == 2
    assert capsys.readouterr().err.startswith("error[E201] No such option")
    monkeypatch.setenv("CODEGEN_STACK", "1")  # of the project's builds
    assert call("plan", "-q", str(model_path("dense_chain"))) == 0
