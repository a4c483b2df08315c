"""Results of combinations: one file each, tables of all, and which of them no other beats."""

import csv
import importlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import msgspec

from codegen.api import CodegenError, Message, write_whole

_FOLDER = "results"


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A row of the tables. Sizes are bytes; a figure that was not measured is None."""

    key: str
    model: str
    board: str
    optimize: str
    limits: str
    until: str
    """The stage that it went to."""
    code: str
    """`ok`, or the code of the first message."""
    exit_code: int
    """Exit code of the command for this combination alone."""
    ram_bytes: int | None = None
    """Planned peaks of all pools; where it was run they are measured to be so."""
    constant_bytes: int | None = None
    code_bytes: int | None = None
    flash_bytes: int | None = None
    """Constants and code of the model."""
    stack_bytes: int | None = None
    """Static bound."""
    instructions: int | None = None
    """Measured, of one inference."""
    instructions_predicted: int | None = None
    """By the kernels' models, where each layer with weights has one."""
    steps_not_predicted: int | None = None
    """Steps that `instructions_predicted` leaves out: their kernels have no model."""
    milliseconds: float | None = None
    """Time of one inference at the board's rated clock (`time` of report.json)."""
    message: str = ""

    @property
    def is_ok(self) -> bool:
        """True if the combination went through."""
        return self.exit_code == 0

    @property
    def work(self) -> int | None:
        """Instructions of one inference: measured, else predicted."""
        return self.instructions_predicted if self.instructions is None else self.instructions

    @property
    def steps_left_out(self) -> int:
        """Steps that `milliseconds` leaves out, as nothing was run and no model predicts them."""
        return (self.steps_not_predicted or 0) if self.instructions is None and self.milliseconds else 0


class Store:
    """Results below a folder, a file each, named by the key of the combination."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            text = f"cannot be made a folder: {error.strerror}"
            raise CodegenError(Message(code="E230", where=str(folder), text=text)) from error

    def read(self, key: str) -> Result | None:
        """The result of a combination; None if there is none, or none that is whole."""
        try:
            return msgspec.json.decode((self._folder / f"{key}.json").read_bytes(), type=Result)
        except (OSError, msgspec.DecodeError):
            return None

    def write(self, result: Result) -> None:
        """Keep it: the file appears whole."""
        path = self._folder / f"{result.key}.json"
        new_path = path.with_suffix(".new")
        new_path.unlink(missing_ok=True)
        write_whole(new_path, msgspec.json.format(msgspec.json.encode(result)) + b"\n", mode=0o644)
        new_path.replace(path)


def best(results: Sequence[Result]) -> tuple[Result, ...]:
    """Results that no other of their model and board beats: none has less or as little of RAM, flash and
    instructions, and less of one (a Pareto front). Of equal ones the first."""
    return tuple(
        result
        for index, result in enumerate(results)
        if result.is_ok
        and not any(
            _beats(other, result) or (_costs(other) == _costs(result) and place < index)
            for place, other in enumerate(results)
            if other.is_ok and (other.model, other.board) == (result.model, result.board)
        )
    )


def _costs(result: Result) -> tuple[int | None, ...]:
    return (result.ram_bytes, result.flash_bytes, result.instructions)


def _beats(one: Result, other: Result) -> bool:
    pairs = [
        (a, b) for a, b in zip(_costs(one), _costs(other), strict=True) if a is not None and b is not None
    ]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def write_tables(results: Sequence[Result], folder: Path) -> tuple[Path, ...]:
    """`sweep.csv`, and `sweep.parquet` where pyarrow is installed; a column says what no other beats."""
    front = {result.key for result in best(results)}
    names = [field.name for field in fields(Result)]
    rows = [[getattr(result, name) for name in names] for result in results]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, "best"])
    writer.writerows([*row, result.key in front] for result, row in zip(results, rows, strict=True))
    path = folder / "sweep.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return (path, *_parquet(names, rows, [result.key in front for result in results], folder))


def _parquet(
    names: Sequence[str], rows: Sequence[Sequence[object]], front: Sequence[bool], folder: Path
) -> tuple[Path, ...]:
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        return ()
    types = {str: arrow.string(), float | None: arrow.float64()}
    kinds = [types.get(cast("type", field.type), arrow.int64()) for field in fields(Result)]
    columns = {
        name: arrow.array([row[index] for row in rows], kind)
        for index, (name, kind) in enumerate(zip(names, kinds, strict=True))
    }
    path = folder / "sweep.parquet"
    parquet.write_table(arrow.table({**columns, "best": list(front)}), path)
    return (path,)
