"""Compiling emitted folders in tests: the full set of warnings, all of them errors."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from codegen.program.image import Sources

WARNINGS = (
    *("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow"),
    *("-Wcast-align=strict", "-Wcast-qual", "-Wundef", "-Wvla", "-Werror", "-fno-strict-aliasing"),
)


def call(command: Sequence[str], folder: Path) -> str:
    """Output of a command that must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def compile_all(
    sources: Sources, folder: Path, compiler: Sequence[str], *options: str, done: set[str] | None = None
) -> None:
    """Compile every C file of a written folder, warnings being errors; `done`: texts of the runtime that
    need not be compiled again, to which this adds its own."""
    include = [f"-I{path}" for path in sources.include_dirs]
    output = ["-c", "-o", "unwanted.o"]
    for path in sources.c_files:
        if done is not None and path.startswith("runtime/"):
            if sources.files[path] in done:
                continue
            done.add(sources.files[path])
        call([*compiler, *WARNINGS, *options, *include, path, *output], folder)


def run_main(sources: Sources, folder: Path, main: str, *options: str) -> str:
    """Link the product code of a written folder with `main` (C text) and run it; what it prints."""
    (folder / "main.c").write_text(main)
    include = [f"-I{path}" for path in sources.include_dirs]
    command = ["gcc", *WARNINGS, *options, *include, *sources.model_files, "main.c", "-o", "main"]
    call(command, folder)
    return call([str(folder / "main")], folder)
