"""Samples of inputs: an .npz with an array of each input, by name or `x0`; the first axis counts samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.api import ArraySource, Messages, layout_advice, listed, uneven_rows

LABELS = "labels"
"""The array of right classes, one a sample; it may be left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelInput:
    """An input of the model; every extent is known."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """NumPy's name."""

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Samples:
    """Samples for a model: the arrays of each sample by the input's name."""

    rows: tuple[dict[str, np.ndarray], ...]
    labels: np.ndarray | None


def read_samples(path: Path, inputs: Sequence[ModelInput]) -> Samples:
    """The samples of a file. An array is [samples, *shape of the input]; where the input's first extent is 1,
    [samples, *the rest] too.

    Raises CodegenError E220 for what is no .npz, E221 for arrays that are missing or that no input is called
    as, E222 for those of another type or shape, of no samples, not finite, or of another number of samples.
    """
    arrays = ArraySource(path=path).load()
    messages, where = Messages(), str(path)
    names = [tensor.name for tensor in inputs]
    for index, name in enumerate(names):  # by number, as `run --input` takes them
        number = f"x{index}"
        if name not in arrays and number not in names and number in arrays:
            arrays[name] = arrays.pop(number)
    for key in arrays:
        if key not in names and key != LABELS:
            help_ = (
                f"inputs of the model: {listed(names)} (or x0, x1, ...); right classes are called {LABELS}"
            )
            messages.add("E221", f'array "{key}" is no input of the model', where=where, help=help_)
    rows_of: dict[str, np.ndarray] = {}
    for tensor in inputs:
        data = arrays.get(tensor.name)
        if data is None:
            held = listed(list(arrays))
            help_ = f"numpy.savez(FILE, **{{{tensor.name!r}: samples}}) writes one; it holds {held}"
            messages.add("E221", f'no array for input "{tensor.name}", {tensor}', where=where, help=help_)
        elif (rows := _rows(data, tensor)) is None:
            text = f'array "{tensor.name}" is {data.dtype}{list(data.shape)}, the input {tensor}'
            help_ = f"it is [samples, {', '.join(map(str, _wanted(tensor)))}] of {tensor.dtype}"
            if guess := layout_advice(data.shape, (1, *_wanted(tensor)), tensor.name):
                help_ += f"; {guess}"
            messages.add("E222", text, where=where, help=help_)
        elif not rows.size or not np.isfinite(rows).all():
            text = "is empty" if not rows.size else "holds values that are not finite"
            help_ = "give samples as the network sees them in use, tens or hundreds of them"
            messages.add("E222", f'array "{tensor.name}" {text}', where=where, help=help_)
        else:
            rows_of[tensor.name] = rows
    labels = None if LABELS in names else arrays.get(LABELS)
    _check_counts(rows_of, labels, path, messages)
    messages.raise_if_any()
    count = len(next(iter(rows_of.values())))
    return Samples(
        rows=tuple({name: rows[index] for name, rows in rows_of.items()} for index in range(count)),
        labels=None if labels is None else labels.reshape(-1),
    )


def _check_counts(
    rows_of: dict[str, np.ndarray], labels: np.ndarray | None, path: Path, messages: Messages
) -> None:
    counts = {len(rows) for rows in rows_of.values()}
    if len(counts) > 1:
        messages.take(uneven_rows(f"inputs have {' and '.join(map(str, sorted(counts)))} samples", path))
    elif labels is not None and counts and (labels.size not in counts or labels.dtype.kind not in "iu"):
        text = f'array "{LABELS}" is {labels.dtype}{list(labels.shape)}, there are {counts.pop()} samples'
        help_ = "it holds one whole number a sample: the index of the right class"
        messages.add("E222", text, where=str(path), help=help_)


def _wanted(tensor: ModelInput) -> tuple[int, ...]:
    shape = tensor.shape
    return shape[1:] if shape[:1] == (1,) else shape


def _rows(data: np.ndarray, tensor: ModelInput) -> np.ndarray | None:
    """[samples, *shape], or None if the array fits neither way."""
    shape = tensor.shape
    if str(data.dtype) != tensor.dtype or not data.ndim:
        return None
    if data.shape[1:] == shape:
        return data
    if shape[:1] == (1,) and data.shape[1:] == shape[1:]:
        return data.reshape(len(data), *shape)
    return None
