"""Building fuzz programs, running them on QEMU, and what they said."""

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from codegen.ir import Board
from codegen.kernels.base.forms import in_smallest_forms
from codegen.resources import folder
from codegen.targets.families import family_of
from codegen.toolchain import gcc
from tests.fuzz.image import Entry, Program, blob_region, program
from tests.fuzz.places import DoesNotFit, calls
from tests.fuzz.trials import Trial
from tests.kernels.arm_objects import OPTIONS, compiled
from tests.targets.unaligned import build_plugin, plugin_words, unaligned_accesses

RUNTIME = folder("runtime_c")
HERE = Path(__file__).parent
MOST_SECONDS = 300
_MOST_LAYERS = 400
"""Of one program."""
_LEAST_CORE = {
    ("arm", False): ("-mcpu=cortex-m0", "-mthumb", "-mfloat-abi=soft"),
    ("arm", True): ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
    ("riscv", False): ("-march=rv32im", "-mabi=ilp32"),
    ("riscv", True): ("-march=rv32imaf", "-mabi=ilp32f"),
}
"""By family, and whether floats are handed over in registers: flags whose code every such core runs."""
_HARD_FLOATS = frozenset({"-mfloat-abi=hard", "-mabi=ilp32f"})
_PROTECTION = {None: 0, "v7m": 7, "v8m": 8, "pmp_pages": 1}
"""FUZZ_MPU of the family's `fuzz_core.h`, by a board's `mpu`."""
_SAID = re.compile(r"^(?P<what>wrong|fault|done) (?P<entry>\d+)(?: (?P<which>\w+) (?P<at>\d+))?$", re.M)


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A call that went wrong."""

    trial: Trial
    side: str
    text: str

    def __str__(self) -> str:
        return f"{self.trial.label}: {self.text}, buffers {self.side}"


class Builder:
    """Compiles programs for one board; what is in `objects` already is not compiled again."""

    def __init__(self, board: Board, folder_: Path, objects: Path) -> None:
        self.board, self._folder, self._objects = board, folder_, objects
        self._family = family_of(board.target.cpu)
        facts = self._family.compiler
        self._includes = (f"-I{HERE}", f"-I{HERE / 'cores' / self._family.name}")
        self.plugin = self._plugin()
        self._command = [gcc.tool(f"{facts.prefix}gcc"), *facts.options, *OPTIONS, *self._includes]
        self._built = 0

    def _plugin(self) -> Path | None:
        """What watches accesses where QEMU lets pass those that cores of the family trap."""
        if self._family.name != "riscv":
            return None
        self._folder.mkdir(exist_ok=True)
        return build_plugin(self.board, self._folder / f"{self.board.name}.so")

    def build(self, made: Program, level: str) -> Path:
        """The linked image, kernels compiled at `level`. Raises RuntimeError with what the compiler said."""
        self._built += 1
        place = self._folder / f"{self.board.name}_{self._built}"
        place.mkdir(parents=True)
        (place / "blob").write_bytes(made.blob)
        (place / "link.ld").write_text(made.linker_script)
        (place / "own.s").write_text(made.assembly)
        kernels = [compiled(RUNTIME / source, self.board, level, self._objects) for source in made.sources]
        mpu = _PROTECTION[self.board.mpu]
        fpu = int(not self.board.target.features.isdisjoint({"fpu", "f"}))
        harness = (*self._includes, f"-DFUZZ_MPU={mpu}", f"-DFUZZ_FPU={fpu}")
        own = compiled(HERE / "target.c", self.board, "-O2", self._objects, *harness)
        image = place / "fuzz.elf"
        inputs = [self._calls(made.c_text), place / "own.s", own, *kernels]
        facts = self._family.compiler
        options = [f"-Wa,-I{place}", "-nostartfiles", "-Wl,--gc-sections", f"-T{place / 'link.ld'}"]
        options += [*facts.link_options, *facts.link_flags(self.board.target)]
        self._call([*options, *map(str, inputs), "-o", str(image)])
        return image

    def _calls(self, text: str) -> Path:
        """The calls compiled for the least core with this board's float ABI: cores that make the same calls
        share the object, and compiling it is most of a program's work."""
        compiled_for = self._family.compiler.compile_flags(self.board.target)
        flags = _LEAST_CORE[self._family.name, not _HARD_FLOATS.isdisjoint(compiled_for)]
        name = hashlib.sha256(f"{flags} {text}".encode()).hexdigest()
        target = self._folder / f"{name}.o"
        if not target.exists():
            source = target.with_suffix(".c")
            source.write_text(text)
            self._call(["-O0", *flags, "-c", str(source), "-o", str(target)])
        return target

    def _call(self, options: Sequence[str]) -> None:
        done = subprocess.run([*self._command, *options], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{self.board.name}: {done.stderr[-3000:]}")


def execute(
    image: Path, board: Board, entries: Sequence[Entry], plugin: Path | None = None
) -> Iterator[Failure]:
    """Run all entries; after a fault go on behind it. `plugin`: unaligned accesses are errors too, told by
    the last entry that ran."""
    first = 0
    while first < len(entries):
        accesses = image.with_suffix(".accesses")
        watched = ("-plugin", plugin_words(plugin, accesses)) if plugin else ()
        said = _said(image, board, first, watched)
        last = -1
        for match in _SAID.finditer(said):
            number = int(match["entry"])
            if match["what"] == "wrong":
                text = f"{match['which']} is wrong at {match['at']}"
                yield Failure(trial=entries[number].trial, side=entries[number].call.side, text=text)
            elif match["what"] == "fault":
                text = "it faults, as outside its buffers"
                yield Failure(trial=entries[number].trial, side=entries[number].call.side, text=text)
                last = number + 1
            else:
                last = number
        for line in unaligned_accesses(accesses) if plugin else ():
            entry = entries[min(last, len(entries)) - 1]
            yield Failure(trial=entry.trial, side="up to here", text=f"an unaligned access: {line}")
        if last < 0:
            raise RuntimeError(f"{board.name}: the program did not end as it should: {said[-500:]!r}")
        first = last


def _said(image: Path, board: Board, first: int, watched: Sequence[str]) -> str:
    machine, emulator = board.qemu_machine, family_of(board.target.cpu).emulator
    assert machine is not None and emulator is not None
    semihosting = f"enable=on,target=native,arg=fuzz,arg={first}"
    command = [emulator.program, "-M", machine, *emulator.cpu_words(board.target)]
    command += ["-display", "none", "-monitor", "none", "-serial", "none"]
    command += ["-semihosting-config", semihosting, "-kernel", str(image), *board.qemu_flags, *watched]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=MOST_SECONDS, stdin=subprocess.DEVNULL
    )
    return done.stdout + done.stderr


@dataclass(kw_only=True, slots=True)
class _Batch:
    builder: Builder
    level: str
    entries: list[Entry] = field(default_factory=lambda: list[Entry]())
    layers: int = 0
    size_bytes: int = 0


class Runner:
    """Takes trials, runs them in batches beside the drawing of others."""

    def __init__(
        self,
        *,
        levels: Mapping[str, Sequence[str]] | None = None,
        layers: int = _MOST_LAYERS,
        objects: Path | None = None,
    ) -> None:
        """`levels`: of the kernels' C by board (default: -O3), for layers of that board in turn; `layers`:
        about how many of each group of kernels a board will get, shared by its levels; `objects`: a folder
        for compiled kernels that several runners share; default: one of its own."""
        self._levels, self._layers = levels or {}, layers
        self._temporary = tempfile.TemporaryDirectory(prefix="fuzz-")
        self._folder = Path(self._temporary.name)
        self._objects = objects or self._folder
        self._builders: dict[str, Builder] = {}
        self._batches: dict[tuple[str, str], _Batch] = {}
        self._added: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._running: list[Future[list[Failure]]] = []
        self.too_large = 0
        """Trials that the board has no room for."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, problem, trace
        self._pool.shutdown(cancel_futures=True)
        self._temporary.cleanup()

    def add(self, trial: Trial, board: Board) -> bool:
        """Put a trial in its board's batch; False if the board is too small for it.

        It runs as a build of this layer alone runs it: in the smallest form of its kernel.
        """
        trial = replace(trial, prim=in_smallest_forms([[trial.prim]])[0][0])
        try:
            made = [Entry(trial=trial, call=call) for call in calls(trial.prim, board)]
        except DoesNotFit:
            self.too_large += 1
            return False
        batch = self._batch(board)
        size = _size_bytes(trial, made)
        if batch.size_bytes + size > _room(board) or batch.layers == _MOST_LAYERS:
            self._submit(batch)
        batch.entries += made
        batch.layers += 1
        batch.size_bytes += size
        return True

    def _batch(self, board: Board) -> _Batch:
        """Where the board's next layer goes: each level has its share of a group of kernels in a row."""
        if board.name not in self._builders:
            self._builders[board.name] = Builder(board, self._folder, self._objects)
        levels = self._levels.get(board.name, ("-O3",))
        share = min(_MOST_LAYERS, -(-self._layers // len(levels)))
        level = levels[self._added[board.name] // share % len(levels)]
        self._added[board.name] += 1
        made = _Batch(builder=self._builders[board.name], level=level)
        return self._batches.setdefault((board.name, level), made)

    def finish(self) -> list[Failure]:
        """Run what is left; every failure of all batches."""
        for batch in self._batches.values():
            self._submit(batch)
        return [failure for future in self._running for failure in future.result()]

    def _submit(self, batch: _Batch) -> None:
        entries, batch.entries, batch.layers, batch.size_bytes = batch.entries, [], 0, 0
        if entries:
            self._running.append(self._pool.submit(_run, batch.builder, entries, batch.level))


def _run(builder: Builder, entries: list[Entry], level: str) -> list[Failure]:
    image = builder.build(program(entries, builder.board), level)
    found: list[Failure] = []
    for board in emulated_as(builder.board):
        found = found or list(execute(image, board, entries, builder.plugin))
    shutil.rmtree(image.parent)
    return found


def emulated_as(board: Board) -> tuple[Board, ...]:
    """The boards that run a program of `board`: with each length of vectors, where it has such."""
    features = board.target.features
    if "zve32x" not in features:
        return (board,)
    lengths = ("zvl64b", "zvl128b", "zvl256b")
    return tuple(
        replace(board, target=replace(board.target, features=features - {*lengths} | {length}))
        for length in lengths
    )


def _size_bytes(trial: Trial, made: Sequence[Entry]) -> int:
    """About what a trial takes in the image, rather more."""
    given = {buffer.argument for entry in made for buffer in entry.call.buffers} | {0}
    values = [value for index, value in enumerate(trial.layer.values) if index in given]
    data = [*(value for value in values if value is not None), *(each.data for each in trial.prim.constants)]
    return sum(each.nbytes for each in data) + trial.expected.nbytes + 150 * len(made) + 500


def _room(board: Board) -> int:
    """Bytes of a batch: three quarters of where the blob lies, as kernels may be there too."""
    return min(blob_region(board).size_bytes // 4 * 3, 1 << 20)
