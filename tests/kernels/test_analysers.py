"""Kernels under analysers: AddressSanitizer, cppcheck with MISRA, clang-tidy, and recorded bytes of code.

No kernel reads or writes a byte outside its buffers: AddressSanitizer watches, in a child process.
MISRA deviations are those of docs/misra.md, and the bounds that clang-tidy cannot see hold.

Static analysers found a division whose zero they could not exclude and a shift by 32, and nobody had written
down which MISRA rules the C breaks and why.
Recorded bytes of code: every source is there, and as large as it compiles to.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen import resources
from codegen.board import load_board
from codegen.ir.ops import OPS, Padding2D, PoolAttrs
from codegen.ir.ops.base.parameters import softmax_params
from codegen.kernels.base import code_bytes as recorded_code
from codegen.kernels.base.code_bytes import CodeSection, code_bytes, recorded
from codegen.kernels.portable.pointwise import SOFTMAX_DEPTH_LIMIT
from tests.checkout import ROOT
from tests.emit.golden_folders import golden, write
from tests.kernels.arm_objects import compiled, level_in_turn, shared_folder
from tests.kernels.calling import INCLUDES, RUNTIME
from tests.tensor_types import per_tensor, tensor_type


def _sanitizer() -> str:
    found = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not Path(found).is_absolute():
        pytest.skip("gcc has no AddressSanitizer here")
    return found


def _child(library: Path, layers: int, code: str | None = None) -> subprocess.CompletedProcess[str]:
    program = ["-c", code] if code else ["-m", "tests.kernels.sanitized"]
    environment = {**os.environ, "LD_PRELOAD": _sanitizer(), "ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(
        [sys.executable, *program, str(library), str(layers)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def sanitized(compiled: Callable[..., Path]) -> Path:
    # As C says it, without what an optimiser leaves out; -g1: lines for reports, no more is read.
    return compiled("sanitized", "-fsanitize=address", "-g1", "-O0")


@pytest.mark.parametrize("layers", [6, pytest.param(30, marks=pytest.mark.thorough)])
def test_kernels_stay_inside_their_buffers(sanitized: Path, layers: int) -> None:
    done = _child(sanitized, layers)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "all layers ran\n"


def test_a_read_behind_a_buffer_is_caught(sanitized: Path) -> None:
    # A call with a count one too large: proof that the watch works.
    code = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from codegen.ir import DType; from codegen.kernels.call import LiteralArg\n"
        "from tests.kernels.builders import random_layer; from tests.kernels.calling import Library, bind\n"
        "layer = random_layer('RELU', DType.INT8, 0); function = bind(layer)\n"
        "count = LiteralArg(value=layer.let.var.type.elements + 1)\n"
        "function = replace(function, call_args=(*function.call_args[:3], count))\n"
        "Library(Path(sys.argv[1]), poison=True).run(function, layer, paint=0)\n"
    )
    done = _child(sanitized, 1, code)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr


CHECKOUT = ROOT
GENERATED = {
    "bare": "bare",
    "counter_external": "counter",
    "lasting": "lasting",
    "mixed_steps": "mixed",
    "sized": "sized",
}
"""Golden folders of five kinds, and the model of each."""
_LINE = re.compile(r"^(\S+):(\d+) misra-c2012-([\d.]+)$", re.M)


def _library() -> list[Path]:
    return [path for part in ("kernels", "support") for path in sorted((RUNTIME / part).rglob("*.c"))]


def _generated(folder: Path, names: Collection[str]) -> list[Path]:
    """The sources of generated models, written into `folder`."""
    for name in names:
        write(folder / name, golden(name))
    return [folder / name / f"{GENERATED[name]}{tail}.c" for name in names for tail in ("", "_data")]


def _groups(files: Sequence[Path]) -> list[list[Path]]:
    """Files without a static function of one name: such can be analysed as one, ten times as fast."""
    groups: list[tuple[list[Path], set[str]]] = []
    for path in files:
        names = set(re.findall(r"^static[^=;{(]*\b(\w+)\(", path.read_text(), flags=re.M))
        for members, taken in groups:
            if not names & taken:
                members.append(path)
                taken |= names
                break
        else:
            groups.append(([path], names))
    return [members for members, _ in groups]


def _cppcheck(folder: Path, files: Sequence[Path], *options: str) -> str:
    """What cppcheck says of the files, put into groups in `folder`."""
    for number, group in enumerate(_groups(files)):
        lines = "".join(f'#include "{path}"\n' for path in group)
        (folder / f"part{number}.c").write_text(lines)
    # Refusals of other flags end the analysis of all files, so that no kernel was seen: left empty here.
    for header in RUNTIME.glob("targets/*/include/cg_needs_*.h"):
        (folder / header.name).write_text("")
    include = [
        f"-I{folder}",
        *INCLUDES,
        *(f"-I{parent}" for parent in {path.parent for path in files}),
    ]
    command = ["cppcheck", "--std=c11", "--max-configs=1", "--quiet", *options, *include, str(folder)]
    # The addon, in Python, keeps millions of objects until its end: looking for garbage took a sixth of it.
    (folder / "sitecustomize.py").write_text("import gc\n\ngc.disable()\n")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def _faults(folder: Path, files: Sequence[Path]) -> list[str]:
    """Lines of the warnings, and of what costs time or hangs on the machine."""
    checks = "--enable=warning,performance,portability"
    said = _cppcheck(folder, files, checks, "--template=fault {file}:{line} {id}")
    return [line for line in said.splitlines() if re.match(r"fault \S+\.[ch]:\d+ (?!normalCheckLevel)", line)]


@pytest.mark.skipif(shutil.which("cppcheck") is None, reason="cppcheck is not installed")
def test_cppcheck(tmp_path: Path) -> None:
    """All kernels; a fault behind all others of a group is seen."""
    planted = tmp_path / "planted.c"
    planted.write_text("int planted(void);\nint planted(void)\n{\n    int a[2];\n    return a[2];\n}\n")
    files = sorted((RUNTIME / "kernels").rglob("*.c"))
    (tmp_path / "parts").mkdir()
    found = _faults(tmp_path / "parts", [*files, planted])
    assert {line.rsplit("/", 1)[-1].rsplit(" ", 1)[0] for line in found} == {"planted.c:5"}


def _broken(folder: Path, files: Sequence[Path]) -> dict[str, set[str]]:
    """Places by the MISRA rule that cppcheck's addon finds broken there."""
    said = _cppcheck(folder, files, "--addon=misra", "--template={file}:{line} {id}")
    found: dict[str, set[str]] = {}
    for file, line, rule in _LINE.findall(said):
        found.setdefault(rule, set()).add(f"{Path(file).name}:{line}")
    return found


def _listed() -> dict[str, str]:
    """The rules of docs/misra.md with the versions that find them."""
    rows = re.findall(r"^\| ([\d.]+) \| (\S+) \|", (CHECKOUT / "docs" / "misra.md").read_text(), flags=re.M)
    assert len(dict(rows)) == len(rows) > 25
    return dict(rows)


@pytest.fixture(scope="module")
def addon(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The version of a cppcheck whose addon works: it finds a jump, which is a new kind here."""
    if shutil.which("cppcheck") is None:
        pytest.skip("cppcheck is not installed")
    folder = tmp_path_factory.mktemp("probe")
    probe = folder / "probe.c"
    probe.write_text("int f(int a);\nint f(int a)\n{\n    goto end;\nend:\n    return a;\n}\n")
    (folder / "parts").mkdir()
    if "15.1" not in _broken(folder / "parts", [probe]):
        pytest.skip("this cppcheck cannot run its MISRA addon (misra.py, which some packages leave out)")
    assert "15.1" not in _listed()
    return subprocess.run(["cppcheck", "--version"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_every_kind_of_misra_deviation_is_listed_with_its_reason(
    addon: str, tmp_path: Path, every: bool
) -> None:
    """Of one kernel in sixteen, and a generated model; of all, rules that nothing breaks show too."""
    (tmp_path / "parts").mkdir()
    library = [path for path in _library() if every or zlib.crc32(path.name.encode()) % 16 == 0]
    files = [*library, *_generated(tmp_path / "golden", GENERATED if every else ["mixed_steps"])]
    broken, listed = _broken(tmp_path / "parts", files), _listed()
    new = {rule: sorted(places)[:3] for rule, places in broken.items() if rule not in listed}
    assert new == {}, "rules that docs/misra.md does not list: mend the code, or list them with a reason"
    if every and addon.split()[1] == "2.10":
        stale = {rule for rule, versions in listed.items() if versions in ("both", "2.10")} - set(broken)
        assert stale == set(), "rules that nothing breaks any more"


def _empty_windows() -> Iterator[tuple[PoolAttrs, tuple[int, ...]]]:
    for padding, shape in (
        (Padding2D(top=2), (1, 5, 3, 1)),
        (Padding2D(right=1), (1, 3, 4, 1)),
        (Padding2D(bottom=3, left=3), (1, 6, 6, 1)),
    ):
        yield PoolAttrs(window=(1, 1), padding=padding), shape


@pytest.mark.parametrize(("attrs", "shape"), list(_empty_windows()))
def test_an_average_over_nothing_is_refused(attrs: PoolAttrs, shape: tuple[int, ...]) -> None:
    """The division in avg_pool2d_s8.c: its divisor is the number of elements in a window."""
    quantization = per_tensor(0.5)
    image = tensor_type((1, 3, 3, 1), quantization=quantization)
    result = tensor_type(shape, quantization=quantization)
    with pytest.raises(ValueError, match="without any element"):
        OPS["AVERAGE_POOL_2D"].check(attrs, [image], result)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3])
def test_a_sum_of_exponentials_is_positive_and_an_int32(scale: float) -> None:
    """The shift in softmax_s8.c: by the leading zeros of the sum, to which the largest element adds 2^19."""
    quantization = per_tensor(float(np.float32(scale)))
    argument = tensor_type((1, 4), quantization=quantization)
    assert softmax_params(1.0, argument).least_difference <= 0
    of_the_largest = ((2**31 - 1) + 2**11) >> 12
    assert of_the_largest == 2**19
    assert (SOFTMAX_DEPTH_LIMIT - 1) * of_the_largest < 2**31


ANSWERED = {
    ("avg_pool2d_s8.c", "core.DivideZero"),
    ("avg_pool2d_s16.c", "core.DivideZero"),
    ("softmax_s8.c", "core.UndefinedBinaryOperatorResult"),
    ("softmax_s8_s16.c", "core.UndefinedBinaryOperatorResult"),
}


@pytest.mark.long
@pytest.mark.skipif(shutil.which("clang-tidy") is None, reason="clang-tidy is not installed")
def test_the_findings_of_clang_tidy_are_those_that_comments_answer() -> None:
    """Of the portable kernels and the support code, a file at a time: about a minute of processor time."""
    portable = ("_s8.c", "_s16.c", "f32.c")
    files = [path for path in _library() if path.name.endswith(portable) or path.parent.name == "support"]
    command = ["clang-tidy", "--quiet", "--checks=-*,clang-analyzer-core*", *map(str, files), "--"]
    includes = [f"-I{path}" for path in {RUNTIME / "include", *(path.parent for path in files)}]
    done = subprocess.run([*command, "-std=c11", *includes], capture_output=True, text=True, check=False)
    found = re.findall(r"/([^/\s:]+):\d+:\d+: warning: .*\[clang-analyzer-([\w.]+)\]$", done.stdout, re.M)
    assert set(found) == ANSWERED, done.stdout + done.stderr


def _benchmark() -> Any:
    """benchmarks/code_bytes.py as a module."""
    spec = importlib.util.spec_from_file_location(
        "benchmark_code_bytes", ROOT / "benchmarks" / "code_bytes.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_source_is_recorded() -> None:
    """`python benchmarks/code_bytes.py` writes the table anew."""
    folder = resources.folder("runtime_c") / "kernels"
    sources = {
        f"kernels/{path.parent.name}/{path.name}"
        for path in folder.glob("*/*")
        if path.suffix in (".c", ".S")
    }
    assert {section.source for section in recorded()} == sources


@pytest.mark.qemu
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_recorded_bytes_are_those_of_today(tmp_path_factory: pytest.TempPathFactory, every: bool) -> None:
    """To a fiftieth with gcc 12, which wrote the table; others within a sixth: gcc 14 makes plain_convert.c,
    calls of the compiler's own functions, 14 % smaller. Without `every`, of the objects that other tests link
    anyway (`IN_TURN`), about half."""
    module, folder = _benchmark(), shared_folder(tmp_path_factory)
    told = subprocess.run(["arm-none-eabi-gcc", "-dumpversion"], capture_output=True, text=True, check=True)
    share = 50 if told.stdout.startswith("12.") else 6
    sizes: Counter[str] = Counter()
    for section in recorded():
        path = RUNTIME / section.source
        if every or level_in_turn(path, load_board(module.board_of(path))) == "-Os":
            sizes[section.source] += section.size_bytes
    assert len(sizes) > len({section.source for section in recorded()}) / 3
    now: Counter[str] = Counter()
    for path in [RUNTIME / source for source in sizes]:
        made = compiled(path, load_board(module.board_of(path)), "-Os", folder)
        for section in module.sections_of(made, path):
            now[section.source] += section.size_bytes
    assert set(now) == set(sizes)
    for source, size in sizes.items():
        assert abs(now[source] - size) <= max(32, size // share), source


@pytest.mark.qemu
def test_calls_and_symbols_are_told(tmp_path: Path) -> None:
    """A function's calls of its own file are sections, those of others are symbols."""
    source = tmp_path / "two.c"
    source.write_text(
        "int far(int); __attribute__((noinline)) static int near(int x) { return far(x) + 1; }\n"
        "int outer(int x) { return near(x) + near(-x); }\n"
    )
    near, outer = sorted(_benchmark().measure([source], tmp_path), key=lambda section: section.name)
    assert (near.name, near.symbols, near.calls) == (".text.near", (), ("far",))
    assert (outer.name, outer.symbols, outer.calls) == (".text.outer", ("outer",), (".text.near",))


SECTIONS = {
    ("kernels/a.c", ".text.a"): (100, ("a",), (".text.part", "b")),
    ("kernels/a.c", ".text.part"): (10, (), ("c",)),
    ("kernels/a.c", ".text.other"): (1000, ("other",), ()),
    ("kernels/b.c", ".text.b"): (1, ("b",), ("a", "memcpy")),
    ("kernels/c.c", ".text.c"): (5000, ("c",), ()),
}


def test_what_is_called_counts_once_and_only_in_the_sources_of_the_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = tuple(
        CodeSection(source=source, name=name, size_bytes=size, symbols=symbols, calls=calls)
        for (source, name), (size, symbols, calls) in SECTIONS.items()
    )
    monkeypatch.setattr(recorded_code, "recorded", lambda: table)
    recorded_code._by_name.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        assert code_bytes(["a", "b"], ["kernels/a.c", "kernels/b.c"]) == 111
        assert code_bytes(["a"], ["kernels/a.c", "kernels/b.c", "kernels/c.c"]) == 5111
        assert code_bytes(["a"], ["kernels/a.c"]) == 110
        assert code_bytes(["users_own"], ["kernels/a.c"]) == 0
    finally:
        recorded_code._by_name.cache_clear()  # pyright: ignore[reportPrivateUsage]
