"""Work of a sweep: combinations, and the name that each has by its contents."""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from codegen.api import (
    Board,
    ByteLimits,
    CodegenError,
    MemoryModel,
    Message,
    Optimize,
    Options,
    __version__,
    byte_limits,
    compiler_tools,
    data_folder,
    load_board,
    load_memory_model,
    model_bytes,
    model_name,
    size_bytes,
)

Until = Literal["plan", "build", "run"]
"""The last stage of every combination. A board that QEMU does not emulate is built for, not run."""

_MOST_LIMITS = 1000
_PROGRAM = ("templates", "runtime_c", "boards")
"""Folders that decide results beside the package."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Combination:
    """One of them. `data`: the model file, so that a worker elsewhere needs no file of ours."""

    model: str
    """Path of the file as it was given."""
    data: bytes
    options: Options
    until: Until

    @property
    def limits(self) -> str:
        """Limits of pools as flags say them, apart by spaces."""
        return " ".join(f"{name}={size}" for name, size in sorted(self.options.pool_limits.items()))

    @property
    def key(self) -> str:
        """Name by contents: model, board, options and the files they name, stage, compiler, and all of this
        program."""
        board, options = load_board(self.options.board), self.options
        tools = "" if self.until == "plan" else _tools(board, options.optimize)
        memory = None if options.memory_model is None else _memory_of(options.memory_model)
        parts = [
            hashlib.sha256(self.data).hexdigest(),
            model_name(Path(self.model), self.options.names),
            _spelled([board, memory, options.kernels]),
            replace(options, board=board.name).spelled,
            f"{options.seed} {options.stack_bytes}",
            self.until,
            tools,
            _program(),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def combinations(
    models: Sequence[Path],
    boards: Sequence[str],
    optimize: Sequence[Optimize],
    limits: Mapping[str, Sequence[int]],
    options: Options,
    until: Until,
) -> tuple[Combination, ...]:
    """All of them: models, then boards, then what is favoured, then limits of pools."""
    data = {path: _bytes_of(path, byte_limits(options.model_limit)) for path in models}
    pools = [dict(zip(limits, sizes, strict=True)) for sizes in itertools.product(*limits.values())]
    return tuple(
        Combination(
            model=str(path),
            data=data[path],
            options=replace(
                options, board=board, optimize=level, pool_limits={**options.pool_limits, **swept}
            ),
            until=until,
        )
        for path in models
        for board in boards
        for level in optimize
        for swept in pools
    )


def _bytes_of(model: Path, limits: ByteLimits) -> bytes:
    """Bytes that a worker gets, constants beside the model brought in; of no model its bytes: the job says
    why."""
    try:
        return model_bytes(model, limits)
    except CodegenError:
        return model.read_bytes()


def limits_of(text: str) -> tuple[str, tuple[int, ...]]:
    """Pool and limits of `sram=16K`, `sram=16K..64K` (each twice the one before) or `sram=16K..64K:8K` (in
    steps of so many bytes). Raises CodegenError E203."""
    name, equals, sizes = text.partition("=")
    range_, colon, step = sizes.partition(":")
    low, dots, high = range_.partition("..")
    first = size_bytes(low)
    last = size_bytes(high) if dots else first
    stride = size_bytes(step) if colon else None
    if not name or not equals:
        raise _refused(text, "it says no pool")
    if first is None or last is None or (colon and stride is None):
        raise _refused(text, f"{sizes!r} is no number of bytes and no range of them")
    if last < first:
        raise _refused(text, "the range is empty")
    if stride == 0 or (first == 0 and dots and not colon):
        raise _refused(text, "such a range never ends")
    limits: list[int] = []
    size = first
    while size <= last:
        limits.append(size)
        if len(limits) > _MOST_LIMITS:
            raise _refused(text, f"more than {_MOST_LIMITS:,} limits")
        if first == last:
            break
        size = size * 2 if stride is None else size + stride
    return name, tuple(limits)


def _refused(text: str, why: str) -> CodegenError:
    help_ = "as --pool sram=16K, --pool sram=16K..64K or --pool sram=16K..64K:8K"
    return CodegenError(Message(code="E203", text=f"--pool {text}: {why}", help=help_))


def _spelled(values: object) -> str:
    return msgspec.json.encode(values, order="deterministic", enc_hook=str).decode()


@cache
def _tools(board: Board, optimize: Optimize) -> str:
    return compiler_tools(board, optimize)


def _memory_of(name_or_path: str) -> MemoryModel | str:
    """The memory model; what cannot be read, which is a result too, is its name."""
    try:
        return load_memory_model(name_or_path)
    except CodegenError:
        return name_or_path


@cache
def _program() -> str:
    """One hash of the version and of every file that results depend on."""
    digest = hashlib.sha256(__version__.encode())
    sources = sorted(Path(__file__).parents[2].rglob("*"))  # tables of kernels and C of planners too
    data = (path for name in _PROGRAM for path in sorted(data_folder(name).rglob("*")))
    for path in (*sources, *data):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
