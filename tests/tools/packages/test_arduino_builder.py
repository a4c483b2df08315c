"""Arduino's own builder makes the sketch: it finds the library, writes prototypes, compiles, archives, links.

`arduino-builder` is what Arduino's IDE 1.8 compiles with; the distribution has it. The platform is ours, for
QEMU's Cortex-M4: a core of `Serial` and `delay`, and the rules that a platform.txt gives.
"""

import shlex
import shutil
from pathlib import Path

import pytest

from tests.tools.packages.bare import GCC, Bare, call, export, flags, needs_tools, printed
from tests.tools.packages.test_library_packages import ARDUINO_H, ARDUINO_MAIN, CORE, NAME

_BUILDER = shutil.which("arduino-builder")


def _platform(folder: Path, bare: Bare) -> Path:
    """The folder `hardware`: vendor acme, architecture arm, one board."""
    arm = folder / "hardware" / "acme" / "arm"
    core = arm / "cores" / "bare"
    core.mkdir(parents=True)
    (core / "Arduino.h").write_text(ARDUINO_H)
    (core / "main.cpp").write_text(ARDUINO_MAIN)
    (arm / "boards.txt").write_text(
        "qemu.name=QEMU\nqemu.build.core=bare\nqemu.build.board=QEMU\nqemu.upload.maximum_size=4194304\n"
    )
    gxx, words = GCC.removesuffix("gcc") + "g++", shlex.join([*flags(), *CORE])
    made = '{includes} "{source_file}" -o "{object_file}"'
    rules = {
        "c.o": f"{GCC} -c {words} -std=gnu11 {made}",
        "cpp.o": f"{gxx} -c {words} -std=gnu++11 -fno-exceptions -fno-rtti {made}",
        "S.o": f"{GCC} -c {words} {made}",
        "ar": f'{GCC.removesuffix("gcc")}ar rcs "{{archive_file_path}}" "{{object_file}}"',
        "c.combine": f'{GCC} {shlex.join(bare.link_flags)} {{object_files}} "{{build.path}}/{{archive_file}}"'
        ' -o "{build.path}/{build.project_name}.elf"',
        "preproc.macros": f'{gxx} -E -CC -w {words} {{includes}} "{{source_file}}"'
        ' -o "{preprocessed_file_path}"',
    }
    text = "".join(f"recipe.{name}.pattern={rule}\n" for name, rule in rules.items())
    (arm / "platform.txt").write_text(f"name=Acme\nversion=1.0.0\n{text}")
    return arm.parents[1]


@needs_tools
@pytest.mark.skipif(_BUILDER is None, reason="arduino-builder is not installed")
@pytest.mark.qemu
def test_it_builds_the_sketch_with_the_library(
    two: Path, bare: Bare, lines: list[str], tmp_path: Path
) -> None:
    libraries, build = tmp_path / "libraries", tmp_path / "build"
    library = export(two, "arduino", libraries / "senses", *NAME)
    build.mkdir()
    tools = Path(str(_BUILDER)).parent  # arduino-ctags is there too, and finds the functions of a sketch
    rules = tools.parent / "share" / "arduino-builder"
    places = ["-hardware", rules, "-hardware", _platform(tmp_path, bare), "-tools", rules]
    places += ["-libraries", libraries, "-build-path", build, "-fqbn", "acme:arm:qemu"]
    places += [f"-prefs=tools.ctags.path={tools}"]
    sketch = library / "examples" / "senses" / "senses.ino"
    said = call(str(_BUILDER), "-compile", "-verbose", *places, sketch)
    assert "Using library senses at version 1.2.3" in said
    assert printed(build / "senses.ino.elf") == lines
