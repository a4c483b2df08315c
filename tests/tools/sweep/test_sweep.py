"""Sweeps: what there is to do, that nothing is done twice or lost, and what people see."""

import csv
import importlib
import json
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codegen import resources
from codegen.cli.main import main
from codegen.driver.options import Options
from codegen.errors import CodegenError, ExitCode
from codegen.ir.ops.user import UserKernel
from codegen.tools.sweep.combination_results import Result, Store, best, write_tables
from codegen.tools.sweep.jobs import Combination, Until, combinations, limits_of
from codegen.tools.sweep.sweeping import (
    _results,  # pyright: ignore[reportPrivateUsage]
    sweep,
)
from codegen.tools.sweep.work import result_of
from tests.networks import model_path
from tests.tools.sweep.killing import Killing

HELLO = model_path("dense_chain")
BOARDS = ("mps2-an386", "microbit", "host")


def asked(
    limits: Sequence[int] = (20, 4096), until: Until = "plan", boards: Sequence[str] = BOARDS
) -> tuple[Combination, ...]:
    return combinations([HELLO], boards, ["speed", "size"], {"sram": limits}, Options(), until)


@pytest.fixture(scope="module")
def known() -> tuple[Result, ...]:
    """Results of `asked()`, done in this process."""
    return tuple(result_of(one, one.key) for one in asked())


@contextmanager
def cluster_in_this_process() -> Generator[str]:
    """Address of the scheduler of one."""
    settings: dict[str, Any] = {"processes": False, "threads_per_worker": 2, "dashboard_address": None}
    made: Any = importlib.import_module("distributed").LocalCluster(1, **settings)
    with made as cluster:
        yield str(cluster.scheduler_address)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sram=16K", ("sram", (16384,))),
        ("sram=16K..64K", ("sram", (16384, 32768, 65536))),
        ("sram=16K..60K", ("sram", (16384, 32768))),
        ("ccm=1000..2000:400", ("ccm", (1000, 1400, 1800))),
        ("sram=0..2K:1K", ("sram", (0, 1024, 2048))),
        ("sram=5..5", ("sram", (5,))),
    ],
)
def test_limits(text: str, found: tuple[str, tuple[int, ...]]) -> None:
    assert limits_of(text) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sram", "it says no pool"),
        ("=1K", "it says no pool"),
        ("sram=much", "'much' is no number of bytes and no range of them"),
        ("sram=1K..", "'1K..' is no number of bytes"),
        ("sram=1K..2K:", "'1K..2K:' is no number of bytes"),
        ("sram=2K..1K", "the range is empty"),
        ("sram=0..1K", "such a range never ends"),
        ("sram=1K..2K:0", "such a range never ends"),
        ("sram=1..4096:1", "more than 1,000 limits"),
    ],
)
def test_limits_that_are_none(text: str, why: str) -> None:
    with pytest.raises(CodegenError, match=r"E203") as caught:
        limits_of(text)
    assert caught.value.messages[0].text.startswith(f"--pool {text}: {why}")


def test_a_key_is_of_the_contents(tmp_path: Path) -> None:
    every = asked()
    assert len({one.key for one in every}) == len(every) == 12
    copy = tmp_path / HELLO.name
    copy.write_bytes(HELLO.read_bytes())
    again = combinations([copy], BOARDS, ["speed", "size"], {"sram": (20, 4096)}, Options(), "plan")
    assert [one.key for one in again] == [one.key for one in every]
    copy.write_bytes(HELLO.read_bytes() + b"\0")
    others = combinations([copy], BOARDS, ["speed", "size"], {"sram": (20, 4096)}, Options(), "plan")
    assert not {one.key for one in others} & {one.key for one in every}
    assert not {one.key for one in asked(until="run")} & {one.key for one in every}


def test_a_key_is_of_every_file_that_decides(tmp_path: Path) -> None:
    """A memory model was its path and a kernel of one's own nothing: results of older files were shown."""

    model = tmp_path / "net.tflite"
    model.write_bytes(b"any bytes")

    def key(**settings: Any) -> str:
        [one] = combinations([model], ["mps2-an386"], ["size"], {}, Options(**settings), "plan")
        return one.key

    memory = tmp_path / "part.toml"
    shipped = (resources.folder("boards") / "memory" / "stm32l4r5.toml").read_text()
    keys = [key(), key(stack_bytes=600), key(memory_model="there is none")]
    for text in (shipped, shipped.replace("120_000_000", "60_000_000")):
        memory.write_text(text)
        keys.append(key(memory_model=str(memory)))
    kernel = UserKernel(op="ROLL", symbol="roll", source="roll.c", text="int roll;")
    keys += [key(kernels=(each,)) for each in (kernel, replace(kernel, text="long roll;"))]
    assert len(set(keys)) == len(keys)


def test_what_is_known_is_not_done_again(tmp_path: Path, known: Sequence[Result]) -> None:
    assert {each.code for each in known} == {"ok", "E401"}
    failed = [each for each in known if each.code == "E401"]
    assert all(each.exit_code == 4 and "lacks" in each.message for each in failed)
    for each in known:
        Store(tmp_path).write(each)
    second = sweep(asked(), tmp_path)
    assert second.executed == 0 and second.results == known
    # A result that was cut short is none.
    one, other = sorted((tmp_path / "results").glob("*.json"))[:2]
    one.write_bytes(one.read_bytes()[:50])
    other.unlink()
    third = sweep(asked(), tmp_path, jobs=1)
    assert third.executed == 2 and third.results == known


@pytest.mark.qemu
def test_a_board_without_emulator_is_built_for() -> None:
    boards = ("microbit", "nucleo-f446re", "host")
    every = combinations([HELLO], boards, ["size"], {}, Options(), "run")
    ran, built, on_host = (result_of(one, one.key) for one in every)
    assert (ran.until, built.until, on_host.until) == ("run", "build", "run")
    assert ran.is_ok and built.is_ok and on_host.is_ok
    assert ran.instructions and built.instructions is None
    assert ran.flash_bytes == (ran.constant_bytes or 0) + (ran.code_bytes or 0)
    assert built.stack_bytes and built.ram_bytes


def test_a_killed_worker_loses_nothing(tmp_path: Path, known: Sequence[Result]) -> None:
    assert sweep(asked(), tmp_path, jobs=1, progress=Killing((1,))).results == known


@pytest.mark.long
def test_a_thousand_combinations(tmp_path: Path) -> None:
    every = asked(range(16, 516), boards=("mps2-an386",))
    assert len(every) == 1000
    serial = sweep(every, tmp_path / "serial", jobs=1)
    swept = sweep(every, tmp_path / "killed", progress=Killing((1, 2)))
    assert swept.executed == 1000 and swept.results == serial.results
    assert sweep(every, tmp_path / "killed").executed == 0


@pytest.mark.long
def test_what_is_built_and_run_on_two_workers(tmp_path: Path) -> None:
    """As above, but compiled and executed: half a second of processor time a combination, so they are 16."""
    every = combinations([HELLO], ["host"], ["speed", "size"], {"sram": range(28, 36)}, Options(), "run")
    serial = tuple(result_of(one, one.key) for one in every)
    assert {(each.code, each.until, each.ram_bytes) for each in serial} == {("ok", "run", 28)}
    swept = sweep(every, tmp_path, progress=Killing((1, 2)))
    assert (swept.executed, swept.results) == (16, serial)
    assert sweep(every, tmp_path).executed == 0


class _Deadly(Executor):
    """Every task that it is given kills its worker."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(BrokenProcessPool())
        return future


def test_what_kills_every_worker_is_a_result() -> None:
    [one] = asked((4096,), boards=("host",))[:1]
    [found] = _results({one.key: one}, _Deadly, 2)
    assert (found.code, found.exit_code) == ("killed", ExitCode.BUG)
    assert found.message == "its worker was killed 3 times"


def test_a_bug_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("codegen.tools.sweep.work.plan", broken)
    found = [result_of(one, one.key) for one in asked((4096,), boards=("host",))]
    assert {(each.code, each.exit_code) for each in found} == {("bug", ExitCode.BUG)}
    assert all("ZeroDivisionError: a bug" in each.message for each in found)


def test_workers_of_a_dask_cluster(tmp_path: Path, known: Sequence[Result]) -> None:
    with cluster_in_this_process() as address:
        swept = sweep(asked(), tmp_path, scheduler=address)
    assert swept.executed == len(known) and swept.results == known


def row(name: str, ram: int | None, flash: int | None, instructions: int | None, **others: Any) -> Result:
    values: dict[str, Any] = {"model": "m", "board": "b", "code": "ok", "exit_code": 0, **others}
    figures = {"ram_bytes": ram, "flash_bytes": flash, "instructions": instructions}
    return Result(key=name, optimize="speed", limits="", until="run", **figures, **values)


def test_what_no_other_beats() -> None:
    results = [
        row("little", 10, 50, 900),
        row("quick", 20, 50, 100),
        row("beaten", 20, 60, 100),
        row("equal", 10, 50, 900),
        row("failed", 1, 1, 1, code="E401", exit_code=4),
        row("alone", 99, 99, 999, board="c"),
        row("built", 30, 70, None, model="n"),
        row("larger", 30, 71, None, model="n"),
    ]
    assert [each.key for each in best(results)] == ["little", "quick", "alone", "built"]


def test_tables(tmp_path: Path) -> None:
    results = [
        row("little", 10, 50, 900),
        row("failed", None, None, None, code="E401", exit_code=4, message="a\nb"),
    ]
    table, parquet = write_tables(results, tmp_path)
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [each["best"] for each in rows] == ["True", "False"]
    assert rows[1]["message"] == "a\nb" and rows[1]["ram_bytes"] == ""
    arrow: Any = importlib.import_module("pyarrow.parquet")
    columns: list[dict[str, object]] = arrow.read_table(parquet).to_pylist()
    assert [
        {name: "" if value is None else str(value) for name, value in each.items()} for each in columns
    ] == rows


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["sweep", *words])
    return int(ended.value.code or 0)


def test_what_people_see(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        str(HELLO),
        "--boards",
        "host,microbit",
        "--pool",
        "sram=16..64",
        "--until",
        "plan",
        "--jobs",
        "1",
    )
    assert run(*words, "-o", str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert said.startswith("combinations  6: 6 done now, 0 known before\n")
    assert "no other of its model and board has less RAM, flash and instructions" in said
    assert "E401" in said and "first line of the message" in said
    assert (
        f"written   {tmp_path / 'sweep.csv'}, {tmp_path / 'sweep.parquet'}, {tmp_path / 'sweep.html'}" in said
    )
    assert "1 model on 2 boards" in (tmp_path / "sweep.html").read_text(encoding="utf-8")
    assert run(*words, "-o", str(tmp_path), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["executed"] == 0 and len(found["results"]) == 6


def test_mistakes_are_told_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ("none.tflite", "--boards", "host,toaster", "--optimize", "fast,size", "-o", str(tmp_path))
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert "error[E204] no file none.tflite" in said
    assert "error[E250] there is no board 'toaster'" in said
    assert "error[E201] --optimize fast: it is one of speed, balanced, size" in said
    assert run(str(HELLO), "--pool", "sram=1K", "--pool", "sram=2K") == 2
    assert "error[E203] --pool: sram has several" in capsys.readouterr().err


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError("nobody there")

    monkeypatch.setattr("distributed.Client", refused)
    with pytest.raises(CodegenError, match=r"E287.*no Dask scheduler answers at tcp://x:1: nobody there"):
        sweep(asked(), tmp_path, scheduler="tcp://x:1")
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(CodegenError, match=r"E287.*--scheduler needs Dask, which is not installed"):
        sweep(asked(), tmp_path, scheduler="tcp://x:1")
