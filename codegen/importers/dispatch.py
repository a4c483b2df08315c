"""Reads a model file, tells its format and hands the bytes to that format's importer."""

import stat
from collections.abc import Sequence
from pathlib import Path

from codegen.errors import CodegenError, Message
from codegen.importers.graph_inputs import NO_EXTENTS, Extents, InputSignature
from codegen.importers.limits import RAISE, STATED, ByteLimits
from codegen.importers.onnx import graph_inputs, import_onnx, whole
from codegen.importers.printable_names import printable
from codegen.importers.tflite import import_tflite, input_signatures
from codegen.ir import Module
from codegen.ir.ops import UserKernel

_HELP = (
    "give a .tflite file (TensorFlow: tf.lite.TFLiteConverter; PyTorch: ai-edge-torch) or an .onnx file "
    "(PyTorch: torch.onnx.export)"
)

_ONNX = ".onnx"

_OTHER_FORMATS = {
    ".h5": "Keras HDF5",
    ".hdf5": "Keras HDF5",
    ".keras": "Keras",
    ".pb": "TensorFlow graph",
    ".pt": "PyTorch",
    ".pth": "PyTorch",
    ".pte": "ExecuTorch",
}


def load(
    path: Path,
    kernels: Sequence[UserKernel] = (),
    extents: Extents = NO_EXTENTS,
    limits: ByteLimits = STATED,
) -> Module:
    """Import the model file at `path` as a module with one function in the file's operator order.

    Operators of a TFLite file that no importer translates become calls of the declared `kernels`. `extents`:
    (graph input, axis) -> extent, where it is another than the file's; the shapes of results follow.

    Raises CodegenError: E211 if the file cannot be read, E3xx (see this package) if it is not a model
    that can be imported, with every unsupported operator, type and option at once.
    """
    data, name = model_bytes(path, limits), printable(path.name)
    if _is_onnx(path, data):
        return import_onnx(data, name, extents, limits)
    return import_tflite(data, name, kernels, extents, limits)


def signatures(path: Path, limits: ByteLimits = STATED) -> tuple[InputSignature, ...]:
    """The graph inputs of the model file at `path`, in order. Raises CodegenError as `load` does."""
    data, name = model_bytes(path, limits), printable(path.name)
    return graph_inputs(data, name, limits) if _is_onnx(path, data) else input_signatures(data, name)


def _is_onnx(path: Path, data: bytes) -> bool:
    """ONNX files begin with no mark of their own: the name says it, unless the contents are TFLite's."""
    return path.suffix.lower() == _ONNX and data[4:8] != b"TFL3"


def model_bytes(path: Path, limits: ByteLimits = STATED) -> bytes:
    """The bytes of a file of a format that is imported, constants that lie in files beside it brought in.

    Raises CodegenError: E211 if the file cannot be read, E300, E302, E305, E313 or E314 (see this package).
    """
    data = _read(path, limits.constants)
    name = printable(path.name)
    if not data or (data[4:8] != b"TFL3" and not _is_onnx(path, data)):
        raise CodegenError(_unknown(path, data, name))
    return whole(data, path.parent, name, limits) if _is_onnx(path, data) else data


def _read(path: Path, most_bytes: int) -> bytes:
    """Bytes of a regular file of bounded size; devices and pipes are refused before they are opened."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise CodegenError(_unreadable(path, "it is not a regular file"))
        if status.st_size > most_bytes:
            text = f"the file has {status.st_size} bytes, up to {most_bytes} are imported"
            raise CodegenError(Message(code="E305", where=printable(path.name), text=text, help=RAISE))
        with path.open("rb") as file:
            return file.read(most_bytes)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CodegenError(_unreadable(path, reason)) from error


def _unreadable(path: Path, reason: str) -> Message:
    return Message(code="E211", where=printable(str(path)), text=f"cannot read the model file: {reason}")


def _unknown(path: Path, data: bytes, name: str) -> Message:
    if not data:
        return Message(code="E300", where=name, text="the file is empty", help=_HELP)
    suffix = path.suffix.lower()
    if suffix in _OTHER_FORMATS:
        text = f"{_OTHER_FORMATS[suffix]} models cannot be imported, only TensorFlow Lite and ONNX models can"
        return Message(code="E300", where=name, text=text, help=_HELP)
    if suffix == ".tflite":
        found = data[4:8].hex(" ") or "missing"
        text = f"this is not a TensorFlow Lite file: bytes 4 to 7 are {found}, not 54 46 4c 33 (TFL3)"
        return Message(code="E300", where=name, text=text, help="export or download the file again")
    text = "the file's format is not known: only TensorFlow Lite and ONNX models can be imported"
    return Message(code="E300", where=name, text=text, help=_HELP)
