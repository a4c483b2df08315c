"""The CMake package: configured, installed, found and consumed by another project, exact on the board."""

import shutil
from pathlib import Path

import pytest

from tests.packages.bare import Bare, call, export, needs_tools, printed


@needs_tools
@pytest.mark.qemu
def test_an_installed_package_is_found_and_right_on_the_board(
    two: Path, lines: list[str], bare: Bare, tmp_path: Path
) -> None:
    package = export(two, "cmake", tmp_path / "package", "--name", "senses", "--version", "2.1.0")
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={package / 'toolchain.cmake'}"
    where = tmp_path / "installed"
    call("cmake", "-S", package, "-B", tmp_path / "b", toolchain, f"-DCMAKE_INSTALL_PREFIX={where}")
    call("cmake", "--build", tmp_path / "b", "-j2", "--target", "install")
    example = (package / "example").rename(tmp_path / "elsewhere")
    shutil.rmtree(package / "src")  # the installed files do without
    link = f"-DCMAKE_EXE_LINKER_FLAGS={' '.join(bare.link_flags)}"
    found = [f"-DCMAKE_PREFIX_PATH={where}", "-DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=BOTH"]
    call("cmake", "-S", example, "-B", tmp_path / "e", toolchain, link, *found)
    call("cmake", "--build", tmp_path / "e")
    assert printed(tmp_path / "e" / "senses_example") == lines
    assert not list(where.rglob("*.c"))
    text = example / "CMakeLists.txt"
    text.write_text(text.read_text().replace("senses 2.1.0", "senses 3.0.0"))
    with pytest.raises(AssertionError, match=r'"senses" that is compatible\s+with requested version "3.0.0"'):
        call("cmake", "-S", example, "-B", tmp_path / "e")
