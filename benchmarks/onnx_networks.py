"""Shared ONNX networks: planned RAM of values beside onnx2c's and emx's, instructions on the M4; QDQ layers.

python benchmarks/onnx_networks.py           # the tables, and results/onnx.csv written anew
python benchmarks/onnx_networks.py --only mnist     # prints and records its row, others stay

Networks are planned for mps2-an386 at speed, and run there where they fit: outputs equal the NumPy
evaluation as `run` demands. Layers are QDQ of int8 or int16, by channel: `per_mac` is of the layer's own
step.
Instructions are of an inference under QEMU's `-icount shift=0`. The peers' figures are those of `peers.toml`,
without graph inputs and outputs, which ours has. A file called onnx.py here would stand in for the package.
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, not the installed one

import onnx
from onnx import helper, numpy_helper

HERE = Path(__file__).parent
RECORDED = HERE / "results" / "onnx.csv"
SHARED = Path(os.environ.get("CODEGEN_TESTDATA") or HERE.parents[1] / "shared" / "testdata")
BOARD = "mps2-an386"
FAMILIES = ("onnx2c", "onnx_light")
LIMIT_SECONDS = 300
MODEL_LIMIT = "600M"
"""Of a network that is planned only with it: E305 says so."""

PEERS = HERE / "peers.toml"
EMX_PER_MAC = {"1x1 24x24x64->64": 7.96, "3x3 24x24x16->16": 8.7, "depthwise 3x3 24x24x16": 21.4}
ASKED_PER_MAC = {"1x1 24x24x64->64": 1.2, "3x3 24x24x16->16": 1.3, "depthwise 3x3 24x24x16": 3.2}
_SHAPES = {
    "1x1 24x24x64->64": (64, 64, 1, 1),
    "3x3 24x24x16->16": (16, 16, 3, 1),
    "depthwise 3x3 24x24x16": (16, 16, 3, 16),
}
LAYERS = {
    f"{name}{suffix}": (*shape, dtype)
    for suffix, dtype in (("", np.int8), (" int16", np.int16))
    for name, shape in _SHAPES.items()
}
"""Channels of the image, of the result, side of the window, groups; type of images."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One network or layer; empty where there is no figure."""

    name: str
    macs: int | None = None
    ram_bytes: int | None = None
    lower_bound_bytes: int | None = None
    io_bytes: int | None = None
    """Graph inputs and outputs, which ours has in its RAM and the peers leave to the caller."""
    onnx2c_bytes: int | None = None
    emx_bytes: int | None = None
    instructions: int | None = None
    per_mac: float | None = None
    asked_per_mac: float | None = None
    emx_per_mac: float | None = None
    note: str = ""


def networks(only: str | None) -> Iterator[Row]:
    """The shared networks, in the order of index.csv."""
    with (SHARED / "index.csv").open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["family"] in FAMILIES]
    for line in lines:
        name = line["name"]
        if only not in (None, name):
            continue
        path = SHARED / line["file"]
        sizes = _open_sizes(path, line["inputs"].split())
        found, note = _asked("run", path, *sizes)
        if found is None:
            sizes += ["--model-limit", MODEL_LIMIT] if note.endswith("E305") else []
            found, other = _asked("plan", path, *sizes)
            note += f"; {' '.join(sizes)}" if found is not None and sizes else ""
            note = other if found is None and sizes else note
        if found is None:
            yield Row(name=name, **theirs(name), note=note)
            continue
        io_bytes = sum(_bytes(kind) for kind in f"{line['inputs']} {line['outputs']}".split())
        yield Row(name=name, **_figures(found), io_bytes=io_bytes, **theirs(name), note=note)


def _open_sizes(path: Path, kinds: list[str]) -> list[str]:
    """Words that fix what the file leaves open, but for the first extent, as index.csv has it."""
    words: list[str] = []
    graph = onnx.load_model(str(path), load_external_data=False).graph
    weights = {each.name for each in graph.initializer}  # older files name them among the inputs, too
    inputs = [value for value in graph.input if value.name not in weights]
    for value, kind in zip(inputs, kinds, strict=False):
        extents = zip(value.type.tensor_type.shape.dim, shape_of(kind), strict=True)
        for axis, (declared, extent) in enumerate(extents):
            if axis and not declared.dim_value:
                words += ["--dim", f"{value.name}.{axis}={extent}..{extent}"]
    return words


def theirs(name: str) -> dict[str, int]:
    """The peers' RAM of a network, by field of `Row`."""
    peers = tomllib.loads(PEERS.read_text(encoding="utf-8"))["onnx"]
    return {f"{peer['name']}_bytes": peer["ram_bytes"][name] for peer in peers if name in peer["ram_bytes"]}


def _bytes(kind: str) -> int:
    """Of a type as index.csv has it, float32[1,10] for example."""
    return np.dtype(kind.partition("[")[0]).itemsize * math.prod(shape_of(kind))


def shape_of(kind: str) -> list[int]:
    """The same type's extents."""
    return [int(extent) for extent in kind.rstrip("]").partition("[")[2].split(",") if extent]


def layers(only: str | None) -> Iterator[Row]:
    """The QDQ layers."""
    with tempfile.TemporaryDirectory() as folder:
        for name, shape in LAYERS.items():
            if only not in (None, name):
                continue
            path = Path(folder) / "layer.onnx"
            path.write_bytes(_layer(*shape))
            found, note = _asked("run", path)
            if found is None:
                yield Row(name=name, note=note)
                continue
            [step] = [each for each in found["steps"] if each["macs"]]
            figures = _figures(found) | {"per_mac": round(step["instructions"] / step["macs"], 2)}
            yield Row(
                name=name,
                **figures,
                asked_per_mac=ASKED_PER_MAC.get(name),
                emx_per_mac=EMX_PER_MAC.get(name),
                note=step["kernel"],
            )


def _figures(found: dict[str, Any]) -> dict[str, Any]:
    runs: list[dict[str, Any]] = [found["run"]] if found.get("run") else found.get("runs_at_sizes", [])
    run = runs[0] if runs else {}
    macs: int = found["model"]["macs"]
    instructions: int | None = run.get("instructions")
    return {
        "macs": macs,
        "ram_bytes": found["plan"]["peak_bytes"],
        "lower_bound_bytes": found["plan"]["lower_bound_bytes"],
        "instructions": instructions,
        "per_mac": round(instructions / macs, 2) if instructions and macs else None,
    }


def _asked(verb: str, path: Path, *more: str) -> tuple[dict[str, Any] | None, str]:
    """The JSON document of a verb; or None, and why."""
    words = [sys.executable, "-m", "codegen", verb, str(path), "--optimize", "speed", "--json", *more]
    words += ["--board", BOARD, *([] if more else ["--steps"])] if verb == "run" else []
    try:
        done = subprocess.run(
            words, cwd=HERE.parent, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return None, f"{verb}: more than {LIMIT_SECONDS} s"
    found = json.loads(done.stdout)
    if done.returncode:
        return None, f"{verb}: {found['error']['messages'][0]['code']}"
    return found, ""


def _layer(inputs: int, outputs: int, side: int, groups: int, dtype: Any) -> bytes:
    """A convolution between DequantizeLinear and QuantizeLinear; results spread over their type."""
    rng = np.random.default_rng(1)
    taps = inputs // groups * side * side
    unit = 0.01
    scale = np.float32(0.05 * 2.0 ** (8 - np.iinfo(dtype).bits))
    weights = (unit * 2.0 ** rng.uniform(-0.5, 0.5, outputs)).astype(np.float32)
    constants = {
        "w": rng.integers(-127, 128, (outputs, inputs // groups, side, side)).astype(np.int8),
        "ws": weights,
        "wz": np.zeros(outputs, np.int8),
        "b": rng.integers(-2000, 2001, outputs).astype(np.int32),
        "bs": scale * weights,
        "bz": np.zeros(outputs, np.int32),
        "xs": np.asarray(scale),
        "xz": np.array(-3, dtype),
        "ys": np.array(scale * unit * 73 * 73 * taps**0.5 / 64, np.float32),
        "yz": np.array(4, dtype),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xr"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wr"], axis=0),
        helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["br"], axis=0),
        helper.make_node(
            "Conv", ["xr", "wr", "br"], ["r"], group=groups, pads=[side // 2] * 4, kernel_shape=[side, side]
        ),
        helper.make_node("QuantizeLinear", ["r", "ys", "yz"], ["y"]),
    ]
    kind, opset = helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), 13 if dtype is np.int8 else 21
    graph = helper.make_graph(
        nodes,
        "layer",
        [helper.make_tensor_value_info("x", kind, [1, inputs, 24, 24])],
        [helper.make_tensor_value_info("y", kind, [1, outputs, 24, 24])],
        [numpy_helper.from_array(data, name) for name, data in constants.items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8
    ).SerializeToString()


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="NAME")
    only = parser.parse_args().only
    names = [field.name for field in fields(Row)]
    print(",".join(names), flush=True)
    rows: list[dict[str, Any]] = []
    for row in (*layers(only), *networks(only)):
        rows.append(asdict(row))
        print(",".join("" if value is None else str(value) for value in rows[-1].values()), flush=True)
    if only is not None:
        anew = {row["name"]: row for row in rows}
        with RECORDED.open(newline="", encoding="utf-8") as file:
            rows = [anew.get(row["name"], row) for row in csv.DictReader(file)]
    with RECORDED.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
