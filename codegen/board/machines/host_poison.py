"""Running a model on this machine with every pool byte poisoned that no buffer of the step owns."""

import os
import re
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codegen.board.machines.host import PaintResult, case_result, check_status, split
from codegen.errors import CodegenError, Message
from codegen.ir import Board
from codegen.program.run import RunRequest, RunResult
from codegen.program.sources import Image

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
    """Of the first forbidden byte, from the pool's base; negative or past its end in a guard."""


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
    with tempfile.TemporaryDirectory(prefix="codegen-poison-") as folder:
        cases, results = Path(folder) / "cases", Path(folder) / "results"
        header = (request.model, len(request.cases), len(request.paints), *request.paints)
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
    cases = tuple(case_result(request.pools, [next(runs) for _ in request.paints]) for _ in request.cases)
    return RunResult(runner="host", cases=cases)


def _runs(data: bytes, request: RunRequest) -> Iterator[PaintResult]:
    """The records of the results file (see runtime_c/bench_host/main.c), case by case, paint by paint."""
    output_bytes = sum(request.output_sizes)
    record = struct.Struct(f"=i{output_bytes}s{len(request.pools)}IB")
    for status, outputs, *peaks, intact in record.iter_unpack(data):
        check_status(status)
        yield PaintResult(split(outputs, request.output_sizes), tuple(peaks), bool(intact))
