"""How far three things walk through codegen, from entry to end: an activation, a RAM limit, a weight.

python benchmarks/walks.py [CHECKOUT]

A network of five layers, all with a fused RELU_N1_TO_1, is built, and planned with less RAM than it needs.
Its numbers are rare ones, so that a value is known by what it holds. A module is on the walk if code of it
that runs names a value that holds the thing itself: the activation, or the least result that it leaves; the
limit's bytes; the weights of the convolution as numbers, in any order and type. A module that hands on what
they are part of (a file, a layer, a pool) and does not look into it is not. Code that writes any number as C
is. CHECKOUT: the root of another checkout, measured by the same definition.
"""

import ast
import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import FrameType, MemberDescriptorType
from typing import Any, cast

import numpy as np

HERE = Path(__file__).resolve().parents[1]
_MODEL, _CHECKOUT = "WALKS_MODEL", "WALKS_CHECKOUT"
"""What the process that walks is told."""
ROOT = Path(os.environ.get(_CHECKOUT, HERE))
sys.path.insert(0, str(ROOT))  # not the installed one
PACKAGE = ROOT / "codegen"

BOARD = "mps2-an386"
LIMIT_BYTES = 937
_SCALE, _ZERO = 1 / 83, -13
_LEAST = -96
"""Stored -1: what RELU_N1_TO_1 leaves at least."""
_CHANNELS = 16
_WEIGHTS = np.random.default_rng(7).permutation(np.arange(-128, 128)).clip(-127).astype(np.int8)
_DISTINCT, _MOST = 200, 700
"""Different numbers of an array that holds the weights, in whatever order, and its elements at most."""
_LOOKS = 40
"""How often a line that runs is looked at: what it names changes."""

Holds = Callable[[Any], bool]
Modules = dict[str, dict[int, str]]


def network() -> bytes:
    """A layer of each kind that has an activation, as a `.tflite` file."""
    from codegen.importers.tflite.writing.writer import ModelBuilder

    model, shape = ModelBuilder(), (1, 8, 8, _CHANNELS)

    def weights(name: str, extents: tuple[int, ...], data: np.ndarray) -> list[int]:
        bias = np.arange(_CHANNELS, dtype=np.int32)
        return [
            model.tensor(f"{name}_weights", extents, scale=0.01, data=data.reshape(extents)),
            model.tensor(f"{name}_bias", (_CHANNELS,), "int32", scale=0.01 * _SCALE, data=bias),
        ]

    def layer(op: str, *args: int, extents: tuple[int, ...] = shape, **options: Any) -> int:
        result = model.tensor(f"{op}_result", extents, scale=_SCALE, zero_point=_ZERO)
        model.op(op, list(args), [result], activation="relu_n1_to_1", **options)
        return result

    image = model.tensor("image", shape, scale=_SCALE, zero_point=_ZERO)
    slid: dict[str, Any] = {"padding": "SAME", "stride_w": 1, "stride_h": 1}
    few = np.arange(9 * _CHANNELS) % 5
    conv = layer("CONV_2D", image, *weights("conv", (_CHANNELS, 1, 1, _CHANNELS), _WEIGHTS), **slid)
    taps = weights("depthwise", (1, 3, 3, _CHANNELS), few.astype(np.int8))
    depthwise = layer("DEPTHWISE_CONV_2D", conv, *taps, depth_multiplier=1, **slid)
    total = layer("ADD", conv, depthwise)
    pool = layer(
        "AVERAGE_POOL_2D",
        total,
        extents=(1, 1, 1, 16),
        filter_width=8,
        filter_height=8,
        **(slid | {"padding": "VALID"}),
    )
    rows = weights("rows", (_CHANNELS, _CHANNELS), np.resize(few, _CHANNELS**2).astype(np.int8))
    last = layer("FULLY_CONNECTED", pool, *rows, extents=(1, _CHANNELS))
    model.inputs(image)
    model.outputs(last)
    return model.build()


def _is_limit(value: Any) -> bool:
    return type(value) is int and value == LIMIT_BYTES


def _is_activation(value: Any) -> bool:
    if type(value).__name__ == "Activation":
        return getattr(value, "name", "") == "RELU_N1_TO_1"
    return isinstance(value, int | np.integer) and int(cast(int, value)) == _LEAST


def _is_weight(value: Any) -> bool:
    if isinstance(value, bytes):
        value = np.frombuffer(value, np.uint8)
    if not isinstance(value, np.ndarray) or not _WEIGHTS.size <= value.size <= _MOST:
        return False
    bytes_ = np.frombuffer(value.tobytes(), np.uint8)
    return max(len(np.unique(numbers)) for numbers in (cast(Any, value), bytes_)) >= _DISTINCT


def _any_of(holds: Holds) -> Holds:
    """Also of what a tuple, a list or a mapping has in it."""

    def found(value: Any) -> bool:
        if isinstance(value, Mapping):
            value = tuple(cast(Mapping[Any, Any], value).values())
        if isinstance(value, tuple | list):
            each = cast(Sequence[Any], value)
            return len(each) <= _DISTINCT and any(map(holds, each))
        return holds(value)

    return found


@cache
def _named(path: str) -> dict[int, list[tuple[str, ...]]]:
    """By line, what it reads: a variable, with the attributes asked of it."""
    found: defaultdict[int, list[tuple[str, ...]]] = defaultdict(list)
    for node in ast.walk(ast.parse(Path(path).read_text())):
        chain: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and isinstance(getattr(node, "ctx", None), ast.Load):
            found[node.lineno].append((inner.id, *reversed(chain)))  # pyright: ignore[reportAttributeAccessIssue]
    return found


def _value(frame: FrameType, chain: tuple[str, ...]) -> Any:
    """What a chain of attributes holds, without running code: fields only."""
    value: Any = frame.f_locals.get(chain[0])
    for name in chain[1:]:
        kind: Any = getattr(value.__class__, name, None)
        if isinstance(kind, MemberDescriptorType) or name in getattr(value, "__dict__", ()):
            value = getattr(value, name, None)
        else:
            return None
    return value


def walk(things: Mapping[str, Holds], arguments: list[str]) -> dict[str, Modules]:
    """Of each thing modules, and lines of them with the name, in which running code names what holds it."""
    touched: dict[str, defaultdict[str, dict[int, str]]] = {name: defaultdict(dict) for name in things}
    looks: defaultdict[tuple[str, int], int] = defaultdict(int)

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        path, line = frame.f_code.co_filename, frame.f_lineno
        if not path.startswith(str(PACKAGE)) or frame.f_code.co_name == "<module>":
            return None
        if event == "line" and line in _named(path) and looks[path, line] < _LOOKS:
            looks[path, line] += 1
            for chain in _named(path)[line]:
                value = _value(frame, chain)
                for name, holds in things.items():
                    if holds(value):
                        touched[name][path][line] = ".".join(chain)
        return trace if _named(path) else None

    from codegen.cli import main

    sys.settrace(trace)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            sys.argv = ["codegen", *arguments]
            main()
    except SystemExit:
        pass
    finally:
        sys.settrace(None)
    return {name: dict(modules) for name, modules in touched.items()}


def walks(model: Path, folder: Path) -> dict[str, Modules]:
    """Each of the three, with its modules."""
    made = {"activation": _any_of(_is_activation), "weight": _is_weight}
    found = walk(made, ["build", str(model), "--board", BOARD, "-o", str(folder / "out")])
    pools = ["--pool", f"sram={LIMIT_BYTES}", "--pool", "psram=0"]
    return found | walk({"RAM limit": _any_of(_is_limit)}, ["plan", str(model), "--board", BOARD, *pools])


def show(model: Path) -> None:
    """Print the walks through the checkout."""
    with tempfile.TemporaryDirectory() as folder:
        for name, modules in walks(model, Path(folder)).items():
            print(f"{name}: {len(modules)} modules")
            for path, lines in sorted(modules.items()):
                print(f"  {Path(path).relative_to(PACKAGE)}", *(f"{n}:{lines[n]}" for n in sorted(lines)))


def walk_in(checkout: Path) -> None:
    """Show the walks, in a process of its own: this one has imported what writes the network."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "layers.tflite"
        model.write_bytes(network())
        told = {**os.environ, _MODEL: str(model), _CHECKOUT: str(checkout.resolve())}
        subprocess.run([sys.executable, __file__], env=told, check=True)


if __name__ == "__main__":
    if _MODEL in os.environ:
        show(Path(os.environ[_MODEL]))
    else:
        walk_in(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
