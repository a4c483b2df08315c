"""Machine code of every kernel's source, compiled alone at -Os for the core it is for: what selection weighs.

python benchmarks/code_bytes.py            # writes codegen/kernels/code_bytes.csv anew
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

from codegen import resources
from codegen.board import load_board
from codegen.toolchain import gcc

RECORDED = Path(__file__).parents[1] / "codegen" / "kernels" / "code_bytes.csv"
_BOARDS = {"_v6m": "microbit", "_v7m": "mps2-an385", "_mve": "mps3-an547"}
"""By the end of a file's name: whose compiler flags it gets; else those of `mps2-an386`."""


def measure(source: Path, folder: Path) -> int:
    """Bytes of text of one source below runtime_c. Raises CalledProcessError if it does not compile."""
    board = next((name for end, name in _BOARDS.items() if source.stem.endswith(end)), "mps2-an386")
    flags = load_board(board).target.compiler_flags
    include = resources.folder("runtime_c") / "include"
    result = folder / f"{source.stem}.o"
    compiler = gcc.tool(f"{gcc.ARM_PREFIX}gcc")
    command = [compiler, *flags, "-Os", "-std=c11", f"-I{include}", "-c", str(source), "-o", str(result)]
    subprocess.run(command, check=True)
    sizes = subprocess.run(
        [gcc.tool(f"{gcc.ARM_PREFIX}size"), "-B", str(result)], check=True, capture_output=True, text=True
    )
    return int(sizes.stdout.splitlines()[1].split()[0])


def measure_all() -> dict[str, int]:
    """Bytes by source, e.g. `kernels/pad.c`."""
    runtime = resources.folder("runtime_c")
    found: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted((runtime / "kernels").iterdir()):
            if source.suffix in (".c", ".S"):
                found[f"kernels/{source.name}"] = measure(source, Path(folder))
    return found


def main() -> int:
    """Write the table."""
    with RECORDED.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("source", "bytes"))
        table.writerows(measure_all().items())
    return 0


if __name__ == "__main__":
    sys.exit(main())
