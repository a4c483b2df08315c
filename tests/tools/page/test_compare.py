"""`codegen compare`: what it prints, what it permits, and reports that git has."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.driver.build import build
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.settings import Optimize
from codegen.tools.page.compare_verb import limit_of
from tests.networks import model_path

Said = tuple[int, str, str]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two builds of one model, for a board that needs no emulator to be built for."""
    found: dict[str, Path] = {}
    levels: tuple[Optimize, ...] = ("speed", "size")
    for level in levels:
        found[level] = tmp_path_factory.mktemp(level) / "out"
        options = Options(board="mps2-an386", optimize=level)
        build([model_path("autoencoder")], options, found[level])
    return found


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def compare(*words: object) -> Said:
        with pytest.raises(SystemExit) as ended:
            main(["compare", *map(str, words)])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return compare


def figures(folder: Path) -> dict[str, int]:
    report = json.loads((folder / "report.json").read_text())
    return {
        "RAM, all pools": report["plan"]["peak_bytes"],
        "constants": report["constants"]["total_bytes"],
        "code of the model": report["elf"]["model_code_bytes"],
        "stack, static bound": report["elf"]["stack_bound_bytes"],
        "multiply-accumulates": report["model"]["macs_executed"],
    }


def test_figures_are_those_of_the_reports(folders: dict[str, Path], run: Callable[..., Said]) -> None:
    old, new = figures(folders["speed"]), figures(folders["size"])
    ended, said, _ = run(folders["speed"], folders["size"] / "report.json")
    assert ended == 0
    for label in old:
        [line] = [line for line in said.splitlines() if line.startswith(label)]
        change = new[label] - old[label]
        words = line.removeprefix(label).split()
        assert words[:3] == [f"{old[label]:,}", f"{new[label]:,}", f"{change:+,}" if change else "0"]
    assert "instructions " not in said.split("steps not the same")[0], "neither was run"
    assert "steps not the same:" in said and "kernel " in said
    ended, said, _ = run(folders["speed"], folders["size"], "--json")
    found = json.loads(said)
    assert {each["label"]: each["after"] for each in found["figures"] if each["label"] in new} == new
    assert found["exceeded"] == []


def test_another_model_or_board_is_told_first(
    folders: dict[str, Path], run: Callable[..., Said], tmp_path: Path
) -> None:
    """A baseline of another board looked like a change of the model: all kernels were different, nothing
    said why."""
    document = json.loads((folders["speed"] / "report.json").read_text())
    document["board"]["name"] = "stm32l4r5"
    document["model"] |= {"name": "ad02", "sha256": "0123456789abcdef"}
    other = tmp_path / "report.json"
    other.write_text(json.dumps(document))
    sha = json.loads((folders["size"] / "report.json").read_text())["model"]["sha256"]
    _, said, _ = run(other, folders["size"])
    assert [line.split() for line in said.splitlines()[:4]] == [
        ["not", "the", "same", "before", "after"],
        ["board", "stm32l4r5", "mps2-an386"],
        ["model", "file", "ad02", "(0123456789ab)", "autoencoder", f"({sha[:12]})"],
        [],
    ]
    _, said, _ = run(other, folders["size"], "--json")
    assert [each["what"] for each in json.loads(said)["subjects"]] == ["board", "model file"]
    page = tmp_path / "page.html"
    run(other, folders["size"], "--html", page)
    assert "Not the same board: <span" in page.read_text(encoding="utf-8")


def test_a_build_is_like_itself(folders: dict[str, Path], run: Callable[..., Said]) -> None:
    limits = [
        word for each in ("ram", "flash", "code", "stack", "macs") for word in ("--fail-if", f"{each}+0")
    ]
    ended, said, _ = run(folders["speed"], folders["speed"], *limits)
    assert ended == 0
    assert "not the same" not in said


def test_what_grew_too_much_is_exit_4(folders: dict[str, Path], run: Callable[..., Said]) -> None:
    old, new = (
        sum(figures(folders[level])[each] for each in ("constants", "code of the model"))
        for level in ("speed", "size")
    )
    assert old < new
    ended, said, told = run(
        folders["speed"],
        folders["size"],
        "-q",
        "--fail-if",
        "flash+0",
        "--fail-if",
        "flash+1K",
        "--fail-if",
        "ram+0",
    )
    assert (ended, said) == (4, "")
    line = (
        f"error[E411] constants and code of the model: {old:,} -> {new:,} (+{new - old:,}), --fail-if flash+0"
    )
    assert told.splitlines() == [line]
    assert run(folders["speed"], folders["size"], "-q", "--fail-if", "flash+10%")[0] == 0
    ram = figures(folders["speed"])["RAM, all pools"]
    assert run(folders["size"], folders["speed"], "-q", "--fail-if", "ram+1%")[0] == 4
    assert run(folders["size"], folders["speed"], "-q", "--fail-if", f"ram+{ram}")[0] == 0


def test_limits_that_are_none(folders: dict[str, Path], run: Callable[..., Said]) -> None:
    for text in ("ram", "ram+", "rum+1%", "ram+1%%", "flash.sram+1", "ram-1", "ram+much"):
        with pytest.raises(CodegenError, match=r"E288"):
            limit_of(text)
    ended, _, told = run(folders["speed"], folders["size"], "--fail-if", "rum+1", "--fail-if", "ram")
    assert ended == 2
    assert (
        "error[E288] --fail-if rum+1 is no limit" in told and "error[E288] --fail-if ram is no limit" in told
    )
    ended, _, told = run(folders["speed"], folders["size"], "--fail-if", "instructions+1%")
    assert ended == 2
    assert "error[E288] --fail-if instructions+1%: one of the reports has no such figure" in told
    assert run(folders["speed"], folders["size"], "--fail-if", "ram.ccm+1")[0] == 2


def test_a_page(folders: dict[str, Path], run: Callable[..., Said], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ended, said, _ = run(folders["speed"], folders["size"], "--html", page)
    assert ended == 0 and page.read_text().startswith("<!doctype html>")
    assert str(page) in said


def test_a_report_that_git_has(
    folders: dict[str, Path], run: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "report.json").write_bytes((folders["speed"] / "report.json").read_bytes())
    (tmp_path / "notes").write_text("no report")
    words = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "."], [*words, "commit", "-qm", "kept"]):
        subprocess.run(["git", *command], check=True)
    plain = run(folders["speed"], folders["size"])
    assert run("HEAD:kept", folders["size"]) == run("HEAD:kept/report.json", folders["size"]) == plain
    ended, _, told = run("HEAD:nothing", folders["size"])
    assert ended == 2 and "error[E204] no file HEAD:nothing, and git shows none" in told
    ended, _, told = run("HEAD:notes", folders["size"])
    assert ended == 2 and "error[E237] HEAD:notes: is no report of codegen" in told
