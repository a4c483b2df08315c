"""A board behind a port, from flash to figures: QEMU on a pseudo-terminal, loaded by a tool of the test.

The tool is called `pyocd` and first in PATH. It ends before the board is there again, as real ones do:
the port goes, and comes back 0.2 s later. It can be told to fail, to lie, to hang, to load another file,
or to leave a board that is stuck or answers garbage.
"""

import os
import signal
import sys
import textwrap
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
import serial

from codegen.board import load_board
from codegen.cli.boards.board_doctor import board_findings
from codegen.cli.main import main
from codegen.errors import ExitCode
from tests.e2e.test_entry import network

pytestmark = pytest.mark.qemu
BOARD = "netduinoplus2"
LOAD = "load --no-wait -O keep_unwritten=true --target stm32f405rgtx"
TOOL = """
    #!{python}
    import os, re, signal, subprocess, sys, time, tty
    from pathlib import Path
    state = Path({state!r})
    mode = (state / "mode").read_text() if (state / "mode").exists() else "work"
    with (state / "asked").open("a") as asked:
        print(*sys.argv[1:], file=asked)
    if mode == "fail":
        print("Erasing 16 sectors\\nError: flash write failed at 0x08004000", file=sys.stderr)
        sys.exit(1)
    if mode == "hang":
        time.sleep(60)
    if sys.argv[1] == "load" and mode in ("work", "stuck"):
        (state / "elf").write_text(sys.argv[-1])
    (state / "port").unlink(missing_ok=True)
    if (state / "pid").exists():
        os.kill(int((state / "pid").read_text()), signal.SIGKILL)
        (state / "pid").unlink()
    if mode == "dead" or os.fork():
        sys.exit(0)
    os.setsid()
    time.sleep(0.2)
    if mode == "babble":
        ours, theirs = os.openpty()
        tty.setraw(theirs)
        (state / "pid").write_text(str(os.getpid()))
        (state / "port").symlink_to(os.ttyname(theirs))
        while True:
            os.read(ours, 4096)
            os.write(ours, b"\\0\\5garbage" * 20 + b"\\0")
    emulator = subprocess.Popen(
        ["qemu-system-arm", "-M", {machine!r}, "-icount", "shift=0", "-nographic", "-nodefaults",
         "-chardev", "pty,id=link", "-serial", "null", "-serial", "chardev:link",
         *(["-S"] if mode == "stuck" else []), "-kernel", (state / "elf").read_text()],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    device = re.search(r"/dev/pts/[0-9]+", emulator.stdout.readline())[0]
    (state / "pid").write_text(str(emulator.pid))
    (state / "port").symlink_to(device)
"""


class Bench:
    """A board on a desk: its tool, its port, the folder of the build, and what a command said."""

    def __init__(self, folder: Path, capture: Callable[[], tuple[str, str]]) -> None:
        self.folder, self.port, self._capture = folder, str(folder / "port"), capture

    def mode(self, word: str) -> None:
        (self.folder / "mode").write_text(word)

    def call(self, *words: str) -> tuple[int, str, str]:
        """Exit code, stdout, stderr."""
        with pytest.raises(SystemExit) as left:
            main([*words])
        said = self._capture()
        return int(str(left.value.code)), said[0], said[1]

    def end(self) -> None:
        if (self.folder / "pid").exists():
            os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Generator[Bench]:
    (tmp_path / "tools").mkdir()
    text = textwrap.dedent(TOOL).strip().format(python=sys.executable, state=str(tmp_path), machine=BOARD)
    (tmp_path / "tools" / "pyocd").write_text(text)
    (tmp_path / "tools" / "pyocd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{os.environ['PATH']}")
    network(tmp_path, 1).rename(tmp_path / "net.tflite")
    made = Bench(tmp_path, lambda: capsys.readouterr())
    yield made
    made.end()


def test_from_flash_to_figures_and_every_way_it_goes_wrong(bench: Bench) -> None:
    """One board and one build, so that it is built twice only."""
    model, out, port = str(bench.folder / "net.tflite"), str(bench.folder / "out"), bench.port
    asked = bench.folder / "asked"

    code, said, errors = bench.call("run", model, "--board", BOARD, "--port", port, "--flash", "-o", out)
    assert code == ExitCode.OK, errors
    assert "cycles" in said
    assert asked.read_text() == f"{LOAD} {out}/firmware.elf\n"

    code, said, errors = bench.call("flash", out, "--port", port, "--probe", "S1", "--board", BOARD)
    assert (code, errors) == (ExitCode.OK, "")
    command, flashed, answers = said.splitlines()
    assert command == f"pyocd {LOAD} --uid S1 {out}/firmware.elf"
    assert flashed.startswith(f"flashed   {out}/firmware.elf  ({BOARD}, build ")
    assert answers == f"answers   {port}  (the same build)"

    code, said, errors = bench.call("reset", "--board", BOARD, "--port", port)
    assert (code, errors) == (ExitCode.OK, "")
    assert said.splitlines()[1:2] == [f"reset     {BOARD}"]
    assert said.splitlines()[2].startswith(f"answers   {port}  (board {BOARD}, build ")

    code, said, _ = bench.call("doctor", "--board", BOARD, "--port", port)
    assert f"ok        port {port}: board {BOARD}, build " in said
    assert f"ok        flash tool pyocd: {bench.folder}/tools/pyocd, the one that is taken" in said
    found = board_findings(load_board("nucleo-f446re"), port, None)[-1]
    assert not found.ok and found.detail.startswith(f"board {BOARD}, build ")
    assert found.detail.endswith(" answers: another board") and f"--board {BOARD}" in found.install

    greeting, heard = "[test link] a reset: the test firmware has started (or a request arrived damaged)", ""
    for seconds in ("0.4", "2", "8"):  # on a loaded machine half a reply may come first
        if greeting not in heard:
            words = ("monitor", "--board", BOARD, "--port", port, "--send", "\0noise\0", "--seconds", seconds)
            code, said, errors = bench.call(*words)
            assert (code, errors) == (ExitCode.OK, "")
            heard += said
    assert greeting in heard

    _wrong_ways(bench, model, out)


def _wrong_ways(bench: Bench, model: str, out: str) -> None:
    port, asked = bench.port, bench.folder / "asked"
    before = asked.read_text()
    code, _, errors = bench.call("flash", out, "--port", port, "--board", "nucleo-f446re")
    assert code == ExitCode.TARGET
    assert errors == (
        f"error[E636] {out}: firmware.elf there was built for board {BOARD}, not for nucleo-f446re\n"
        f"help: leave --board out, or build for it: codegen build --board nucleo-f446re -o {out}\n"
    )
    with serial.Serial(port, exclusive=True):
        for words in (("flash", out), ("run", model, "--board", BOARD, "--flash")):
            code, _, errors = bench.call(*words, "--port", port)
            assert code == ExitCode.TARGET
            assert errors == (
                f"error[E634] {port}: the port is in use: another program has it open\n"
                f"help: end the terminal, debugger or other codegen that has it; `fuser {port}` says which\n"
            )
    assert asked.read_text() == before, "the tool was asked although it could not work"

    bench.mode("fail")
    code, _, errors = bench.call("flash", out, "--port", port)
    assert code == ExitCode.TARGET
    assert errors.startswith(
        "error[E631] pyocd failed (status 1); it printed\n"
        "  Erasing 16 sectors\n  Error: flash write failed at 0x08004000\n"
        "help: what is in the board's flash now may be half written: flash again before you run it; "
    )
    bench.mode("hang")
    code, _, errors = bench.call("reset", "--board", BOARD, "--timeout", "0.5")
    assert code == ExitCode.TARGET
    assert errors.startswith("error[E632] pyocd did not end within 0.5 s and was ended and printed nothing\n")

    bench.mode("lie")  # it resets the board, and loads nothing
    words = ("run", model, "--board", BOARD, "--port", port, "--flash", "--optimize", "size")
    code, said, errors = bench.call(*words)
    assert (code, said) == (ExitCode.TARGET, "")
    assert errors.startswith(
        f"error[E635] {port}: the flash tool reported success, but another build is on the board: build "
    )
    assert "do --port and --probe belong to the same board?" in errors

    bench.mode("dead")
    code, _, errors = bench.call("flash", out, "--port", port, "--wait", "0.3")
    assert code == ExitCode.TARGET
    assert errors.startswith(
        f"error[E633] {port}: the port is not there (waited 0.3 s): No such file or directory\n"
        "help: is it the right port?"
    )
