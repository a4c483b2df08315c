"""`codegen` for tests that give many commands: a process that has imported it and forks for each of them.

A command runs in a process of its own, with the folder, the environment and the streams of whoever gives
it, as if it had been started anew; only importing, half of what a small command takes, was done before.
"""

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from codegen.cli.installed_tools import installed_tools
from tests import objects
from tests.checkout import ROOT

_NUMBER_BYTES = 4
_CLIENT = """#!{python} -IS
import json, os, socket, sys
asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [len(asked).to_bytes({number_bytes}, "big")], [0, 1, 2])
server.sendall(asked)
status = server.recv(1)
sys.exit(status[0] if status else 1)
"""


@contextmanager
def command(folder: Path, checkout: Path = ROOT) -> Generator[Path]:
    """A program `codegen` of `checkout` in `folder` (not yet there), to be put into PATH; it works until the
    end."""
    folder.mkdir()
    address = folder / "socket"
    words = [sys.executable, "-m", "tests.forked", str(address)]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    with subprocess.Popen(words, cwd=checkout, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None and server.stdout.readline() == "ready\n"
            program = folder / "codegen"
            program.write_text(
                _CLIENT.format(python=sys.executable, address=str(address), number_bytes=_NUMBER_BYTES)
            )
            program.chmod(0o755)
            yield program
        finally:
            server.kill()


def _serve(address: str) -> NoReturn:
    for name in (
        "codegen.cli.verbs",
        "codegen.cli.model_work.model_work",
        "codegen.cli.model_work.plan_work",
        "codegen.cli.verbs_info",
        "codegen.cli.model_work.sized_verbs",
        *(flag.module for tool in installed_tools() for flag in tool.report_flags),
    ):
        importlib.import_module(name)
    objects.keep()
    signal.signal(signal.SIGCHLD, _reap)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            asker, _ = server.accept()
            with asker:
                if os.fork() == 0:
                    server.close()
                    os._exit(_answer(asker))


def _reap(*_: object) -> None:
    """Nobody asks how children ended, for they say so themselves; only the time they took counts here."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _answer(asker: socket.socket) -> int:
    """Run the command that is asked for, in a child of the server; 0 in any case."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(asker, _NUMBER_BYTES, 3)
    asked = b""
    while len(asked) < int.from_bytes(head, "big"):
        asked += asker.recv(1 << 16)
    words, folder, environment = json.loads(asked)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    main = importlib.import_module("codegen.cli.main").main
    status = 1
    try:
        main(words)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
        asker.sendall(bytes([status]))
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1])
