"""Constants that lie in files beside the model, as PyTorch's exporter writes them: brought into the model.

A file says where they are, so nothing outside of the model's own folder is opened and nothing but regular
files, and there is a limit of bytes for all of them.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from codegen.errors import CodegenError, Message
from codegen.importers.limits import MAX_TENSORS, RAISE, STATED, ByteLimits
from codegen.importers.onnx.file.reader import Unreadable, parsed
from codegen.importers.printable_names import printable

_HELP = (
    "keep the model and its data in one folder, or save it as one file (torch.onnx.export: "
    "external_data=False)"
)
_CUT_SHORT = "the file is cut short, or another model's: export the model again"


def whole(data: bytes, folder: Path, file_name: str, limits: ByteLimits = STATED) -> bytes:
    """The bytes of an ONNX file with all constants inside; `data` itself where nothing lies outside.

    Raises CodegenError E314 for constants that cannot be brought in, E305 for too many bytes, and what
    `read_graph` raises for what is no ONNX file.
    """
    if b"location" not in data:  # the key that each such constant has
        return data
    onnx, model = parsed(data, file_name)
    try:
        brought = _Folder(folder, limits).bring_in(onnx, model)
    except Unreadable as problem:
        message = Message(code=problem.code, where=file_name, text=str(problem), help=problem.help)
        raise CodegenError(message) from problem
    return bytes(model.SerializeToString()) if brought else data


class _Folder:
    """The model's folder; counts what was read of it."""

    def __init__(self, folder: Path, limits: ByteLimits) -> None:
        self._most_bytes = limits.constants
        self._folder = folder.resolve()
        self._bytes = 0

    def bring_in(self, onnx: Any, model: Any) -> int:
        """How many constants of `model` were outside; they are inside now."""
        count = 0
        for tensor in _tensors(model):
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                continue
            count += 1
            if count > MAX_TENSORS:
                raise Unreadable("E305", f"more than {MAX_TENSORS} constants lie in other files")
            tensor.raw_data = self._read(tensor)
            tensor.data_location = onnx.TensorProto.DEFAULT
            del tensor.external_data[:]
        return count

    def _read(self, tensor: Any) -> bytes:
        what = f'constant "{printable(tensor.name)}"'
        entries = {str(entry.key): str(entry.value) for entry in tensor.external_data}
        path = self._place(entries.get("location", ""), what)
        named = printable(path.name)
        offset = _number(entries.get("offset", "0"), "offset", what)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            text = f"{what} lies in {named}, which cannot be read: {error.strerror}"
            raise Unreadable("E314", text, _HELP) from error
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("E314", f"{what} lies in {named}, which is not a regular file", _HELP)
            rest = max(0, status.st_size - offset)
            length = _number(entries.get("length", str(rest)), "length", what)
            if length > rest:
                text = f"{what} is {length} bytes of {named} from byte {offset} on, it has {status.st_size}"
                raise Unreadable("E314", text, _CUT_SHORT)
            self._bytes += length
            if self._bytes > self._most_bytes:
                text = f"constants in other files have more than {self._most_bytes} bytes together"
                raise Unreadable("E305", text, RAISE)
            return os.pread(descriptor, length, offset)
        finally:
            os.close(descriptor)

    def _place(self, location: str, what: str) -> Path:
        """The file of a constant, inside the folder whatever links there are."""
        parts = PurePosixPath(location)
        is_plain = location and "\0" not in location and "\\" not in location and not parts.is_absolute()
        if not is_plain or ".." in parts.parts:
            text = f'{what} lies in "{printable(location)}", which is no file in the folder of the model'
            raise Unreadable("E314", text, _HELP)
        try:
            path = (self._folder / parts).resolve(strict=True)
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
            reason = getattr(error, "strerror", None) or "its links lead in a circle"
            text = f"{what} lies in {printable(location)}, which cannot be read: {reason}"
            raise Unreadable("E314", text, _HELP) from error
        if not path.is_relative_to(self._folder):
            text = f"{what} lies in {printable(location)}, a link that leads out of the folder of the model"
            raise Unreadable("E314", text, _HELP)
        return path


def _number(text: str, key: str, what: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise Unreadable("E314", f'{what} lies in another file at {key} "{printable(text[:40])}"', _HELP)
    return int(text)


def _tensors(model: Any) -> Iterator[Any]:
    """Every tensor of a model: constants and attributes of its graph, of graphs inside, of functions."""
    graphs, nodes = [model.graph], [node for function in model.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            nodes.extend(graph.node)
            continue
        for attribute in nodes.pop().attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            if attribute.HasField("g"):
                graphs.append(attribute.g)
            graphs.extend(attribute.graphs)
