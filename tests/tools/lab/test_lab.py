"""Labs without boards: what a file may say, which jobs are done when boards misbehave, what reports say."""

import json
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from codegen import resources
from codegen.board.link.exchange import Link, Patience
from codegen.board.machines.ports import SerialPort
from codegen.driver.options import Options
from codegen.errors import CodegenError, ExitCode, Message
from codegen.progress import Progress
from codegen.tools.lab.inventory import LabBoard, read_lab
from codegen.tools.lab.job import Bench, recover
from codegen.tools.lab.junit import junit
from codegen.tools.lab.lab_page import lab_page
from codegen.tools.lab.lab_verb import _Table  # pyright: ignore[reportPrivateUsage]
from codegen.tools.lab.results import JobResult, State, exit_code_of, state_of
from codegen.tools.lab.working import run_lab
from tests.cli.test_verbs import call
from tests.e2e.test_entry import network
from tests.tools.browser import browser
from tests.tools.looking import check_for_everybody, roles

TWO = '[[board]]\nname = "a"\nboard = "microbit"\n[[board]]\nname = "b"\nboard = "stm32"\nport = "/dev/b"\n'
MODELS = [Path(f"m{number}.tflite") for number in range(4)]


def place(name: str, **others: Any) -> LabBoard:
    return LabBoard(name=name, board="microbit", **others)


def told(path: Path) -> list[str]:
    with pytest.raises(CodegenError) as caught:
        read_lab(path)
    assert caught.value.exit_code is ExitCode.USAGE
    return [str(each).removeprefix("error[E289] ") for each in caught.value.messages]


def test_boards_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(TWO)
    lab = read_lab(path)
    assert [each.name for each in lab.chosen([])] == ["a", "b"]
    assert [each.name for each in lab.chosen(["netduinoplus2"])] == ["b"], "an alias is its board"
    assert [each.name for each in lab.chosen(["a", "stm32"])] == ["a", "b"]
    with pytest.raises(
        CodegenError, match=r"E290\] --boards: the lab has no c, d\nhelp: it has a \(microbit\)"
    ):
        lab.chosen(["c", "a", "d"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "{path}: is missing"),
        ("board = []", "{path}: the lab has no boards"),
        ('[[board]]\nname = "a"\n', "{path}, line 1, board[0].board: is missing"),
        (TWO.replace('"a"', '"b"'), "{path}: 2 boards have the name b"),
        (TWO + 'baud = "fast"', "{path}, line 8, board[1].baud: must be an integer"),
        (TWO + "colour = 1", "{path}, line 8, board[1].colour: is no known key"),
        (TWO + 'tool = "hammer"', "{path}, line 4, board[1]: tool 'hammer' is none of "),
        (TWO + "seconds = 0", "{path}, line 4, board[1]: seconds are more than 0"),
        (TWO + 'power_cycle = "a \'b"', "{path}, line 4, board[1]: No closing quotation"),
        (TWO.replace('"a"', '"../a"'), "{path}, line 1, board[0]: name '../a' is part of file names"),
        (TWO.replace("microbit", "toaster"), "{path}, board a: there is no board 'toaster'"),
        (TWO.replace("microbit", "nucleo-f446re"), "{path}, board a: QEMU does not emulate this board"),
        ("board = [[", "{path}: cannot be read: "),
    ],
)
def test_mistakes_of_a_file(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(text)
    [message] = told(path)
    wanted = said.format(path=path)
    assert message.startswith(wanted) or wanted.replace(": is missing", ", board: is missing") in message
    assert "\nhelp: " in message


LABGRID = """
targets:
  desk:
    features: [microbit, fast]
    resources:
      - RawSerialPort: {port: /dev/ttyACM3, speed: 57600}
      - USBDebugger: {match: {ID_SERIAL_SHORT: "0240"}}
    drivers:
      ExternalPowerDriver: {cmd_on: relay on 3, cmd_off: relay off 3, delay: 1.5}
      SerialDriver: {}
  far:
    features: stm32
    resources:
      NetworkSerialPort: {host: shelf, port: 4001, protocol: raw}
    drivers:
      ExternalPowerDriver: {cmd_on: x, cmd_off: y, cmd_cycle: relay cycle 4}
"""


def test_an_environment_of_labgrid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "env.yaml"
    path.write_text(LABGRID)
    desk, far = read_lab(path).board
    assert (desk.name, desk.board, desk.port, desk.baud) == ("desk", "microbit", "/dev/ttyACM3", 57600)
    assert desk.probe == "0240"
    assert desk.power_words == ("sh", "-c", "relay off 3 && sleep 1.5 && relay on 3")
    assert (far.port, far.power_words) == ("socket://shelf:4001", ("relay", "cycle", "4"))
    for text, said in (
        ("targets: {}", "it has no targets"),
        ("[1, 2", "it is no plain YAML: "),
        ("a: !template $X", "it is no plain YAML: could not determine a constructor for the tag '!template'"),
        ("a: &x 1\nb: *x", "it has anchors and aliases"),
        ("targets: {a: {features: [fast]}}", "target a: one of its features has to name its board"),
        (
            "targets: {a: {features: [microbit], resources: {USBSerialPort: {}}}}",
            "target a: its port has to be a RawSerialPort or a NetworkSerialPort",
        ),
    ):
        path.write_text(text)
        [message] = told(path)
        assert message.startswith(f"{path}: cannot be read: {said}"), message
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(
        CodegenError, match=r'E283.*PyYAML is not installed\nhelp: .* install "labgrid>=24" "pyyaml>=6"'
    ):
        read_lab(path)


def passed(model: Path, board: LabBoard) -> JobResult:
    return JobResult(model=str(model), board=board.name, kind="microbit", state=State.PASSED, ram_bytes=10)


class Faked:
    """Jobs that end as `ends` says, by board and model; all others pass."""

    def __init__(self, ends: Mapping[tuple[str, str], Exception]) -> None:
        self.ends, self.recovered = ends, list[str]()

    def run(self, model: Path, place: LabBoard, progress: Progress) -> JobResult:
        progress("run")
        if (error := self.ends.get((place.name, model.stem))) is not None:
            raise error
        return passed(model, place)

    def recover(self, place: LabBoard) -> str:
        self.recovered.append(place.name)
        return "power-cycled"


def error(code: str, text: str = "because") -> CodegenError:
    return CodegenError(Message(code=code, text=text))


def test_a_board_in_trouble_is_given_up_and_no_other(tmp_path: Path) -> None:
    silent, garbage = error("E602"), error("E614")
    worker = Faked(
        {
            ("dead", "m0"): silent,
            ("dead", "m1"): garbage,
            ("weak", "m0"): silent,
            ("weak", "m1"): error("E701"),
            ("weak", "m2"): silent,
            ("fine", "m1"): error("E401"),
            ("fine", "m2"): ZeroDivisionError("a bug"),
        }
    )
    places = [place("dead"), place("weak"), place("fine")]
    results = run_lab(MODELS, places, worker)
    states = {
        board: [str(each.state) for each in results if each.board == board]
        for board in ("dead", "weak", "fine")
    }
    assert states == {
        "dead": ["hung", "garbage", "not run", "not run"],
        "weak": ["hung", "wrong", "hung", "passed"],
        "fine": ["passed", "does not fit", "failed", "passed"],
    }
    assert sorted(worker.recovered) == ["dead", "dead", "weak", "weak"]
    assert [each.model for each in results if each.board == "dead"] == [str(model) for model in MODELS]
    by_state = {(each.board, each.model): each for each in results}
    assert by_state["fine", "m2.tflite"].code == "bug"
    assert "ZeroDivisionError: a bug" in by_state["fine", "m2.tflite"].message
    assert by_state["dead", "m3.tflite"].message == (
        "board dead was given up: 2 jobs on end hung or brought garbage"
    )
    _check_reports(results, places, tmp_path)


def _check_reports(results: tuple[JobResult, ...], places: list[LabBoard], tmp_path: Path) -> None:
    root = ElementTree.fromstring(junit(results))
    totals = [root.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert totals == ["12", "1", "7", "1"]
    suites = {each.get("name"): [each.get("failures"), each.get("errors")] for each in root}
    assert suites == {"dead": ["0", "4"], "weak": ["1", "2"], "fine": ["0", "1"]}
    told = root.find("./testsuite[@name='dead']/testcase[@name='m0.tflite']/error")
    assert told is not None and told.get("message") == "hung: error[E602] because"
    page = lab_page(results, places)
    assert "4 models on 3 boards" in page and "ZeroDivisionError: a bug" in page
    assert '<div class="value">3 <small>of 12</small>' in page
    _look_at(page, tmp_path)


def _look_at(page: str, folder: Path) -> None:
    """In a browser without a network: nothing is loaded, links lead somewhere, colours say how jobs ended."""
    (folder / "lab.html").write_text(page, encoding="utf-8")
    with browser(folder / "profile") as seen:
        seen.load(folder / "lab.html")
        assert seen.problems == [] and seen.loaded == [(folder / "lab.html").as_uri()]
        dangling = (
            "[...document.querySelectorAll('a[href]')].filter(a => !document.querySelector(a.hash)).length"
        )
        assert seen.value(dangling) == 0
        cells = "[...document.querySelectorAll('td.state')]"
        colours = f"{cells}.map(each => [each.className, getComputedStyle(each).borderLeftColor])"
        of: dict[str, set[str]] = {}
        for state, colour in seen.value(colours):
            of.setdefault(state.removeprefix("state "), set()).add(colour)
        assert set(of) == {"passed", "wrong", "hung", "garbage", "failed", "not-run", "does-not-fit"}
        bad = of["wrong"] | of["hung"] | of["garbage"] | of["failed"] | of["not-run"]
        assert len(bad) == len(of["passed"]) == len(of["does-not-fit"]) == 1
        assert len(bad | of["passed"] | of["does-not-fit"]) == 3
        check_for_everybody(seen, "lab")
        assert {"link", "navigation", "region"} <= roles(seen)
        seen.load(folder / "lab.html", width=400)
        check_for_everybody(seen, "lab-narrow")


def test_models_and_boards_of_one_name_are_built_apart(tmp_path: Path) -> None:
    """A second model of the name, or a board file of the name, took the folder of the first build."""
    models = [network(tmp_path / name, 1) for name in "ab"]
    shipped = (resources.folder("boards") / "microbit.toml").read_text()
    files = [tmp_path / f"{name}.toml" for name in "cd"]
    for number, file in enumerate(files):
        file.write_text(shipped.replace('title = "', f'title = "Number {number}, '))
    bench = Bench(tmp_path / "lab", Options())
    places = [LabBoard(name=file.stem, board=str(file)) for file in files]
    built = [bench.built(model, place) for model in models for place in places]
    assert len({each.folder for each in built}) == 4
    again = bench.built(models[0], replace(places[0], name="another"))
    assert again is built[0]


def test_boards_work_at_the_same_time() -> None:
    """Each waits until all three are at work."""
    barrier = threading.Barrier(3)

    class Waiting(Faked):
        def run(self, model: Path, place: LabBoard, progress: Progress) -> JobResult:
            barrier.wait(30)
            return super().run(model, place, progress)

    results = run_lab(MODELS, [place("a"), place("b"), place("c")], Waiting({}))
    assert {each.state for each in results} == {State.PASSED} and len(results) == 12


def test_the_live_table() -> None:
    shown = _Table([place("a"), place("b")], 4)
    run_lab(MODELS, [place("a"), place("b")], Faked({("a", "m0"): error("E602")}), shown)
    columns = [list(each.cells) for each in shown.__rich__().columns]
    assert columns == [["a", "b"], ["4 of 4"] * 2, ["done"] * 2, ["3 passed, 1 hung", "4 passed"]]


def test_text_that_xml_cannot_say() -> None:
    odd = JobResult(model="m", board="b", kind="k", state=State.FAILED, message="a\x00\x1b[1m<&>\ud800\ufffe")
    told = ElementTree.fromstring(junit([odd])).find("./testsuite/testcase/error")
    assert told is not None and told.text == "a??[1m<&>?"
    assert "&lt;&amp;&gt;" in lab_page([odd], [place("b")]).replace("\ud800", "")


def test_exit_codes() -> None:
    def ends(*codes: str) -> int:
        results = run_lab(
            [Path(f"m{index}") for index in range(len(codes))],
            [place("a")],
            Faked({("a", f"m{index}"): error(code) for index, code in enumerate(codes) if code}),
        )
        return exit_code_of(results)

    assert (ends(""), ends("", "E401"), ends("E401", "E402")) == (0, 0, 4)
    assert (ends("E602", "E701", ""), ends("E602", "E401"), ends("E301")) == (7, 6, 3)


def test_the_error_beneath_says_what_the_board_did() -> None:
    wrapped = error("E635")
    wrapped.__cause__ = error("E602")
    assert state_of(wrapped) is State.HUNG
    wrapped.__cause__ = error("E614")
    assert state_of(wrapped) is State.GARBAGE
    assert state_of(error("E601")) is State.FAILED


def test_power(tmp_path: Path) -> None:
    port = str(tmp_path / "port")
    assert recover(place("a")) == "QEMU starts anew for each job"
    assert recover(place("a", port=port, power_cycle="true")) == "power-cycled"
    assert recover(place("a", port=port, power_cycle="false")) == "the power command false failed (status 1)"
    assert recover(place("a", port=port, power_cycle="/no/relay")) == (
        "the power command /no/relay cannot be run: No such file or directory"
    )


class Chatty:
    """A port behind which something answers for ever, and never what was asked. Reading takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def write(self, data: bytes) -> None:
        del data

    def read(self, timeout_seconds: float) -> bytes:
        self.now += min(1.0, timeout_seconds)
        return b"."


def test_a_session_ends_within_its_limit() -> None:
    port = Chatty()
    patience = Patience(identify_seconds=5.0, identify_tries=1000, session_seconds=20.0)
    with pytest.raises(
        CodegenError, match=r"E640\] it did not end within 20 s \(IDENTIFY\)\nhelp: a loop without"
    ):
        Link(port, patience=patience, clock=lambda: port.now).identify()
    assert port.now == pytest.approx(20.0)


def test_a_closed_port_is_free_although_a_child_was_just_forked() -> None:
    """Two boards of one lab: one closed its port while the other's flash tool was started. The child had a
    copy of the descriptor for a moment, the lock with it, and the port was in use (E634)."""
    ours, theirs = os.openpty()
    first = SerialPort(os.ttyname(theirs), 115_200)
    copy = os.dup(first._serial.fileno())  # pyright: ignore[reportPrivateUsage]
    first.close()
    SerialPort(os.ttyname(theirs), 115_200).close()
    for descriptor in (ours, theirs, copy):
        os.close(descriptor)


def test_words_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("lab", "list") == ExitCode.USAGE
    assert "error[E204] no file lab.toml" in capsys.readouterr().err
    (tmp_path / "lab.toml").write_text(TWO)
    assert call("lab", "list") == ExitCode.OK
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "board", "port", "there", "probe", "power"]
    assert first.split() == ["a", "microbit", "QEMU", "-", "-", "-"]
    assert second.split() == ["b", "netduinoplus2", "/dev/b", "no", "-", "-"]
    assert call("lab", "list", "--json") == ExitCode.OK
    assert [each["there"] for each in json.loads(capsys.readouterr().out)["boards"]] == [None, False]
    (tmp_path / "x").mkdir()
    (tmp_path / "a.tflite").touch()
    (tmp_path / "x" / "a.tflite").touch()
    assert call("lab", "run", "none.tflite", "a.tflite", "x/a.tflite") == ExitCode.USAGE
    said = capsys.readouterr().err
    assert "error[E204] no file none.tflite" in said and "error[E205] 2 models are called a" in said
