"""`--lock`: a build whose figures changed is refused, and says which."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codegen.driver.build import Built, build
from codegen.driver.inputs.models import GivenNames
from codegen.driver.options import Options
from codegen.errors import CodegenError, ExitCode
from tests.driver.inputs.test_model_names import cli, tiny

OPTIONS = Options(board="mps2-an386", planner="greedy_by_size")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Built, Path]:
    """A build that wrote its lock, and the lock."""
    folder = tmp_path_factory.mktemp("lock")
    lock = folder / "net.lock"
    options = replace(OPTIONS, lock=lock)
    return build([tiny(folder / "net.tflite")], options, folder / "out"), lock


def again(first: tuple[Built, Path], lock: Path, **changes: Any) -> CodegenError | None:
    """What a build like the first one, into another folder, is refused for."""
    built, _ = first
    folder = lock.parent / "again"
    try:
        build([built.folder.parent / "net.tflite"], replace(OPTIONS, lock=lock, **changes), folder)
    except CodegenError as error:
        assert not folder.exists()
        return error
    return None


def edited(lock: Path, **changes: object) -> str:
    return json.dumps({**json.loads(lock.read_text()), **changes})


def test_the_first_build_writes_the_figures(first: tuple[Built, Path]) -> None:
    built, lock = first
    found: Mapping[str, Any] = json.loads(lock.read_text())
    report: Mapping[str, Any] = json.loads((built.folder / "report.json").read_text())
    assert found["build_sha256"] == report["build"]["sha256"]
    assert found["models"]["net"]["stack_bytes"] == report["elf"]["stack_bound_bytes"] > 0
    assert found["models"]["net"]["sha256"] == report["model"]["sha256"]
    assert found["pools"] == {pool["name"]: pool["size_bytes"] for pool in report["plan"]["pools"]}
    assert found["model_code_bytes"] == report["elf"]["model_code_bytes"]
    header = (built.folder / "net_figures.h").read_text()
    assert f"#define NET_STACK_BYTES {report['elf']['stack_bound_bytes']}u\n" in header
    assert f'#define NET_BUILD_SHA256 "{found["build_sha256"]}"\n' in header
    listed = (built.folder / ".codegen").read_text()
    assert "net_figures.h" in listed


def test_a_build_with_the_figures_passes(first: tuple[Built, Path], tmp_path: Path) -> None:
    lock = tmp_path / "net.lock"
    lock.write_bytes(first[1].read_bytes())
    before = lock.stat().st_mtime_ns
    assert again(first, lock) is None
    assert lock.stat().st_mtime_ns == before
    equal = ("net.h", "net_figures.h", "firmware.elf", "report.json", ".codegen")
    for name in equal:
        assert (tmp_path / "again" / name).read_bytes() == (first[0].folder / name).read_bytes(), name


def test_a_build_of_other_figures_is_refused_with_a_diff(first: tuple[Built, Path], tmp_path: Path) -> None:
    """An update of a kernel raised the memory need of devices in the field, and no build had said a word."""
    lock = tmp_path / "net.lock"
    built, written = first
    pools = {pool.name: pool.size_bytes for pool in built.bundle.pools}
    [name] = pools
    lock.write_text(edited(written, pools={name: pools[name] - 1}, model_code_bytes=1_000_000))
    error = again(first, lock)
    assert error is not None and error.exit_code is ExitCode.FIT
    assert {message.code for message in error.messages} == {"E407"}
    texts = [message.text for message in error.messages]
    assert texts[0] == f"pools.{name}: {pools[name] - 1} -> {pools[name]} (+1)"
    assert re.fullmatch(r"model_code_bytes: 1,000,000 -> \d+ \(-9\d\d,\d\d\d\)", texts[1])
    assert texts[2] == "2 figures changed; nothing was written"
    assert error.messages[-1].help == "if that is meant, delete the file and build again: it is written anew"


def test_other_code_of_equal_sizes_is_refused_too(first: tuple[Built, Path], tmp_path: Path) -> None:
    lock = tmp_path / "net.lock"
    lock.write_text(edited(first[1], build_sha256="0" * 64))
    error = again(first, lock)
    assert error is not None
    texts = [message.text for message in error.messages]
    assert texts == [
        f"build_sha256: {'0' * 64} -> {first[0].image.build_sha256}",
        "no figure changed, what was built did; nothing was written",
    ]


def test_models_that_came_or_went_are_named(first: tuple[Built, Path], tmp_path: Path) -> None:
    lock = tmp_path / "net.lock"
    lock.write_bytes(first[1].read_bytes())
    error = again(first, lock, names=GivenNames(words=("front",)))
    assert error is not None
    texts = [message.text for message in error.messages]
    assert "models.front.steps: none -> 1" in texts and "models.net.steps: 1 -> none" in texts


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is no lock file of codegen"),
        (b"[" * 100_000, "is no lock file of codegen"),
        (b'{"lock": 2}', "is no lock file of codegen"),
        (b'{"lock": true}', "is no lock file of codegen"),
        (b'{"lock": 1, "models": {}, "pools": {"sram": "8K"}}', "is no lock file of codegen"),
        (b" " * 2_000_000, "is no lock file of codegen"),
        (None, "there is no folder"),
    ],
    ids=["empty", "deep", "version", "flag", "pools", "large", "folder"],
)
def test_files_that_are_no_lock_are_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, text: str
) -> None:
    lock = tmp_path / "x.lock" if content is not None else tmp_path / "nowhere" / "x.lock"
    if content is not None:
        lock.write_bytes(content)
    model = str(tiny(tmp_path / "net.tflite"))
    assert cli("build", model, "--lock", str(lock), "-o", str(tmp_path / "out")) == 2
    told = capsys.readouterr().err
    assert "error[E228]" in told and text in told
    assert not (tmp_path / "out").exists()


def test_build_prints_the_stack_and_the_hash(
    first: tuple[Built, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built, written = first
    lock = tmp_path / "net.lock"
    lock.write_bytes(written.read_bytes())
    words = ("build", str(built.folder.parent / "net.tflite"), "--board", "mps2-an386")
    more = ("--planner", "greedy_by_size", "--lock", str(lock), "-o", str(tmp_path / "out"))
    assert cli(*words, *more) == 0
    told = capsys.readouterr().out
    assert f"stack     static bound of a call: net {built.image.sizes.stack_bound_bytes} bytes\n" in told
    assert f"build     sha256 {built.image.build_sha256}\n" in told


def test_what_changed_is_counted_as_it_is_listed_and_is_in_json(
    first: tuple[Built, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`1 figure changed` stood below three lines, and the JSON document had texts only."""
    built, written = first
    [(name, size)] = ((pool.name, pool.size_bytes) for pool in built.bundle.pools)
    lock = tmp_path / "net.lock"
    lock.write_text(edited(written, pools={name: size + 1, "x": 3}, generator="codegen 0.0.1"))
    words = ("build", str(built.folder.parent / "net.tflite"), "--board", "mps2-an386", "--json")
    assert cli(*words, "--planner", "greedy_by_size", "--lock", str(lock), "-o", str(tmp_path / "out")) == 4
    error = json.loads(capsys.readouterr().out)["error"]
    texts = [message["text"] for message in error["messages"]]
    assert len(texts) == 4 and texts[-1] == "2 figures and 1 other entry changed; nothing was written"
    assert error["changes"] == [
        {"name": f"pools.{name}", "before": size + 1, "now": size},
        {"name": "pools.x", "before": 3, "now": None},
        {"name": "generator", "before": "codegen 0.0.1", "now": json.loads(written.read_text())["generator"]},
    ]


def test_a_lock_that_cannot_be_written_is_told_before_the_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was told (E206) when the folder was published already."""
    model = str(tiny(tmp_path / "net.tflite"))
    for lock in ("/proc/net.lock", str(tmp_path / ("x" * 300))):
        assert cli("build", model, "--lock", lock, "-o", str(tmp_path / "out")) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"error[E228] --lock {lock}: cannot be written: ")
        assert "help: name a file in a folder that you may write to" in told
        assert not (tmp_path / "out").exists()
