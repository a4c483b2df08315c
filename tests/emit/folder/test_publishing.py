"""A folder is whole at any moment, and nothing of the user's in it is lost, whoever is killed or saves.

Builds that renamed the old folder aside lost files: of two at once, of one that was killed between its two
renames (no folder at all), of one during which an editor saved (docs/decisions/008).
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.cli import main
from codegen.emit import staged, write
from codegen.emit.folder import old_folder, publishing
from codegen.emit.folder import whole_folder as emit_folder
from codegen.errors import CodegenError
from tests.emit.folder.publishing_runs import check_mine, child, ended, save, sources, start


def _run(tmp_path: Path, *words: str) -> int:
    """What a run of `publishing_runs` printed: how often it did what it does."""
    command = [
        sys.executable,
        "-m",
        "tests.emit.folder.publishing_runs",
        words[0],
        str(tmp_path / "out"),
        *words[1:],
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("exchange", [(), ("--no-exchange",)], ids=["exchange", "two-renames"])
@pytest.mark.sampled(1)
def test_killed_right_after_the_user_saved(tmp_path: Path, exchange: tuple[str, ...]) -> None:
    """Killed before each call of a build, the folder is whole, and the next build has all that was saved."""
    assert _run(tmp_path, "save-and-kill", *exchange) > 50


@pytest.mark.thorough
def test_a_file_saved_during_publishing(tmp_path: Path) -> None:
    """Before each call of a build: a file saved anew, a new one, one removed."""
    assert _run(tmp_path, "save") > 50


def test_a_full_disk_is_no_traceback(tmp_path: Path) -> None:
    """At each call that writes: E231, and the folder is the old one or the new one."""
    assert _run(tmp_path, "full") >= 5


def test_builders_at_the_same_time_some_of_them_killed(tmp_path: Path) -> None:
    assert _run(tmp_path, "together", "--seconds", "1.5") > 50


@pytest.mark.long
def test_two_thousand_kills(tmp_path: Path) -> None:
    assert _run(tmp_path, "random", "--count", "2000") == 2000


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_four_builders_and_an_editor_for_twenty_seconds(tmp_path: Path, seed: int) -> None:
    assert _run(tmp_path, "together", "--seconds", "20", "--seed", str(seed)) > 1000


@pytest.mark.long
@pytest.mark.parametrize("what", ["kill", "save"])
def test_where_two_paths_cannot_be_exchanged(tmp_path: Path, what: str) -> None:
    assert _run(tmp_path, what, "--no-exchange") > 50


def test_a_file_of_ours_edited_while_it_is_replaced(tmp_path: Path) -> None:
    """It can only be seen once the folders have changed places; both versions stay."""
    out = tmp_path / "out"
    write(sources(1), out)
    heard: list[tuple[str, str]] = []
    edited = [False]

    def edit(event: str, arguments: tuple[object, ...]) -> None:  # stays in this process
        if not edited[0] and event == "open" and str(arguments[0]).endswith("kept.json"):
            edited[0] = True
            (out / "model.c").write_text("mine")
            (out / "runtime" / "kernel.c").write_text("mine")

    sys.addaudithook(edit)
    with staged(sources(2), out, lambda name, aside: heard.append((name, aside))):
        pass
    assert sorted(heard) == [("model.c", "model.c.yours"), ("runtime/kernel.c", "runtime/kernel.c.yours")]
    assert (out / "model.c.yours").read_text() == (out / "runtime" / "kernel.c.yours").read_text() == "mine"
    assert (out / "model.c").read_text().startswith("2\n")


def test_a_lock_that_a_killed_build_left_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / ".out.lock").write_text("")
    write(sources(1), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_another_build_keeps_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit_folder, "_WAIT_SECONDS", 0.05)
    file = os.open(tmp_path / ".out.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(file, fcntl.LOCK_EX)
    with pytest.raises(CodegenError) as caught:
        write(sources(1), tmp_path / "out")
    assert str(caught.value).startswith(
        f"error[E235] {tmp_path / 'out'}: another build has been writing this folder for 0 seconds\nhelp: end"
    )
    os.close(file)
    write(sources(1), tmp_path / "out")


@pytest.mark.parametrize("call", ["is_dir", "iterdir"])
def test_a_workplace_that_goes_while_we_look_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """A build that lives clears up without the folder's lock; the other build ended with E231."""
    other = publishing.open_workplace(tmp_path / "out")
    looked = getattr(Path, call)

    def gone_then(path: Path) -> object:
        if call == "is_dir":
            answer = looked(path)
            if path == other.path:
                shutil.rmtree(path)
            return answer
        if path == other.path:
            shutil.rmtree(path, ignore_errors=True)
        return looked(path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, call, gone_then)
        write(sources(1), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    os.close(other.lock)


def test_hidden_folders_of_the_users_are_left_alone(tmp_path: Path) -> None:
    """Siblings are cleared up, but only those that a build can have left."""
    mine = tmp_path / ".out.backup.codegen" / "thesis"
    mine.parent.mkdir()
    mine.write_text("years of work")
    write(sources(1), tmp_path / "out")
    write(sources(2), tmp_path / "out")
    assert mine.read_text() == "years of work"


def test_a_killed_build_of_a_folder_whose_name_goes_on(tmp_path: Path) -> None:
    """What a killed build of `out.old` left was taken for that of `out`, and the user's files went there."""
    other = tmp_path / "out.old"
    mine = start(other)

    def work() -> None:
        def kill(event: str, arguments: tuple[object, ...]) -> None:
            if event == "os.remove" and ".codegen/" in str(arguments[0]):  # places are changed
                save(other / "fresh", "saved")
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(kill)
        write(sources(1), other)

    assert ended(child(work)) == -signal.SIGKILL
    [left] = tmp_path.glob(".*.codegen")
    write(sources(2), tmp_path / "out")
    assert left.exists() and not (tmp_path / "out" / "notes").exists()
    write(sources(3), other)
    check_mine(other, mine | {"fresh": "saved"})
    assert not left.exists()


def test_a_disk_that_is_full_once_a_file_is_open(tmp_path: Path) -> None:
    """The image did not fit the folder's disk, and the message told people to make room in /tmp."""
    with (
        pytest.raises(CodegenError) as told,
        staged(sources(1), tmp_path / "out"),
        Path("/dev/full").open("w") as file,
    ):
        file.write("image")
    assert f"error[E231] {tmp_path / 'out'}: cannot be written: No space left" in str(told.value)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_of_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compiler that says what the real one says was told as an error of the generated code."""
    said = "as: BFD: closing a.o: No space left on device"
    (tmp_path / "arm-none-eabi-gcc").write_text(
        f'#!/bin/sh\ncase "$*" in *-dump*) echo 12.2.1;; *) echo "{said}" >&2; exit 1;; esac\n'
    )
    (tmp_path / "arm-none-eabi-gcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(SystemExit) as ended:
        main(["build", "-o", str(tmp_path / "out"), "-q"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("error[E231] ") and "objects cannot be written: No space left on device\n" in told
    assert "TMPDIR" in told and not (tmp_path / "out").exists()


def test_what_fails_behind_the_exchange_is_told_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cannot be written` stood there (E231), although the new folder was in its place."""
    write(sources(1), tmp_path / "out")

    def broken(folder: Path) -> list[str]:
        raise OSError(5, "Input/output error", str(folder))

    monkeypatch.setattr(old_folder, "names_in", broken)
    with pytest.raises(CodegenError) as caught:
        write(sources(2), tmp_path / "out")
    [message] = caught.value.messages
    assert message.code == "E231"
    assert message.text == (
        "is the new build, but what was there before cannot be cleared up: Input/output error"
    )
    assert all((tmp_path / "out" / name).read_text() == text for name, text in sources(2).files.items())
