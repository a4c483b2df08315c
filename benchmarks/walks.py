"""Modules one has to read to follow a thing through codegen, from where it enters to where it ends.

python benchmarks/walks.py [CHECKOUT]

Six things are followed through one run each: a weight, an activation, a RAM limit, an ONNX QDQ node, a
symbol of `--dim`, a board file. Each is known by a rare value. A module is on the walk if a function of it
that runs takes, names or returns the thing, by itself or in a list. Code that hands on what the thing is part
of (a network, a plan) is not, unless it names the thing as a field of that. Modules stand in the order in
which the thing first enters them. A move to the next one

- `stays` in a room (folder), or goes `down`, by the layers of pyproject.toml;
- `returns` to a room that has called this one, goes `up` to a new room, or `back` up to one that was left.
"""

import ast
import contextlib
import io
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import FrameType, MemberDescriptorType
from typing import Any, NamedTuple, cast

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1]).resolve()
PACKAGE = f"{ROOT / 'codegen'}/"
sys.path.insert(0, str(ROOT))  # the checkout, not the installed package

BOARD = "mps2-an386"
LIMIT_BYTES = 937
"""Less than the network needs: the walk ends in the error that says so."""
SYMBOL = "frames"
_SCALE, _ZERO, _LEAST = 1 / 83, -13, -96
"""Quantisation of every value, and its stored -1: the least result of RELU_N1_TO_1."""
_CHANNELS = 16
_WEIGHTS = np.random.default_rng(7).permutation(np.arange(-128, 128)).clip(-127).astype(np.int8)
_DISTINCT, _MOST_BYTES = 140, 2800
"""Different bytes of an array that holds the weights, however packed, and its bytes at most."""
_MOST_ITEMS = 200
"""Longest list that is searched for a thing."""

Holds = Callable[[Any], bool]


class Entry(NamedTuple):
    """The first call in which a thing is in a module, and the rooms whose calls led there."""

    order: int
    module: str
    room: str
    callers: set[str]


def _room(path: str) -> str:
    return path.removeprefix(PACKAGE).split("/")[0].removesuffix(".py")


def tflite_network() -> bytes:
    """A convolution with RELU_N1_TO_1, as a `.tflite` file."""
    from codegen.importers.tflite.writing.writer import ModelBuilder

    model, shape, bias = ModelBuilder(), (1, 8, 8, _CHANNELS), np.arange(_CHANNELS, dtype=np.int32)
    image, result = (
        model.tensor(name, shape, scale=_SCALE, zero_point=_ZERO) for name in ("image", "result")
    )
    extents = (_CHANNELS, 1, 1, _CHANNELS)
    weights = model.tensor("weights", extents, scale=0.01, data=_WEIGHTS.reshape(extents))
    biases = model.tensor("biases", (_CHANNELS,), "int32", scale=0.01 * _SCALE, data=bias)
    options: dict[str, Any] = {"padding": "SAME", "stride_w": 1, "stride_h": 1}
    model.op("CONV_2D", [image, weights, biases], [result], activation="relu_n1_to_1", **options)
    model.inputs(image)
    model.outputs(result)
    return model.build()


def onnx_network() -> bytes:
    """A convolution of an image whose height has a name, as a QDQ `.onnx` file."""
    named: dict[str, Any] = {
        "scale": np.float32(_SCALE),
        "zero": np.int8(_ZERO),
        "small": np.float32(0.01),
        "none": np.int8(0),
        "weights": _WEIGHTS.reshape(_CHANNELS, _CHANNELS, 1, 1),
    }

    def coded(name: str, value: str, result: str, scale: str, zero: str) -> Any:
        return helper.make_node(f"{name}Linear", [value, scale, zero], [result], name=f"{name}_{value}")

    nodes = [
        coded("Quantize", "image", "image_q", "scale", "zero"),
        coded("Dequantize", "image_q", "image_r", "scale", "zero"),
        coded("Dequantize", "weights", "weights_r", "small", "none"),
        helper.make_node("Conv", ["image_r", "weights_r"], ["sums"]),
        coded("Quantize", "sums", "result_q", "scale", "zero"),
        coded("Dequantize", "result_q", "result", "scale", "zero"),
    ]
    extents = (1, _CHANNELS, SYMBOL, 8)
    edges = [helper.make_tensor_value_info(name, TensorProto.FLOAT, extents) for name in ("image", "result")]
    constants = [numpy_helper.from_array(np.asarray(data), name) for name, data in named.items()]
    graph = helper.make_graph(nodes, "walk", edges[:1], edges[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def _is_limit(value: Any) -> bool:
    return type(value) is int and value == LIMIT_BYTES


def _is_activation(value: Any) -> bool:
    if type(value).__name__ == "Activation":
        return getattr(value, "name", "") == "RELU_N1_TO_1"
    return type(value) is int and value == _LEAST


def _is_weight(value: Any) -> bool:
    if not isinstance(value, np.ndarray | bytes):
        return False
    # A whole file is no array of weights.
    if isinstance(value, bytes) and len(value) >= 2 * _WEIGHTS.size:
        return False
    array = cast(Any, value if isinstance(value, np.ndarray) else np.frombuffer(value, np.uint8))
    if array.dtype.kind not in "iuf" or not _WEIGHTS.size <= array.nbytes <= _MOST_BYTES:
        return False
    as_bytes = np.frombuffer(array.tobytes(), np.uint8)
    return max(len(np.unique(array)), len(np.unique(as_bytes))) >= _DISTINCT


def _is_qdq(value: Any) -> bool:
    """True for the scale of the image, which is all that its Dequantize node becomes."""
    return type(value) in (float, np.float32) and abs(float(value) - _SCALE) < 1e-8


def _is_symbol(value: Any) -> bool:
    return (type(value) is str and value == SYMBOL) or type(value).__name__ == "Formula"


def _is_board(value: Any) -> bool:
    return type(value).__name__ == "Board" or (isinstance(value, Path) and value.name == f"{BOARD}.toml")


def _items(value: Any) -> Iterator[Any]:
    """A value, and the elements of a list or the values of a mapping."""
    yield value
    if isinstance(value, Mapping):
        value = tuple(cast(Mapping[Any, Any], value).values())
    if isinstance(value, tuple | list):
        elements = cast(tuple[Any, ...], value)
        yield from elements if len(elements) <= _MOST_ITEMS else ()


@cache
def _named(path: str) -> dict[int, list[list[str]]]:
    """By first line of a function: the fields that its code names, as a variable and attributes of it."""
    named: dict[int, list[list[str]]] = {}
    for function in ast.walk(ast.parse(Path(path).read_text())):
        if isinstance(function, ast.FunctionDef):
            chains = {
                ast.unparse(node)
                for node in ast.walk(function)
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
            }
            first = min(node.lineno for node in (function, *function.decorator_list))
            names = (chain.split(".") for chain in sorted(chains))
            named[first] = [chain for chain in names if all(name.isidentifier() for name in chain)]
    return named


def _field(variables: Mapping[str, Any], chain: list[str]) -> Any:
    """The field that a chain of names leads to; None for properties, whose code is not run again."""
    value: Any = variables.get(chain[0])
    for name in chain[1:]:
        is_slot = isinstance(getattr(value.__class__, name, None), MemberDescriptorType)
        value = getattr(value, name, None) if is_slot or name in getattr(value, "__dict__", ()) else None
    return value


def walk(holds: Holds, arguments: list[str], status: int = 0) -> list[Entry]:
    """Modules that a thing enters, in order, in a run that ends with `status`; else raises RuntimeError."""
    entered: dict[str, Entry] = {}
    open_calls: list[tuple[int, str]] = []
    calls = 0

    def profile(frame: FrameType, event: str, result: Any) -> None:
        nonlocal calls
        code = frame.f_code
        if event == "call":
            calls += 1
            open_calls.append((calls, code.co_filename))
        elif event == "return" and open_calls:
            order, path = open_calls.pop()
            known = entered.get(path)
            if not path.startswith(PACKAGE) or code.co_name == "<module>" or (known and known.order < order):
                return
            variables = frame.f_locals
            fields = (_field(variables, chain) for chain in _named(path).get(code.co_firstlineno, ()))
            if any(holds(item) for value in (result, *variables.values(), *fields) for item in _items(value)):
                callers = {_room(caller) for _, caller in open_calls}
                entered[path] = Entry(order, path.removeprefix(PACKAGE), _room(path), callers)

    from codegen.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        sys.setprofile(profile)
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code
        finally:
            sys.setprofile(None)
    if code != status:
        raise RuntimeError(f"codegen {' '.join(arguments)}: {errors.getvalue()}")
    return sorted(entered.values(), key=lambda entry: entry.order)


def layers() -> dict[str, int]:
    """Rooms of the package with the height of their layer."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    lines = next(contract["layers"] for contract in contracts if contract.get("containers") == ["codegen"])
    return {room: -depth for depth, line in enumerate(lines) for room in line.split(" | ")}


def moves(entries: list[Entry]) -> list[str]:
    """How the walk gets to each module but the first."""
    height, known, ways = layers(), set[str](), list[str]()
    for before, after in pairwise(entries):
        known.add(before.room)
        if before.room == after.room:
            ways.append("stays")
        elif height.get(after.room, 0) <= height.get(before.room, 0):
            ways.append("down")
        elif after.room in before.callers:
            ways.append("returns")
        else:
            ways.append("back" if after.room in known else "up")
    return ways


def show() -> None:
    """Print the walks through the checkout."""
    with tempfile.TemporaryDirectory() as folder:
        fixed, ranged = Path(folder) / "fixed.tflite", Path(folder) / "ranged.onnx"
        fixed.write_bytes(tflite_network())
        ranged.write_bytes(onnx_network())
        board = ["--board", str(ROOT / "boards" / f"{BOARD}.toml")]
        build = ["build", str(fixed), *board, "-o", f"{folder}/fixed"]
        sizes = ["build", str(ranged), *board, "-o", f"{folder}/ranged", "--dim"]
        pools = ["--pool", f"sram={LIMIT_BYTES}", "--pool", "psram=0"]
        runs: dict[str, tuple[Holds, list[str], int]] = {
            "weight": (_is_weight, build, 0),
            "activation": (_is_activation, build, 0),
            "RAM limit": (_is_limit, ["plan", str(fixed), *board, *pools], 4),
            "QDQ node": (_is_qdq, [*sizes, f"{SYMBOL}=8"], 0),
            "symbol of --dim": (_is_symbol, [*sizes, f"{SYMBOL}=2..8"], 0),
            "board file": (_is_board, build, 0),
        }
        for name, run in runs.items():
            entries = walk(*run)
            ways = moves(entries)
            counts = ", ".join(
                f"{ways.count(way)} {way}" for way in ("stays", "down", "returns", "up", "back")
            )
            print(f"{name}: {len(entries)} modules, {counts}")
            for entry, way in zip(entries, ["enters", *ways], strict=True):
                print(f"  {way:7} {entry.module}")


if __name__ == "__main__":
    show()
