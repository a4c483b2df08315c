"""Lines of code by capability, at an earlier commit and today.

python benchmarks/lines.py                  # since the commit at which issue 39 was counted
python benchmarks/lines.py REVISION         # since another one
python benchmarks/lines.py REVISION --files # and the files of each capability that the earlier commit lacks

Lines of Python in `codegen/` and `tests/`, of every file in `runtime_c/`. A file belongs to the first
capability that knows its path: what it adds to files of others is counted there. A second table says what
kinds of lines those of Python are today, a third how many stand in runs of eight that are there twice.
"""

import argparse
import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

from codegen import __file__ as package

ROOT = Path(package).parents[1]
FOLDERS = ("codegen", "tests", "runtime_c")
ISSUE = "b9d5041e"
"""The commit that has the 89,311, 68,536 and 34,074 lines that the issue speaks of."""
RUN = 8
"""Lines that make a run worth joining with its like."""
CAME_SINCE = "came since: "

CAPABILITIES: Mapping[str, str] = {
    f"{CAME_SINCE}RISC-V: family, kernels, boards": "riscv rv32 zve32x hazard3",
    f"{CAME_SINCE}Ethos-U: model, plan, streams": "/npu _npu npu_ ethos_u vela",
    f"{CAME_SINCE}windows that slide, streamed inputs": (
        "sliding stream window_words wake_word smaller_moves"
    ),
    f"{CAME_SINCE}attention, gated layers, normalisation": (
        "attention gated gru_ rnn_ recurrent_nodes normalizing layer_norm qlinear_softmax "
        "batch_matmul_rows matmul_dsp_parts matmul_mve_parts matmul_rows matrices/rounded contributed "
        "body_builder"
    ),
    "time and energy": "time_and_energy timing cycle energy",
    f"{CAME_SINCE}weights in float16": "f32w16 halves cg_half convert_f16",
    f"{CAME_SINCE}types and layouts of edges": (
        "edge_layouts passes/edges io_types held_types not_finite array_shapes file_input inputs/fixes "
        "file/fixing"
    ),
    f"{CAME_SINCE}references by independent engines": (
        "engines references/ judging asking import_check stepwise"
    ),
    f"{CAME_SINCE}gathered kernels, bill of materials": "gathered core_guard folder/bill folder/materials",
    f"{CAME_SINCE}finding boards, formats and faults; random graphs": (
        "tests/graphs c_arrays foreign_formats board_names doctor board_fit uf2 drives"
    ),
    "sizes as ranges": "ranges ranged sizes sized formulas size_gaps",
    "control flow, state, recurrences": (
        "control iterating looping loop lstm recurrent svdf held_state variables iterations state_choice"
    ),
    "blocks and patches": "block tiling wider_turns patch rows",
    "tools: page, lab, sweep, packages, quantizer": ("/page/ /lab/ /sweep/ /packages/ /quantize/ /package/"),
    "ONNX": "onnx qlinear",
    "TFLite": "tflite importers",
    "kernels: Helium": "mve",
    "kernels: DSP extension": "dsp",
    "kernels: float unit": "fpu",
    "kernels: Cortex-M0, M3": "v6m v7m",
    "kernels: portable and shared": "kernels runtime_c/include",
    "drawn layers and models of tests": "tests/opgen tests/fuzz tests/networks",
    "search, planner, constants, lifetimes": ("/search /plan /constants /lifetimes /problem /program /joint"),
    "IR and passes": "/ir /passes",
    "boards, link, firmware, targets": (
        "/board /toolchain /targets /bench /port /support /qemu_plugin /mlperf_tiny"
    ),
    "emitted C": "/emit",
    "driver, command line, interface": "/driver /cli /command /api /draw /report",
    "whole runs and examples": "tests/e2e tests/examples tests/public tests/docs",
    "everything else": "",
}
"""Words in the paths of each capability's files; an empty one is in all."""


def lines_at(revision: str | None) -> dict[str, int]:
    """Lines of each counted file, by path, at `revision` or in the working tree."""
    tree = ["--others", "--cached", "--exclude-standard"]
    listed = ["ls-files", *tree] if revision is None else ["ls-tree", "-r", "--name-only", revision]
    paths = [path for path in _git(*listed, "--", *FOLDERS).decode().splitlines() if is_counted(path)]
    if revision is None:
        return {path: (ROOT / path).read_bytes().count(b"\n") for path in paths if (ROOT / path).is_file()}
    blobs = _git("cat-file", "--batch", stdin="".join(f"{revision}:{path}\n" for path in paths).encode())
    counts: dict[str, int] = {}
    for path in paths:
        header, _, rest = blobs.partition(b"\n")
        size = int(header.split()[-1])
        counts[path], blobs = rest[:size].count(b"\n"), rest[size + 1 :]
    return counts


def is_counted(path: str) -> bool:
    """True if the lines of a file count: Python, and all that generated code includes."""
    return path.startswith("runtime_c/") or path.endswith(".py")


def is_named(path: str, words: str) -> bool:
    """True if a path has one of these words."""
    return not words or any(word in path for word in words.split())


def capability_of(path: str) -> str:
    """The first capability that knows a path."""
    return next(name for name, words in CAPABILITIES.items() if is_named(path, words))


def by_capability(lines: Mapping[str, int]) -> Counter[tuple[str, str]]:
    """Lines by capability and folder."""
    counts: Counter[tuple[str, str]] = Counter()
    for path, number in lines.items():
        counts[capability_of(path), path.partition("/")[0]] += number
    return counts


def table(before: Mapping[str, int], today: Mapping[str, int]) -> Iterable[str]:
    """A line a capability: lines of each folder before and today."""
    earlier, later = by_capability(before), by_capability(today)
    yield f"{'capability':60}" + "".join(f"{folder:>18}" for folder in FOLDERS)
    for name in CAPABILITIES:
        pairs = [(earlier[name, folder], later[name, folder]) for folder in FOLDERS]
        if any(map(any, pairs)):
            yield f"{name:60}" + "".join(f"{old:>9,}{new:>9,}" for old, new in pairs)
    sums = [
        [sum(counts[n, folder] for n in CAPABILITIES) for counts in (earlier, later)] for folder in FOLDERS
    ]
    yield f"{'all':60}" + "".join(f"{old:>9,}{new:>9,}" for old, new in sums)


def kinds_of(text: str) -> Counter[str]:
    """Lines of a module by kind: blank, comment, note, import, signature, code."""
    kinds = ["code"] * text.count("\n")
    for number, line in enumerate(text.splitlines()):
        bare = line.strip()
        kinds[number] = "blank" if not bare else "comment" if bare.startswith("#") else "code"
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                kind, stop = "note", node.end_lineno
            case ast.Import() | ast.ImportFrom():
                kind, stop = "import", node.end_lineno
            case ast.FunctionDef():
                kind, stop = "signature", max(node.lineno, node.body[0].lineno - 1)
            case _:
                continue
        part = slice(node.lineno - 1, stop)
        kinds[part] = [old if old == "blank" else kind for old in kinds[part]]
    return Counter(kinds)


def kinds_table(paths: Iterable[str]) -> Iterable[str]:
    """A line a kind: how many lines of Python `codegen/` and `tests/` have today."""
    counts = {folder: Counter[str]() for folder in FOLDERS[:2]}
    for path in paths:
        if path.endswith(".py"):
            counts[path.partition("/")[0]] += kinds_of((ROOT / path).read_text(encoding="utf-8"))
    yield f"{'kind of line':60}" + "".join(f"{folder:>18}" for folder in counts)
    for kind in counts["codegen"]:
        yield f"{kind:60}" + "".join(f"{count[kind]:>18,}" for count in counts.values())


def repeated_lines(texts: Iterable[str]) -> int:
    """Lines in runs of `RUN` or more that stand in the texts more than once, but for the first time.

    White space, blank lines, imports and lines without a word count for nothing.
    """
    known: set[tuple[str, ...]] = set()
    repeated = 0
    for text in texts:
        lines = [" ".join(line.split()) for line in text.splitlines()]
        lines = [
            line
            for line in lines
            if any(map(str.isalpha, line)) and not line.startswith(("import ", "from "))
        ]
        marks = [False] * len(lines)
        for start in range(len(lines) - RUN + 1):
            run = tuple(lines[start : start + RUN])
            if run in known:
                marks[start : start + RUN] = [True] * RUN
            known.add(run)
        repeated += sum(marks)
    return repeated


def _git(*words: str, stdin: bytes = b"") -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, input=stdin, capture_output=True, check=True).stdout


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("revision", nargs="?", default=ISSUE)
    parser.add_argument("--files", action="store_true", help="list files that the earlier commit lacks")
    arguments = parser.parse_args()
    before, today = lines_at(arguments.revision), lines_at(None)
    print("\n".join([*table(before, today), "", *kinds_table(today), ""]))
    for folder in FOLDERS:
        texts = [(ROOT / path).read_text(encoding="utf-8") for path in today if path.startswith(f"{folder}/")]
        print(f"{folder}: {repeated_lines(texts):,} lines in runs of {RUN} that stand there before")
    if arguments.files:
        new = sorted(
            (capability_of(path), path, lines) for path, lines in today.items() if path not in before
        )
        print("\n".join(f"{lines:5} {path}  ({name})" for name, path, lines in new))


if __name__ == "__main__":
    main()
