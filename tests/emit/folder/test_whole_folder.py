"""Writing a folder whole or not at all."""

import errno
import hashlib
import os
from pathlib import Path

import pytest

from codegen.emit import staged, write
from codegen.errors import CodegenError
from codegen.program.image import ProductFunctions, Sources


def _sources(**files: str) -> Sources:
    return Sources(
        files={name.replace("_", "/", 1): text for name, text in files.items()},
        c_files=(),
        model_files=(),
        include_dirs=(".",),
        linker_script=None,
        functions=ProductFunctions(entries=()),
        prefix="",
    )


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_new_folder_holds_the_files_and_the_marker(tmp_path: Path) -> None:
    write(_sources(a="1", sub_b="2"), tmp_path / "deep" / "out")
    assert _names(tmp_path / "deep" / "out") == {"a", "sub/b", ".codegen"}
    assert (tmp_path / "deep" / "out" / "sub" / "b").read_text() == "2"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_our_own_files_are_replaced_and_others_kept(tmp_path: Path) -> None:
    """A rebuild replaced the whole folder: CMake's build folder and notes of the user's in it were lost."""
    out = tmp_path / "out"
    write(_sources(a="1", old="x", sub_b="3"), out)
    (out / "build" / "CMakeFiles").mkdir(parents=True)
    (out / "build" / "CMakeCache.txt").write_text("cache")
    os.utime(out / "build" / "CMakeCache.txt", (1, 1))
    (out / "sub" / "b.o").write_text("object")
    (out / "notes").symlink_to("build/CMakeCache.txt")
    write(_sources(a="2"), out)
    assert _names(out) == {"a", "build/CMakeCache.txt", "sub/b.o", "notes", ".codegen"}
    assert (out / "a").read_text() == "2"
    assert (out / "build" / "CMakeFiles").is_dir() and (out / "notes").is_symlink()
    # As old as it was: make builds objects again only where sources are newer.
    assert (out / "build" / "CMakeCache.txt").stat().st_mtime == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    write(_sources(a="3"), out)
    assert _names(out) == {"a", "build/CMakeCache.txt", "sub/b.o", "notes", ".codegen"}


def test_files_are_copied_where_a_disk_has_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    write(_sources(a="1"), tmp_path / "out")
    (tmp_path / "out" / "mine").write_text("mine")
    monkeypatch.setattr(os, "link", no_links)
    write(_sources(a="2"), tmp_path / "out")
    assert (tmp_path / "out" / "mine").read_text() == "mine"


def test_the_manifest_is_what_sha256sum_reads(tmp_path: Path) -> None:
    write(_sources(a="1", sub_b="2"), tmp_path / "out")
    lines = (tmp_path / "out" / ".codegen").read_text().splitlines()
    assert lines[0].startswith("# Made by codegen. The next build into this folder replaces these files and")
    assert lines[1:] == [
        f"{hashlib.sha256(text).hexdigest()}  {name}" for name, text in (("a", b"1"), ("sub/b", b"2"))
    ]


def _refused(out: Path, **files: str) -> str:
    """The message for a build into `out`, which changes nothing there."""
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(CodegenError) as error:
        write(_sources(**files), out)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert [path.name for path in out.parent.iterdir()] == [out.name]
    assert error.value.exit_code == 2
    return str(error.value)


def test_what_the_user_changed_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(_sources(a="1", b="2", **{"report.json": "{}"}), out)
    (out / "report.json").write_text("{more}")  # `run` adds its figures
    (out / "b").unlink()
    write(_sources(a="1", **{"report.json": "{}"}), out)
    (out / "a").write_text("mine now")
    assert _refused(out, a="2") == (
        f"error[E232] {out}: was changed since codegen wrote it: a\n"
        "help: move your version away, or name another folder with -o"
    )


def test_what_is_in_the_way_of_new_files_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(_sources(a="1"), out)
    (out / "new").write_text("mine")
    (out / "sub").write_text("mine too")
    (out / "dir").mkdir()
    assert _refused(out, new="2", sub_b="3", dir="4") == (
        f"error[E232] {out}: holds files that codegen did not write where this build has files of its own: "
        "dir, new, sub\nhelp: move them away, or name another folder with -o"
    )
    write(_sources(a="2", other="3"), out)
    assert _names(out) == {"a", "other", "new", "sub", ".codegen"}


def test_a_folder_that_does_not_say_what_was_written_is_left_alone(tmp_path: Path) -> None:
    """So were folders of builds before there were lists: the message says what to do with them, once."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".codegen").write_text("Made by codegen: all of it is replaced.\n")
    assert _refused(tmp_path / "out", a="1").startswith(f"error[E230] {tmp_path / 'out'}: holds files, but")


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write(_sources(a="1"), tmp_path / "out")
    assert _names(tmp_path / "out") == {"a", ".codegen"}


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_is_not_ours_is_left_alone(tmp_path: Path, what: str) -> None:
    target = tmp_path / "thesis"
    if what == "folder":
        target.mkdir()
        (target / "chapter").write_text("years of work")
    else:
        target.write_text("years of work")
    with pytest.raises(CodegenError) as error:
        write(_sources(a="1"), target)
    told = {
        "folder": "holds files, but no .codegen that lists what codegen wrote there, so it is left alone\n"
        "help: name a new folder with -o; if an older codegen, which wrote no "
        "such list, built this one, delete it first",
        "file": "is a file, so it is left alone\nhelp: name a new folder with -o",
    }
    assert str(error.value) == f"error[E230] {target}: {told[what]}"
    assert error.value.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["thesis"]


def test_a_failure_inside_leaves_what_was_there(tmp_path: Path) -> None:
    write(_sources(a="1"), tmp_path / "out")
    with pytest.raises(RuntimeError), staged(_sources(a="2"), tmp_path / "out") as staging:
        assert (staging / "a").read_text() == "2"
        raise RuntimeError("the compiler failed")
    assert (tmp_path / "out" / "a").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_files_added_to_the_staging_folder_arrive(tmp_path: Path) -> None:
    with staged(_sources(a="1"), tmp_path / "out") as staging:
        (staging / "firmware.elf").write_bytes(b"\x7fELF")
        assert not (tmp_path / "out").exists()
    assert _names(tmp_path / "out") == {"a", "firmware.elf", ".codegen"}


def test_a_place_that_cannot_be_written_is_a_users_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "out", tmp_path / "file" / "deep" / "out"):
        with pytest.raises(CodegenError) as error:
            write(_sources(a="1"), folder)
        assert error.value.exit_code == 2
        text = f"error[E231] {folder}: cannot be written: {tmp_path / 'file'} is a file, no folder\nhelp: "
        assert str(error.value.messages[0]).startswith(text)


def test_the_folder_has_ordinary_rights(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    write(_sources(a="1"), tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_current_folder_and_those_above_it_are_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell was left in a folder that was gone, and the next command ended in a traceback."""
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    for folder, what in ((Path(), "is"), (Path(".."), "holds")):
        with pytest.raises(CodegenError) as caught:
            write(_sources(a="1"), folder)
        assert str(caught.value.messages[0]) == (
            f"error[E233] {folder.resolve()}: {what} the current folder, and a build puts a new folder "
            "in its place, with the files of yours that the old one holds\n"
            "help: name a folder in it (-o build), or run codegen from outside it"
        )
    assert inner.is_dir() and not any(inner.iterdir())
