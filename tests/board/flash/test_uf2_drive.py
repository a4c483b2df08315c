"""`codegen flash` onto the USB drive of a boot loader: found where it is mounted, else said."""

from pathlib import Path

import pytest

from codegen.api import build
from codegen.board import load_board
from codegen.board.flash import drives
from codegen.board.flash.commands import load_commands
from codegen.cli.boards.board_doctor import board_findings
from codegen.driver.inputs.files import example_model
from codegen.driver.options import Options
from codegen.errors import CodegenError
from tests.cli.test_verbs import call

PICO = load_board("rpi-pico")
INFO = "UF2 Bootloader v3.0\r\nModel: Raspberry Pi RP2\r\nBoard-ID: RPI-RP2\r\n"


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Mounted file systems, as Linux lists them: the disk, a stick, and one with a blank in its name."""
    stick, drive = tmp_path / "stick", tmp_path / "my drive"
    for place in (stick, drive):
        place.mkdir()
    listing = tmp_path / "mounts"
    escaped = str(drive).replace(" ", "\\040")
    listing.write_text(
        f"/dev/sda1 / ext4 rw 0 0\n/dev/sdb1 {stick} vfat rw 0 0\n/dev/sdc1 {escaped} vfat rw 0 0\n"
    )
    monkeypatch.setattr(drives, "MOUNTS", listing)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return drive


def test_flash_copies_the_file_onto_the_drive(
    mounts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    build(example_model(), out, Options(board="pico"))
    assert call("flash", str(out), "--tool", "uf2", "-q") == 6
    assert capsys.readouterr().err == (
        "error[E630] rpi-pico: no drive of its boot loader is mounted (INFO_UF2.TXT with Board-ID RPI-RP2)\n"
        "help: hold BOOTSEL, plug the board in, mount its drive; or copy firmware.uf2 there yourself\n"
    )
    (mounts / "INFO_UF2.TXT").write_text(INFO.replace("RPI-RP2", "RP2350"))
    assert call("flash", str(out), "--tool", "uf2", "-q") == 6, "the drive of another chip"
    (mounts / "INFO_UF2.TXT").write_text(INFO)
    capsys.readouterr()
    assert call("flash", str(out)) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"cp {out}/firmware.uf2 '{mounts}'"
    assert (mounts / "firmware.uf2").read_bytes() == (out / "firmware.uf2").read_bytes()


def test_dry_run_needs_no_tool(
    mounts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ended with E630 where no flash tool is installed: just where one wants to read its command."""
    out = tmp_path / "out"
    build(example_model(), out, Options(board="rpi-pico"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(drives.getpass, "getuser", lambda: "me")
    assert call("flash", str(out), "--dry-run") == 0
    assert capsys.readouterr().out == (
        "# copy to where the drive RPI-RP2 is mounted (for instance /media/me/RPI-RP2)\n"
        f"cp {out}/firmware.uf2 /media/me/RPI-RP2\nsync\n"
    ), "a guessed place looked like a fact"
    (mounts / "INFO_UF2.TXT").write_text(INFO)
    assert call("flash", str(out), "--dry-run", "--tool", "uf2") == 0
    assert capsys.readouterr().out == f"cp {out}/firmware.uf2 '{mounts}'\nsync\n"
    assert call("flash", str(out), "--dry-run", "--tool", "pyocd") == 0
    assert capsys.readouterr().out.startswith("pyocd load ")
    assert call("reset", "--board", "nucleo-f446re", "--dry-run") == 0
    assert capsys.readouterr().out.strip() != ""


def test_a_file_of_the_build_is_answered_with_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`flash out/firmware.uf2` was told that it "is no report of codegen: it is not text"."""
    out = tmp_path / "out"
    build(example_model(), out, Options(board="rpi-pico"))
    assert call("flash", str(out / "firmware.uf2"), "--dry-run") == 2
    assert capsys.readouterr().err == (
        f"error[E237] {out}/firmware.uf2: is no report of codegen: it is not text: byte 7 is not UTF-8\n"
        f"help: give the folder that it lies in: {out}\n"
    )


def test_a_mounted_drive_comes_before_tools_that_are_installed(mounts: Path, tmp_path: Path) -> None:
    (tmp_path / "pyocd").write_text("#!/bin/sh\n")
    (tmp_path / "pyocd").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        assert load_commands(PICO, Path("firmware.elf")).tool == "pyocd"
        assert not board_findings(PICO, None, None)[0].ok
        (mounts / "INFO_UF2.TXT").write_text(INFO)
        assert load_commands(PICO, Path("firmware.elf")).tool == "uf2"
        assert board_findings(PICO, None, None)[0].detail == "its drive is mounted, the one that is taken"


def test_the_names_belong_together(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "boards" / "rpi-pico.toml").read_text()
    for old, new, told in (
        ("uf2_family = 0xE48B_FF56\n", "", "flash.uf2_family is missing beside flash.uf2"),
        ('uf2 = "RPI-RP2"\n', "", "flash.uf2 is missing beside flash.uf2_family"),
        ("0xE48B_FF56", "0x1_0000_0000", "flash.uf2_family does not fit 32 bits"),
        ('boot_stage = "rp2040"', 'boot_stage = "rp2350"', "boot_stage there is no driver 'rp2350'"),
    ):
        assert old in text
        (tmp_path / "mine.toml").write_text(text.replace(old, new))
        with pytest.raises(CodegenError) as raised:
            load_board(str(tmp_path / "mine.toml"))
        [message] = raised.value.messages
        assert f"{(message.where or '').split()[-1]} {message.text}" == told
