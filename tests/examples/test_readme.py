"""What README and the overview print is what the commands print: it drifted once, and nobody saw."""

import csv
import json
import re
import shlex
from itertools import takewhile
from pathlib import Path

import pytest

from codegen.ir import Runner
from codegen.toolchain import gcc
from tests.checkout import ROOT
from tests.cli.test_verbs import call

README = (ROOT / "README.md").read_text(encoding="utf-8")
OVERVIEW = (ROOT / "docs" / "overview.md").read_text(encoding="utf-8")

_OF_THE_COMPILER = ("stack ", "speed ", "image ")
"""Beginnings of lines with figures that another version of gcc may change."""
_BUILD = re.compile(r"^(build +sha256) .*$")
"""The one line that every change of any file of a build changes: README says that it is there."""

Row = dict[str, str]


def _recorded() -> list[Row]:
    with (ROOT / "benchmarks" / "results" / "models.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _demo() -> list[str]:
    """The words of `make demo`, without the program."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [recipe] = re.findall(r"^demo:.*\n\t(.*)$", makefile, re.MULTILINE)
    program, *words = shlex.split(recipe)
    assert program == "$(BIN)/codegen"
    return words


def _block(first: str) -> list[str]:
    """Lines of the only code block of README whose first line begins so."""
    blocks = [
        block.splitlines() for block in re.findall(r"^```\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    ]
    [found] = [lines for lines in blocks if lines[0].startswith(first)]
    return found


def _held(lines: list[str]) -> list[str]:
    """Those to be compared: all, with the compiler that README's figures are of."""
    lines = [_BUILD.sub(r"\1", line) for line in lines]
    [recorded] = {row["compiler"] for row in _recorded()}
    if gcc.Compiler(prefix=gcc.ARM_PREFIX, options=()).version() == recorded:
        return lines
    return [line for line in lines if not line.startswith(_OF_THE_COMPILER)]


@pytest.mark.qemu
def test_the_demo_prints_what_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make demo`, in this process: build, 200 runs on QEMU, summary. It writes no name of a folder."""
    monkeypatch.chdir(tmp_path)
    assert call(*_demo()) == 0
    printed = capsys.readouterr().out.splitlines()
    assert _held(printed) == _held(_block("digits on "))


def test_readme_names_the_demo_s_command() -> None:
    *words, flag, folder = _demo()
    assert (flag, folder) == ("-o", "out/digits")
    assert f"`make demo` ends like this (`codegen {' '.join(words)}`;" in README


def test_the_picture_is_the_demo_s_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    model = ROOT / "examples" / "digits" / "digits.tflite"
    assert call("plan", str(model), "--board", "stm32", "--svg", "map.svg") == 0
    [shown] = re.findall(r"^!\[.*\]\((docs/.*\.svg)\)$", README, re.MULTILINE)
    assert Path("map.svg").read_text(encoding="utf-8") == (ROOT / shown).read_text(encoding="utf-8")
    printed = capsys.readouterr().out
    [start] = [at for at, line in enumerate(_block("digits on ")) if line.startswith("sram pool, ")]
    assert "\n".join(_block("digits on ")[start:]).partition("\n\npool ")[0] in printed


def test_boards_and_operators_are_as_many_as_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("boards", "--json") == 0
    boards = json.loads(capsys.readouterr().out)["boards"]
    runners = [board["runner"] for board in boards]
    numbers = {"ten": 10}
    said = re.search(
        r"^- (\d+) boards \(`codegen boards`\): (\w+) on QEMU .*, the host, and (\d+) real ones",
        OVERVIEW,
        re.M,
    )
    assert said is not None
    assert (int(said[1]), numbers[said[2]], int(said[3])) == (
        len(boards),
        runners.count(Runner.QEMU.value),
        runners.count("none"),
    )
    assert runners.count(Runner.HOST.value) == 1
    assert call("ops", "--json") == 0
    operators = json.loads(capsys.readouterr().out)["ops"]
    assert f", {len(operators)} operators (`codegen ops`)" in " ".join(OVERVIEW.split())


# ---- tables of models: from benchmarks/results/models.csv -------------------------------


def _table(column: str) -> list[list[str]]:
    """Cells of the rows of the overview's table with this column."""
    lines = OVERVIEW.splitlines()
    [start] = [at for at, line in enumerate(lines) if line.startswith("| model |") and column in line]
    rows = list(takewhile(lambda line: line.startswith("|"), lines[start + 2 :]))
    assert len(rows) >= 5
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def _figures(cell: str, board: str, optimize: str) -> Row:
    name = cell.partition(" (")[0].rpartition("/")[2]
    [row] = [
        row for row in _recorded() if (row["model"], row["board"], row["optimize"]) == (name, board, optimize)
    ]
    return row


def _n(text: str | int) -> str:
    return f"{int(text):,}"


def test_ram_beside_tflm_is_as_recorded() -> None:
    for model, ours, _ in _table("TFLM's arena head"):
        assert ours == _n(_figures(model, "mps2-an386", "balanced")["pool_bytes"]), model


@pytest.mark.parametrize(
    ("core", "board"),
    [("Cortex-M4", "mps2-an386"), ("Cortex-M55", "mps3-an547"), ("Cortex-M3", "mps2-an385")],
)
def test_instructions_beside_peers_are_as_recorded(core: str, board: str) -> None:
    for model, ours, _ in _table(f"| {core} |"):
        assert ours == _n(_figures(model, board, "speed")["instructions"]), model


def test_figures_of_one_plan_are_as_recorded() -> None:
    for model, *cells in _table("total RAM"):
        plain = _figures(model, "mps2-an386", "balanced")
        total = int(plain["pool_bytes"]) + int(plain["stack_bytes"])
        assert cells == [
            _n(plain["pool_bytes"]),
            _n(total),
            _n(plain["code_bytes"]),
            _n(plain["constant_bytes"]),
            _n(plain["instructions"]),
        ], model


def test_figures_of_the_other_levels_are_as_recorded() -> None:
    for model, fast, *small in _table("RAM at `size`"):
        assert fast == _n(_figures(model, "mps2-an386", "speed")["instructions"]), model
        least = _figures(model, "mps2-an386", "size")
        assert small == [_n(least[key]) for key in ("pool_bytes", "code_bytes", "instructions")], model


def test_tables_are_no_wider_than_a_screen() -> None:
    rows = [line for line in (*README.splitlines(), *OVERVIEW.splitlines()) if line.startswith("|")]
    assert rows
    assert [row for row in rows if len(row) > 100] == []
