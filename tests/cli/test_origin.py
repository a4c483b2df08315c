"""A value that is wrong is told where it was set: file, line and key, or the environment variable.

Values of codegen.toml and of the environment were told as if they were flags that nobody had typed.
"""

import json
from pathlib import Path

import pytest

from codegen.driver.example import example_model
from tests.cli.test_verbs import call


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
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
    (first, *_) = _told(capsys)
    code, _, rest = first.partition("] ")
    assert rest.startswith(told), first
    assert code.startswith("error[E2")


def test_a_deadline_that_is_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    """`--deadline nan` was taken, and planning never ended by it."""
    (first, *_) = _told(capsys, "--deadline", "nan")
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
    (first, *_) = _told(capsys)
    assert first.partition("] ")[2].startswith(f"environment variable CODEGEN_{name}: {told}")


def test_a_flag_is_told_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("codegen.toml").write_text('optimize = "fast"\n')
    (first, *_) = _told(capsys, "--optimize", "quick")
    assert first.startswith("error[E201] Invalid value for '--optimize': 'quick' is not one of ")
    (first, *_) = _told(capsys, "--optimize", "speed", "--pool", "sram")
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
    (first, *_) = _told(capsys)
    assert first == (
        f"error[E251] ../../codegen.toml, line 1, key board: {project}/boards/mine.toml: cannot be read: "
        "No such file or directory"
    )
    (tmp_path / "other.toml").write_text('board = "host"\n')
    assert call("plan", str(example_model()), "--json", "--config", str(tmp_path / "other.toml")) == 0
    assert json.loads(capsys.readouterr().out)["board"]["name"] == "host"
    monkeypatch.setenv("CODEGEN_CONFIG", str(tmp_path / "other.toml"))
    assert call("plan", "-q", str(example_model())) == 0
    (first, *_) = _told(capsys, "--config", "none.toml")
    assert first == "error[E204] no file none.toml"
    monkeypatch.setenv("CODEGEN_CONFIG", "gone.toml")
    (first, *_) = _told(capsys)
    assert first == "error[E204] environment variable CODEGEN_CONFIG: no file gone.toml"


def test_a_folder_called_codegen_toml_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """It was passed over in silence: the build took other settings than meant."""
    Path("codegen.toml").mkdir()
    first, help_ = _told(capsys)
    assert first == "error[E204] codegen.toml: is a folder"
    assert help_.startswith("help: settings are looked for there: rename it, ")


def test_wrong_tables_are_told_all_at_once_with_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of [[...]] had no line; those of [pool] came after all others were mended, with the line of the
    table."""
    Path("codegen.toml").write_text(
        '# mine\n[[place]]\ninputs = true\nmemory = "ccm"\n\n  [[place]]\nmemory = "ccm"\n'
        "[[state]]\n[pool]\nccm = 5\nsram = true\nflash = -1\n"
    )
    told = [line for line in _told(capsys) if line.startswith("error")]
    assert told == [
        "error[E202] codegen.toml, line 6, place 2: needs exactly one of tensor, op, inputs, outputs",
        "error[E202] codegen.toml, line 8, state 1: input is missing",
        "error[E202] codegen.toml, line 8, state 1: output is missing",
        'error[E202] codegen.toml, line 11, key pool.sram: must be a size: 4096, 0x1000 or "4K", got True',
        'error[E202] codegen.toml, line 12, key pool.flash: must be a size: 4096, 0x1000 or "4K", got -1',
    ]


def test_a_name_that_cannot_be_says_its_place_once(capsys: pytest.CaptureFixture[str]) -> None:
    """`codegen.toml, line 1, key name: codegen.toml, name string: ...` (E227)."""
    Path("codegen.toml").write_text('name = "string"\n')
    (first, *_) = _told(capsys)
    assert first.startswith("error[E227] codegen.toml, line 1, key name: a model cannot be called string")
    assert first.count("codegen.toml") == 1


def test_a_file_that_cannot_be_written_says_what_to_try(capsys: pytest.CaptureFixture[str]) -> None:
    """E206 had no help."""
    first, help_ = _told(capsys, "-q", "-o", "none/plan.json")
    assert first.startswith("error[E206] none/plan.json: cannot be written: ")
    assert help_ == "help: name a file in a folder that is there and that you may write to"
