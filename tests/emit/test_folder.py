"""Writing a folder whole or not at all."""

from pathlib import Path

import pytest

from codegen.emit import staged, write
from codegen.errors import CodegenError
from codegen.plan.image import Sources


def _sources(**files: str) -> Sources:
    return Sources(
        files={name.replace("_", "/", 1): text for name, text in files.items()},
        c_files=(),
        model_files=(),
        include_dirs=(".",),
        linker_script=None,
        entry_functions=(),
        prefix="",
    )


def _names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_new_folder_holds_the_files_and_the_marker(tmp_path: Path) -> None:
    write(_sources(a="1", sub_b="2"), tmp_path / "deep" / "out")
    assert _names(tmp_path / "deep" / "out") == {"a", "sub/b", ".codegen"}
    assert (tmp_path / "deep" / "out" / "sub" / "b").read_text() == "2"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


def test_our_own_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write(_sources(a="1", old="x"), tmp_path / "out")
    (tmp_path / "out" / "object.o").write_text("built from the old files")
    write(_sources(a="2"), tmp_path / "out")
    assert _names(tmp_path / "out") == {"a", ".codegen"}
    assert (tmp_path / "out" / "a").read_text() == "2"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


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
    text = "holds files that codegen did not write" if what == "folder" else "is a file"
    assert str(error.value) == (
        f"error[E230] {target}: {text}; a build replaces the whole folder, so this one is left alone\n"
        "help: name a new folder with -o, or empty this one"
    )
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
    with pytest.raises(CodegenError, match=r"error\[E231\] .*cannot be written: ") as error:
        write(_sources(a="1"), tmp_path / "file" / "out")
    assert error.value.exit_code == 2


def test_the_folder_has_ordinary_rights(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    write(_sources(a="1"), tmp_path / "out")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode
