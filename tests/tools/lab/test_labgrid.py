"""labgrid's QEMUDriver starts three simulated boards; its environment is the inventory of `codegen lab`."""

import json
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from codegen.errors import CodegenError, ExitCode
from codegen.tools.lab import job, labgrid_targets
from codegen.tools.lab.inventory import read_lab
from codegen.tools.lab.labgrid_targets import target_of
from tests.cli.test_verbs import call
from tests.e2e.test_entry import network

pytestmark = pytest.mark.qemu

NETDUINO = ("netduinoplus2", "128K", "-icount shift=0 -serial null")
BOARDS = {"left": NETDUINO, "middle": NETDUINO, "right": ("mps2-an386", "16M", "-icount shift=0")}
TARGET = """
  {name}:
    features: [{board}]
    drivers:
      QEMUDriver:
        qemu_bin: qemu
        machine: {board}
        cpu: cortex-m4
        memory: {memory}
        kernel: firmware-{name}
        extra_args: {words}
"""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A file of three targets. Afterwards none of their emulators runs."""
    pytest.importorskip("labgrid", reason="labgrid is not installed: `make test` installs it")
    targets = "".join(
        TARGET.format(name=name, board=board, memory=memory, words=words)
        for name, (board, memory, words) in BOARDS.items()
    )
    path = tmp_path / "env.yaml"
    path.write_text(f"targets:{targets}tools:\n  qemu: qemu-system-arm\n")
    monkeypatch.chdir(tmp_path)
    yield path
    for name in BOARDS:
        target = target_of(f"labgrid://{name}")
        if target is not None:
            target.close()


def monitor(name: str, command: str) -> None:
    """Tell QEMU's monitor something, while no other thread is in labgrid: its list of steps is one for all.
    Without that a step of another board was taken off the list, which ended that board's job as a bug."""
    target = cast("Any", target_of(f"labgrid://{name}"))
    target._bounded("did not stop", lambda: target._driver.monitor_command(command))


@pytest.mark.long  # three emulators at a time that never sleep
def test_three_boards_and_one_that_stops(
    environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one in the middle stands still when its first job is to run: labgrid cycles it, and it goes on."""
    models = [network(environment.parent, number).rename(f"net{number}.tflite") for number in range(2)]
    stopped: list[str] = []

    def measured(*given: Any, **named: Any) -> Any:
        if given[2].name == "middle" and not stopped:
            stopped.append("once")
            monitor("middle", "stop")
        return original(*given, **named)

    original = job.measured
    monkeypatch.setattr(job, "measured", measured)
    code = call("lab", "run", *map(str, models), "--lab", str(environment), "-o", "done", "--json")
    said = capsys.readouterr()
    rows = {(each["board"], Path(each["model"]).stem): each for each in json.loads(said.out)["results"]}
    assert (code, len(rows)) == (ExitCode.TARGET, 6), said.err
    hung = rows.pop(("middle", "net0"))
    assert (hung["state"], hung["recovery"]) == ("hung", "power-cycled"), hung
    assert {each["state"] for each in rows.values()} == {"passed"}, [
        each["message"] for each in rows.values()
    ]
    assert all(each["cycles"] and each["ram_bytes"] for each in rows.values())
    suites = ElementTree.parse("done/lab.xml").getroot()
    assert (suites.get("tests"), suites.get("errors")) == ("6", "1")


def test_a_target_that_labgrid_cannot_start(
    environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(labgrid_targets, "START_SECONDS", 2.0)
    environment.write_text(environment.read_text().replace("machine: mps2-an386", "machine: toaster"))
    model = network(environment.parent, 1)
    assert call("lab", "run", str(model), "--lab", str(environment), "--boards", "right") == ExitCode.TARGET
    assert "E631" in capsys.readouterr().out
    [row] = json.loads(Path("out/lab/lab.json").read_text())["results"]
    assert row["message"].startswith(
        "error[E631] right: labgrid's target did not start: timed out\nhelp: labg"
    )


def test_what_is_missing(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = environment.read_text()
    for old, new, said in (
        ("        kernel: firmware-left\n", "", "target left: QEMUDriver has no kernel"),
        (" -serial null", "", "target left: the test link of netduinoplus2 is QEMU's serial port 1, the"),
        ("qemu_bin: qemu", "qemu_bim: qemu", "labgrid refuses it: "),
    ):
        environment.write_text(text.replace(old, new))
        with pytest.raises(CodegenError, match=f"E289.*cannot be read: {said}"):
            read_lab(environment)
    environment.write_text(text)
    monkeypatch.setitem(sys.modules, "labgrid", None)
    with pytest.raises(
        CodegenError, match=r"E283.*left, middle, right: QEMUDriver is a driver of labgrid's own"
    ):
        read_lab(environment)
