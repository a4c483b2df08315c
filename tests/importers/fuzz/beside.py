"""Constants in files beside the model: what lies in its folder, and how mutants say where their data are."""

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tests.importers.fuzz.protobuf import messages

_BYTES = 1 << 16
_INSIDE = (
    "weights.bin",
    "weights.bin",
    "part/weights.bin",
    "link_in",
    "part/../weights.bin",
    "./weights.bin",
)
_ODD = ("huge.bin", "empty.bin", "link_out", "link_up", "circle", "pipe", "part", "weights.bin/x", "no.bin")
OUTSIDE = (
    "../secret.bin",
    "/etc/passwd",
    "/dev/zero",
    "/proc/self/mem",
    "link/../../x",
    "link_up/etc/passwd",
    "part\\..\\..\\x",
    "m.onnx",
    "",
    "a\0b",
    "x" * 5000,
    "../" * 1000,
)
_NUMBERS = (
    *("0", "4", "65532", "65536", "65537", str(1 << 31), str(1 << 40), str(1 << 62), "9" * 18, "9" * 19),
    *("-1", "+4", "0x10", " 4", "4.0", "1e3", "", "\u0663", "nan"),
)


def furnish(folder: Path) -> None:
    """Fill the folder of the models: files, links in and out of it and in a circle, a pipe, 1 TiB."""
    (folder / "part").mkdir(exist_ok=True)
    data = np.random.default_rng(1).standard_normal(_BYTES // 4).astype(np.float32).tobytes()
    for name in ("weights.bin", "part/weights.bin"):
        (folder / name).write_bytes(data)
    (folder / "empty.bin").write_bytes(b"")
    with (folder / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    links = {"link_in": "weights.bin", "link_out": "/etc/passwd", "link_up": "/", "circle": "circle"}
    for name, where in links.items():
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(where)
    if not (folder / "pipe").exists():
        os.mkfifo(folder / "pipe")


def external(root: Any, rng: random.Random) -> None:
    """A constant's data in another file: beside the model, outside of its folder, a device, nowhere."""
    found = [each for each in messages(root) if each.DESCRIPTOR.name == "TensorProto"]
    if not found:
        return
    tensor = rng.choice(found)
    size = len(tensor.raw_data)
    outside(tensor, rng.choice((*_INSIDE, *_ODD, *OUTSIDE) if rng.random() < 0.7 else _INSIDE), size)
    for entry in list(tensor.external_data):
        chance = rng.random()
        if entry.key == "location" or chance < 0.6:
            continue
        if chance < 0.7:
            tensor.external_data.remove(entry)
        else:
            entry.value = rng.choice(_NUMBERS)
    if rng.random() < 0.1:
        entry = tensor.external_data.add()
        entry.key, entry.value = (
            rng.choice(("location", "offset", "length", "checksum")),
            rng.choice(_NUMBERS),
        )


def outside(tensor: Any, location: str, length: int) -> None:
    """Let a constant's data lie at `location`."""
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", str(length))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
