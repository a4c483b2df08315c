"""What README and the overview print is what the commands print: it drifted once, and nobody saw.
The pages name files that are there, link to pages that are there, and show the layers of today.
The calls in docs/firmware.md compile, against the header of a model with those inputs and outputs.
The shipped example: its accuracy, its reference engine, and what its README says.
"""

import csv
import json
import re
import shlex
import shutil
import tomllib
from functools import cache
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.emit import render, write
from codegen.engines import interpreters
from codegen.importers import load
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import Runner
from codegen.ir.evaluate import evaluate as evaluate_function
from codegen.joint import together
from codegen.targets.arm import ARM_PREFIX
from codegen.toolchain import gcc
from tests.checkout import ROOT
from tests.cli.test_verbs import call
from tests.emit.compiling import call as output_of
from tests.engines import TFLITE_RUNTIME, Request, available, evaluate

README = (ROOT / "README.md").read_text(encoding="utf-8")
OVERVIEW = (ROOT / "docs" / "overview.md").read_text(encoding="utf-8")
_OF_THE_COMPILER = ("fits: ", "stack ", "speed ", "image ")
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
    [board] = re.findall(r"^BOARD \?= (\S+)$", makefile, re.MULTILINE)
    program, *words = shlex.split(recipe.replace("$(BOARD)", board))
    assert program == "$(BIN)/codegen"
    return words


def _block(first: str) -> list[str]:
    """Lines of the only code block of README whose first line begins so."""
    blocks = [
        block.splitlines() for block in re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    ]
    [found] = [lines for lines in blocks if lines[0].startswith(first)]
    return found


def _held(lines: list[str]) -> list[str]:
    """Those to be compared: all, with the compiler that README's figures are of."""
    lines = [_BUILD.sub(r"\1", line) for line in lines]
    [recorded] = {row["compiler"] for row in _recorded() if row["board"] == "mps2-an386"}
    if gcc.Compiler(prefix=ARM_PREFIX, options=()).version() == recorded:
        return lines
    return [line for line in lines if not line.startswith(_OF_THE_COMPILER)]


@pytest.mark.qemu
def test_the_demo_prints_what_readme_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make demo`, in this process: build, 200 runs on QEMU, summary. It writes no name of a folder.

    Who begins has no engine.
    """
    monkeypatch.delenv("CODEGEN_REFERENCE")
    monkeypatch.setattr(interpreters, "installed_engines", lambda python: {})  # pyright: ignore
    monkeypatch.chdir(tmp_path)
    assert call(*_demo()) == 0
    printed = capsys.readouterr().out.splitlines()
    assert _held(printed) == _held(_block("fits: "))


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
    [start] = [at for at, line in enumerate(_block("fits: ")) if line.startswith("sram pool, ")]
    assert "\n".join(_block("fits: ")[start:]).partition("\n\npool ")[0] in printed


def test_boards_and_operators_are_as_many_as_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("boards", "--json") == 0
    boards = json.loads(capsys.readouterr().out)["boards"]
    runners = [board["runner"] for board in boards]
    numbers = {"sixteen": 16}
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


PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "README.md"])
MODULES = {
    path.name for room in ("codegen", "tests", "benchmarks", "docs") for path in (ROOT / room).rglob("*.py")
}
DECISIONS = ROOT / "docs" / "decisions"
NAMED = re.compile(r"`((?:codegen|runtime_c|templates|boards|benchmarks|tests|docs|examples)/[\w./-]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """Modules move: the page that named one would send a reader nowhere."""
    text = page.read_text(encoding="utf-8")
    patches = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "examples").glob("*.patch")]
    added = set(re.findall(r"^\+\+\+ b/(\S+)", "".join(patches), re.MULTILINE))
    named = {name.rstrip("/") for name in NAMED.findall(text)} - (
        added if page.name == "CONTRIBUTING.md" else set()
    )
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_a_page_names_without_a_folder_are_there(page: Path) -> None:
    """`limits.py` beside a full path: nothing told that it was gone. Files that a page writes are its own."""
    text = page.read_text(encoding="utf-8")
    written = set(re.findall(r"^```\w+ title=\"([^\"]+)\"", text, re.MULTILINE))
    named = set(re.findall(r"`(?:[\w/]+/)?(\w+\.py)`", text)) - written
    assert sorted(named - MODULES) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_that_a_page_links_to_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_the_architecture_shows_the_layers_of_today() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [layers] = [each["layers"] for each in contracts if each.get("containers") == ["codegen"]]
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = text.partition("\n## Layers\n")[2].partition("```\n")[2].partition("```")[0]
    assert shown.splitlines() == layers


def test_every_decision_is_listed_and_has_its_four_parts() -> None:
    pages = sorted(DECISIONS.glob("[0-9]*.md"))
    index = (DECISIONS / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"^- \[\d{3}\]\((\S+)\)", index, re.MULTILINE) == [page.name for page in pages]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        lacking = [part for part in ("Context", "Alternatives", "Choice", "Consequence") if part not in text]
        assert lacking == [], page.name
        assert len(text.splitlines()) <= 60, page.name


PAGE = ROOT / "docs" / "firmware.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model called `model` with input `image` and output `scores`."""
    model, made = ModelBuilder(), tmp_path_factory.mktemp("docs")
    image, scores = (model.tensor(name, (1, 4), "int8", scale=0.5) for name in ("image", "scores"))
    model.op("RELU", [image], [scores])
    model.inputs(image)
    model.outputs(scores)
    (made / "model.tflite").write_bytes(model.build())
    program = plan_model(made / "model.tflite", load_board("host"), Options(board="host")).program
    write(render(together([program])), made / "out")
    return made / "out"


def example(language: str) -> str:
    """The first block of a language in the chapter on running a model."""
    chapter = PAGE.read_text(encoding="utf-8").partition("\n## Running\n")[2]
    found = re.search(rf"```{language}\n(.*?)```", chapter, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("block", "compiler"),
    [("c", "gcc -std=c11"), ("cpp", "g++ -std=c++11"), ("cpp", "g++ -std=c++20"), ("cpp", "g++ -std=c++23")],
)
def test_the_example_of_a_call_compiles(folder: Path, block: str, compiler: str) -> None:
    """The only example was a compound literal, which is C and not C++."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"{compiler} is not installed")
    body = example(block)
    source = "user.c" if block == "c" else "user.cpp"
    text = '#include "model.h"\nint user(const int8_t *image, int8_t *scores);\n'
    text += f"int user(const int8_t *image, int8_t *scores)\n{{\n{body}    return (int)status;\n}}\n"
    (folder / source).write_text(text)
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I."]
    output_of([*compiler.split(), *flags, source], folder)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_the_function_that_feeds_and_reads_compiles_and_runs(folder: Path) -> None:
    """How a network is fed and read was nowhere; scores are max(0, q) here, a step of 0.5 apart."""
    chapter = PAGE.read_text(encoding="utf-8").partition("\n### Feed it and read it\n")[2]
    [block] = re.findall(r"```c\n(.*?)```", chapter.partition("\n### ")[0], re.DOTALL)
    main = "int main(void)\n{\n    const float image[4] = {0.5f, -4.0f, 7.5f, 7.0f};\n"
    text = f'#include "model.h"\n{block}{main}    return infer_model(image) == 2 ? 0 : 1;\n}}\n'
    (folder / "feed.c").write_text(text)
    sources = sorted(str(path) for path in folder.rglob("*.c") if path.name.startswith(("model", "cg_")))
    kernels = sorted(str(path) for path in (folder / "runtime" / "kernels").glob("*.c"))
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fno-strict-aliasing", "-I."]
    output_of(["gcc", "-std=c11", *flags, "feed.c", *sources, *kernels, "-o", "feed"], folder)
    output_of([str(folder / "feed")], folder)


FOLDER = ROOT / "examples" / "digits"
MODEL = FOLDER / "digits.tflite"


def held_out() -> tuple[np.ndarray, np.ndarray]:
    with np.load(FOLDER / "digits_test.npz") as arrays:
        return arrays["x"], arrays["labels"]


@cache
def outputs() -> np.ndarray:
    """The NumPy evaluation's output for every held-out image, (200, 10) int8."""
    module = load(MODEL)
    images = held_out()[0]
    return np.concatenate(
        [evaluate_function(module, module.main, [images[k : k + 1]])[0] for k in range(len(images))]
    )


def test_accuracy_is_what_the_readme_says() -> None:
    x, labels = held_out()
    assert (x.dtype, x.shape, labels.shape) == (np.int8, (200, 8, 8, 1), (200,))
    assert np.bincount(labels, minlength=10).min() >= 10
    accuracy = np.count_nonzero(outputs().argmax(1) == labels) / len(labels)
    assert accuracy >= 0.95
    readme = (FOLDER / "README.md").read_text()
    assert f"int8 accuracy  {accuracy:.1%}" in readme
    assert f"model file     {MODEL.stat().st_size} bytes" in readme


@pytest.mark.skipif(TFLITE_RUNTIME not in available(), reason="tflite-runtime is not installed")
def test_the_reference_engine_gives_the_same_bytes() -> None:
    images = tuple((x[np.newaxis],) for x in held_out()[0])
    [answer] = evaluate([Request(engine=TFLITE_RUNTIME, model=MODEL.read_bytes(), inputs=images)])
    assert not answer.error
    np.testing.assert_array_equal(np.concatenate([case[0] for case in answer.outputs]), outputs())


def test_operators_vary_and_the_branch_joins_again() -> None:
    names = [let.call.op.name for let in load(MODEL).main.body]
    assert names == [
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "CONV_2D",
        "ADD",
        "AVERAGE_POOL_2D",
        "CONV_2D",
        "RESHAPE",
        "FULLY_CONNECTED",
        "SOFTMAX",
    ]
