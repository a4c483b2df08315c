"""A lab of three simulated boards: QEMU on pseudo-terminals, flashed by a tool of the test, and switched off
and on by a command. One board hangs, one answers garbage; all other jobs are done."""

import hashlib
import json
import os
import shlex
import signal
import sys
import textwrap
from collections.abc import Generator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from codegen.errors import ExitCode
from codegen.tools.lab.inventory import LabBoard
from codegen.tools.lab.pytest_plugin import FixtureTarget
from tests.cli.test_verbs import call
from tests.e2e.test_entry import network
from tests.e2e.test_real_board import BOARD, TOOL

pytestmark = pytest.mark.qemu
NAMES = ("steady", "stuck", "babble")


class SimulatedLab:
    """Its folder: a folder a board, lab.toml, models."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        tables: list[str] = []
        for name in NAMES:
            state = folder / name
            state.mkdir()
            tool = (
                textwrap.dedent(TOOL).strip().format(python=sys.executable, state=str(state), machine=BOARD)
            )
            (state / "pyocd").write_text(tool)
            (state / "pyocd").chmod(0o755)
            mode, cycled = shlex.quote(str(state / "mode")), shlex.quote(str(state / "cycled"))
            power = shlex.join(("sh", "-c", f"printf work > {mode}; echo once >> {cycled}"))
            tables.append(
                f'[[board]]\nname = "{name}"\nboard = "{BOARD}"\nport = "{state / "port"}"\n'
                f'probe = "{name}"\ntool = "pyocd"\npower_cycle = {json.dumps(power)}\n'
            )
        (folder / "lab.toml").write_text("\n".join(tables))
        (folder / "tools").mkdir()
        cases = "\n".join(f'*"--uid {name} "*) exec {folder / name / "pyocd"} "$@";;' for name in NAMES)
        (folder / "tools" / "pyocd").write_text(f'#!/bin/sh\ncase "$*" in\n{cases}\nesac\nexit 9\n')
        (folder / "tools" / "pyocd").chmod(0o755)

    def mode(self, name: str, word: str) -> None:
        (self.folder / name / "mode").write_text(word)

    def cycles(self, name: str) -> int:
        path = self.folder / name / "cycled"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def models(self, count: int) -> list[str]:
        """So many networks, each with weights of its own."""
        paths = [self.folder / f"net{number}.tflite" for number in range(count)]
        for number, path in enumerate(paths):
            network(self.folder, number).rename(path)
        return [str(path) for path in paths]

    def end(self) -> None:
        for name in NAMES:
            pid = self.folder / name / "pid"
            if pid.exists():
                os.kill(int(pid.read_text()), signal.SIGKILL)


@pytest.fixture
def simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[SimulatedLab]:
    made = SimulatedLab(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    yield made
    made.end()


def _run(
    lab: SimulatedLab, capsys: pytest.CaptureFixture[str], models: list[str]
) -> tuple[int, dict[tuple[str, str], Mapping[str, object]]]:
    code = call("lab", "run", *models, "-o", "done", "--json")
    said = capsys.readouterr()
    assert said.err == ""
    rows = json.loads(said.out)["results"]
    assert json.loads((lab.folder / "done" / "lab.json").read_text())["results"] == rows
    return code, {(each["board"], Path(each["model"]).stem): each for each in rows}


@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.long)])
def test_one_board_hangs_and_one_babbles(
    count: int, simulated: SimulatedLab, capsys: pytest.CaptureFixture[str]
) -> None:
    simulated.mode("stuck", "stuck")
    simulated.mode("babble", "babble")
    models = simulated.models(count)
    code, rows = _run(simulated, capsys, models)
    assert code == ExitCode.TARGET and len(rows) == 3 * count

    hung, garbage = rows.pop(("stuck", "net0")), rows.pop(("babble", "net0"))
    assert (hung["state"], hung["code"], hung["recovery"]) == ("hung", "E635", "power-cycled")
    assert "the target does not answer" in str(hung["message"])
    assert (garbage["state"], garbage["code"], garbage["recovery"]) == ("garbage", "E603", "power-cycled")
    assert "damaged frames in one IDENTIFY exchange" in str(garbage["message"])
    assert [simulated.cycles(name) for name in NAMES] == [0, 1, 1]

    assert {str(each["state"]) for each in rows.values()} == {"passed"}, rows
    for name in {model for _, model in rows}:
        alike = [each for (_, model), each in rows.items() if model == name]
        assert len({(each["build_sha256"], each["ram_bytes"]) for each in alike}) == 1
        assert all(each["cycles"] for each in alike)

    report = json.loads((simulated.folder / "done" / "reports" / "steady" / "net0.json").read_text())
    assert report["run"]["pools"][0]["peak_bytes"] == rows["steady", "net0"]["ram_bytes"]
    suites = ElementTree.parse(simulated.folder / "done" / "lab.xml").getroot()
    assert (suites.get("tests"), suites.get("errors"), suites.get("failures")) == (str(3 * count), "2", "0")
    errors = suites.findall("./testsuite/testcase/error")
    assert [each.get("type") for each in errors] == ["E635", "E603"]
    page = (simulated.folder / "done" / "lab.html").read_text()
    assert "damaged frames in one IDENTIFY exchange" in page and "Then: power-cycled." in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")


def test_the_fixture_on_a_board_behind_a_port(simulated: SimulatedLab) -> None:
    """What `pytest --codegen-board B --codegen-port P --codegen-probe S` does: flash, run, compare."""
    [model] = simulated.models(1)
    port = str(simulated.folder / "steady" / "port")
    place = LabBoard(name="target", board=BOARD, port=port, probe="steady", tool="pyocd")
    answer = FixtureTarget(place, simulated.folder / "built").run(model)
    run = answer.report.run
    assert run is not None and run.runner == "serial" and run.cycles and run.instructions is None
    assert [each.shape for each in answer.outputs] == [(1, 10)]
    assert hashlib.sha256(answer.outputs[0].tobytes()).hexdigest() == run.outputs[0].sha256
    assert (simulated.folder / "steady" / "asked").read_text().count("--uid steady") == 1
