"""Reads a model file, tells its format and hands the bytes to that format's importer."""

import hashlib
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from codegen.errors import CodegenError, Message
from codegen.importers.c_arrays import SUFFIXES, is_tflite, model_of
from codegen.importers.file_tensors import Imported
from codegen.importers.foreign_formats import EXPORT_HELP, foreign
from codegen.importers.graph_inputs import NO_EXTENTS, Extents, FixedInput, InputSignature
from codegen.importers.limits import RAISE, STATED, ByteLimits
from codegen.importers.model_format import ModelFormat, OpenedFile, format_of, formats
from codegen.importers.printable_names import printable
from codegen.ir import Module
from codegen.ir.ops import UserKernel

_OF_ARRAYS = ".onnx"
"""End of the name that an array in a C file would have, for bytes that do not tell."""


def load(
    path: Path,
    kernels: Sequence[UserKernel] = (),
    extents: Extents = NO_EXTENTS,
    limits: ByteLimits = STATED,
    fixes: Sequence[FixedInput] = (),
) -> Module:
    """Import the model file at `path` as a module with one function in the file's operator order.

    Operators of a TFLite file that no importer translates become calls of the declared `kernels`. `extents`:
    (graph input, axis) -> extent, where it is another than the file's; the shapes of results follow. `fixes`:
    graph inputs that are constants.

    Raises CodegenError: E211 if the file cannot be read, E3xx (see this package) if it is not a model
    that can be imported, with every unsupported operator, type and option at once.
    """
    return load_with_tensors(path, kernels, extents, limits, fixes).module


def load_with_tensors(
    path: Path,
    kernels: Sequence[UserKernel] = (),
    extents: Extents = NO_EXTENTS,
    limits: ByteLimits = STATED,
    fixes: Sequence[FixedInput] = (),
) -> Imported:
    """`load`, with the tensors of the file that the module's variables hold."""
    model_format, file = _opened(path, limits, fixes)
    return model_format.load(replace(file, kernels=kernels, extents=extents))


def load_for_npu(
    path: Path, configuration: str, kernels: Sequence[UserKernel] = (), limits: ByteLimits = STATED
) -> Module:
    """`load` of what Vela makes of a .tflite file for an NPU of this configuration, with Vela's figures.

    Raises CodegenError as `load` does, E313, E317 and E318 (see `vela_compiler`).
    """
    data, name = model_bytes(path, limits), printable(path.name)
    if not is_tflite(data):
        text = "--npu compiles .tflite files, this is another format"
        raise CodegenError(Message(code="E318", where=name, text=text, help="convert the network to .tflite"))
    from codegen.importers.tflite import compiled_for, import_tflite

    compiled = compiled_for(data, name, configuration)
    module = import_tflite(compiled.data, name, kernels, NO_EXTENTS, limits)
    digest = {"sha256": hashlib.sha256(data).hexdigest()}
    return replace(module, metadata={**module.metadata, **digest, **compiled.notes})


def signatures(
    path: Path, limits: ByteLimits = STATED, fixes: Sequence[FixedInput] = ()
) -> tuple[InputSignature, ...]:
    """The graph inputs of the model file at `path`, in order. Raises CodegenError as `load` does."""
    model_format, file = _opened(path, limits, fixes)
    return model_format.signatures(file)


def model_bytes(path: Path, limits: ByteLimits = STATED, fixes: Sequence[FixedInput] = ()) -> bytes:
    """The bytes of a model file, or of the C array that a file holds; constants that lie in files beside it
    brought in, `fixes` applied.

    Raises CodegenError: E211 if the file cannot be read, E276, E300, E302, E305, E313 or E314 (see this
    package).
    """
    return _opened(path, limits, fixes)[1].data


def _opened(path: Path, limits: ByteLimits, fixes: Sequence[FixedInput]) -> tuple[ModelFormat, OpenedFile]:
    """The format of a file, and its bytes as that format's importer takes them. Raises as `model_bytes`."""
    data = _read(path, limits.constants)
    name, suffix = printable(path.name), path.suffix.lower()
    model_format = format_of(data, "")
    if model_format is None and data and foreign(path, data, name) is None:
        if suffix in SUFFIXES:
            data, suffix = model_of(data, name), _OF_ARRAYS
        model_format = format_of(data, suffix)
    if model_format is None:
        raise CodegenError(_unknown(path, data, name))
    file = OpenedFile(data=data, name=name, folder=path.parent, limits=limits, fixes=fixes)
    return model_format, replace(file, data=model_format.whole(file))


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
        return Message(code="E300", where=name, text="the file is empty", help=EXPORT_HELP)
    if (message := foreign(path, data, name)) is not None:
        return message
    if path.suffix.lower() == ".tflite":
        magic = data[4:8].hex(" ") or "missing"
        text = f"this is not a TensorFlow Lite file: bytes 4 to 7 are {magic}, not 54 46 4c 33 (TFL3)"
        return Message(code="E300", where=name, text=text, help="export or download the file again")
    *names, last = (row.name for row in formats())
    known = f"{', '.join(names)} and {last}"
    text = f"the file's format is not known: only {known} models can be imported"
    return Message(code="E300", where=name, text=text, help=EXPORT_HELP)
