"""Running a model on this machine: the shared library of the board `host`, called in process.

A run may poison every pool byte that no buffer of the step owns.
"""

import functools
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cffi import FFI

from codegen.disk import temporary_folder
from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.program.image import CaseResult, Image, RunRequest, RunResult, StepTrace, Trace
from codegen.progress import Progress, silent

_DECLARATIONS = """
typedef int cg_status;
typedef struct { const char *name; void *data; uint32_t size_bytes; } cg_bench_tensor;
typedef struct {
    const char *name; uint8_t *base; uint32_t size_bytes; uint32_t peak_bytes; uint32_t guard_bytes;
} cg_bench_pool;
typedef struct { const char *name; const void *data; uint32_t size_bytes; } cg_bench_step;
typedef struct { uint16_t step; uint16_t pool; uint32_t offset; uint32_t size_bytes; } cg_bench_live;
typedef struct {
    const char *name;
    uint8_t sha256[32];
    cg_status (*run)(void);
    void (*start)(void);
    cg_status (*reset)(void);
    const cg_bench_tensor *inputs;
    const cg_bench_tensor *outputs;
    const cg_bench_pool *pools;
    const cg_bench_step *steps;
    const cg_bench_live *live;
    const cg_bench_live *touched;
    uint16_t input_count;
    uint16_t output_count;
    uint16_t pool_count;
    uint16_t step_count;
    uint32_t live_count;
    uint32_t touched_count;
} cg_bench_model;
extern const cg_bench_model *cg_bench_models[];
extern uint32_t cg_bench_model_count;
int32_t cg_host_run(uint32_t model, uint8_t paint, const uint8_t *inputs, uint8_t *outputs,
                    uint32_t *peaks, uint8_t *guards_intact, uint8_t *trace);
void cg_host_begin(uint32_t model, uint8_t paint);
int32_t cg_host_reset(uint32_t model);
void cg_host_write(uint32_t model, uint32_t input, const uint8_t *data);
int32_t cg_host_infer(uint32_t model, uint8_t *outputs, uint8_t *trace);
void cg_host_marks(uint32_t model, uint8_t paint, uint32_t *peaks, uint8_t *guards_intact);
"""
"""cg_bench.h and runtime_c/targets/host/bench_host.h for cffi, which takes a `const` object for a number."""


def run_host(image: Image, board: Board, request: RunRequest, progress: Progress = silent) -> RunResult:
    """Run every case of `request` under every paint, in this process.

    Stack and instructions are None: nothing measures them here. Guards are bytes the host's linker
    leaves in front of and behind each pool; they show stray writes nearby, the sanitized build
    (`run_poisoned`) shows all of them. Raises CodegenError E610 if the image is not of the model
    asked for, E611 if its entry function reports a failure; ValueError for a request that does not
    fit the image (sizes, pools).
    """
    del board
    with loaded(image.path) as (ffi, library):
        model = _LoadedModel(ffi, library, request)
        cases = model.sequence(progress) if request.sequence else tuple(model.cases(progress))
        trace = model.trace(request.cases[0]) if request.trace is Trace.RESULTS else ()
    return RunResult(runner="host", cases=cases, trace=trace, sequence=request.sequence)


@functools.cache
def _interface() -> Any:  # its attributes are made at run time
    """Declarations that every library shares. They are read once: reading takes longer than running a small
    model."""
    ffi = FFI()
    ffi.cdef(_DECLARATIONS)
    return ffi


@contextmanager
def loaded(path: Path) -> Generator[tuple[Any, Any]]:
    """Load a copy of the library: the loader would hand out a library of the same file only once."""
    ffi = _interface()
    with temporary_folder("host") as folder:
        copy = folder / path.name
        shutil.copyfile(path, copy)
        try:
            library = ffi.dlopen(str(copy), ffi.RTLD_NOW)
        except OSError as error:
            problem = f"cannot be loaded: {error}"
            raise CodegenError(
                Message(code="E610", where=str(path), text=problem, help="build it again")
            ) from error
        try:
            yield ffi, library
        finally:
            ffi.dlclose(library)


class _LoadedModel:
    """One model of a loaded library, ready to run cases."""

    def __init__(self, ffi: Any, library: Any, request: RunRequest) -> None:
        number, count = request.model.number, library.cg_bench_model_count
        if number >= count:
            raise ValueError(f"the image has {count} models, no {number}")
        self._ffi = ffi
        self._library = library
        self._request = request
        self._model = library.cg_bench_models[number]
        self._pools: tuple[str, ...] = tuple(
            ffi.string(self._model.pools[index].name).decode() for index in range(self._model.pool_count)
        )
        check_identity(bytes(ffi.buffer(self._model.sha256)).hex(), request)
        self._check_sizes()

    def _check_sizes(self) -> None:
        model, asked = self._model, self._request.model
        outputs = tuple(model.outputs[index].size_bytes for index in range(model.output_count))
        if outputs != tuple(asked.output_sizes):
            raise ValueError(f"the image's outputs have {outputs} bytes, not {asked.output_sizes}")
        if set(asked.pools) != set(self._pools):
            raise ValueError(f"the image's pools are {self._pools}, not {asked.pools}")
        inputs = tuple(model.inputs[index].size_bytes for index in range(model.input_count))
        for case in self._request.cases:
            if tuple(map(len, case)) != inputs:
                raise ValueError(f"the image's inputs have {inputs} bytes, not {tuple(map(len, case))}")

    def _run(self, inputs: Sequence[bytes], paint: int, trace: Any) -> "PaintResult":
        ffi, asked = self._ffi, self._request.model
        sizes = asked.output_sizes
        outputs = ffi.new("uint8_t[]", sum(sizes) + 1)
        peaks = ffi.new("uint32_t[]", len(self._pools) + 1)
        intact = ffi.new("uint8_t *")
        joined = ffi.from_buffer("uint8_t[]", b"".join(inputs) + b"\0")
        status = self._library.cg_host_run(asked.number, paint, joined, outputs, peaks, intact, trace)
        check_status(status)
        written = bytes(ffi.buffer(outputs))
        return PaintResult(split(written, sizes), tuple(peaks)[: len(self._pools)], bool(intact[0]))

    def cases(self, progress: Progress) -> Iterator[CaseResult]:
        """Run every case under every paint."""
        cases = self._request.cases
        for index, inputs in enumerate(cases):
            progress("run", index, len(cases))
            results = [self._run(inputs, paint, self._ffi.NULL) for paint in self._request.paints]
            yield case_result(self._pools, results)

    def sequence(self, progress: Progress) -> tuple[CaseResult, ...]:
        """Run all cases, one after another, under every paint."""
        runs: list[list[PaintResult]] = []
        for index, paint in enumerate(self._request.paints):
            progress("run the sequence", index, len(self._request.paints))
            runs.append(self._painted_sequence(paint))
        return tuple(case_result(self._pools, results) for results in zip(*runs, strict=True))

    def _painted_sequence(self, paint: int) -> list["PaintResult"]:
        """Outputs of each case, peaks and guards of all together."""
        ffi, library, index = self._ffi, self._library, self._request.model.number
        sizes = self._request.model.output_sizes
        outputs: list[tuple[bytes, ...]] = []
        library.cg_host_begin(index, paint)
        check_status(library.cg_host_reset(index))
        for case in self._request.cases:
            for number, data in enumerate(case):
                if number not in self._request.states:
                    library.cg_host_write(index, number, data)
            written = ffi.new("uint8_t[]", sum(sizes) + 1)
            check_status(library.cg_host_infer(index, written, ffi.NULL))
            outputs.append(split(bytes(ffi.buffer(written)), sizes))
        peaks, intact = ffi.new("uint32_t[]", len(self._pools) + 1), ffi.new("uint8_t *")
        library.cg_host_marks(index, paint, peaks, intact)
        pool_peaks = tuple(peaks)[: len(self._pools)]
        return [PaintResult(case_outputs, pool_peaks, bool(intact[0])) for case_outputs in outputs]

    def trace(self, inputs: Sequence[bytes]) -> tuple[StepTrace, ...]:
        """Run one case and keep what each step left in memory."""
        steps = [self._model.steps[index] for index in range(self._model.step_count)]
        sizes = [step.size_bytes if step.data else 0 for step in steps]
        room = self._ffi.new("uint8_t[]", sum(sizes) + 1)
        self._run(inputs, self._request.paints[0], room)
        results = split(bytes(self._ffi.buffer(room)), sizes)
        return tuple(
            StepTrace(step=index, result=result if step.data else None, instructions=None)
            for index, (step, result) in enumerate(zip(steps, results, strict=True))
        )


class PaintResult:
    """Output bytes of one inference, the peak of each pool in bytes, and whether the guards are intact."""

    def __init__(self, outputs: tuple[bytes, ...], peaks: tuple[int, ...], guards_intact: bool) -> None:
        self.outputs = outputs
        self.peaks = peaks
        self.guards_intact = guards_intact


def case_result(pools: Sequence[str], results: Sequence[PaintResult]) -> CaseResult:
    """One case out of its runs under different paints: a byte equal to one paint shows under another."""
    peaks = {name: max(result.peaks[index] for result in results) for index, name in enumerate(pools)}
    return CaseResult(
        outputs=results[0].outputs,
        paints_agree=all(result.outputs == results[0].outputs for result in results),
        pool_peaks=peaks,
        guards_intact=all(result.guards_intact for result in results),
        stack_peak_bytes=None,
        instructions=None,
        counter_resolution=None,
    )


def split(data: bytes, sizes: Sequence[int]) -> tuple[bytes, ...]:
    """Cut `data` into pieces of the given sizes in bytes."""
    pieces: list[bytes] = []
    position = 0
    for size in sizes:
        pieces.append(data[position : position + size])
        position += size
    return tuple(pieces)


def check_identity(sha256: str, request: RunRequest) -> None:
    """Raises CodegenError E610 if the image was built from another model file."""
    if sha256 != request.model.sha256:
        raise CodegenError(
            Message(
                code="E610",
                text=f"the image was built from another model file: sha256 {sha256[:12]}, "
                f"asked for {request.model.sha256[:12]}",
                help="build it again from the model you run",
            )
        )


def check_status(status: int) -> None:
    """Raises CodegenError E611 unless `status` is CG_OK."""
    if status:
        raise CodegenError(
            Message(
                code="E611",
                text=f"the entry function returned status {status} (cg_status in cg_runtime.h)",
                help="generated test code passes valid pointers: report this",
            )
        )


_SANITIZER_EXIT = 99
_TIMEOUT_SECONDS = 600

_PLACE = re.compile(
    r"^cg_host: step=(?P<step>-?\d+) access=(?P<access>read|write) bytes=(?P<bytes>\d+)"
    r"(?: pool=(?P<pool>\S+) offset=(?P<offset>-?\d+))?$",
    re.MULTILINE,
)
_SUMMARY = re.compile(r"^(?:SUMMARY|.*runtime error): (?P<text>.*)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryFault:
    """An access that a sanitizer stopped."""

    summary: str
    """The sanitizer's own line."""
    step: int | None
    """Step that did it; None outside every step, or where the sanitizer does not say (UBSan)."""
    access: str | None
    """`read` or `write`."""
    size_bytes: int | None
    pool: str | None
    """Pool hit, its guards included; None elsewhere."""
    offset: int | None
    """Offset of the first forbidden byte from the pool's base; in a guard it is negative or past the pool's
    end."""


def run_poisoned(image: Image, board: Board, request: RunRequest) -> RunResult | MemoryFault:
    """Run every case of `request` in a child, as `run_host` does, or say what was caught first.

    `image` is what `toolchain.build(..., sanitize=True)` made. A buffer's bytes are exact where its
    offset is a multiple of 8 (AddressSanitizer's granule). What is not seen: gcc leaves out the check
    of a pool named directly with a constant index (`pool[3] = 1` in <model>.c); kernels get pointers
    and all their accesses are checked. Steps are not traced. Raises CodegenError
    E612 if the child fails in another way; ValueError for a sequence, which it does not run.
    """
    del board
    if request.sequence:
        raise ValueError("sequences do not run under the sanitizers")
    with temporary_folder("poison") as folder:
        cases, results = folder / "cases", folder / "results"
        header = (request.model.number, len(request.cases), len(request.paints), *request.paints)
        cases.write_bytes(struct.pack(f"={len(header)}I", *header) + b"".join(map(b"".join, request.cases)))
        done = _call(image.path, cases, results)
        if done.returncode == 0:
            return _result(results.read_bytes(), request)
    if done.returncode == _SANITIZER_EXIT:
        return _fault(done.stderr)
    raise CodegenError(
        Message(
            code="E612",
            where=str(image.path),
            text=f"ended with status {done.returncode}: {done.stderr.strip()[-300:]}",
            help="build it again; if it stays, report this",
        )
    )


def _call(program: Path, cases: Path, results: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "ASAN_OPTIONS": f"exitcode={_SANITIZER_EXIT}:detect_leaks=0:abort_on_error=0:color=never:symbolize=0",
        "UBSAN_OPTIONS": f"exitcode={_SANITIZER_EXIT}:print_stacktrace=0:color=never",
    }
    return subprocess.run(
        [str(program), str(cases), str(results)],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=_TIMEOUT_SECONDS,
    )


def _fault(stderr: str) -> MemoryFault:
    summary = _SUMMARY.search(stderr)
    place = _PLACE.search(stderr)
    step = int(place["step"]) if place else -1
    return MemoryFault(
        summary=summary["text"] if summary else stderr.strip()[:300],
        step=step if step >= 0 else None,
        access=place["access"] if place else None,
        size_bytes=int(place["bytes"]) if place else None,
        pool=place["pool"] if place else None,
        offset=int(place["offset"]) if place and place["offset"] else None,
    )


def _result(data: bytes, request: RunRequest) -> RunResult:
    runs = _runs(data, request)
    cases = tuple(
        case_result(request.model.pools, [next(runs) for _ in request.paints]) for _ in request.cases
    )
    return RunResult(runner="host", cases=cases)


def _runs(data: bytes, request: RunRequest) -> Iterator[PaintResult]:
    """The records of the results file (see runtime_c/targets/host/main.c), case by case, paint by paint."""
    output_bytes = sum(request.model.output_sizes)
    record = struct.Struct(f"=i{output_bytes}s{len(request.model.pools)}IB")
    for status, outputs, *peaks, intact in record.iter_unpack(data):
        check_status(status)
        yield PaintResult(split(outputs, request.model.output_sizes), tuple(peaks), bool(intact))
