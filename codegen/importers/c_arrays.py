"""Models as C arrays (`xxd -i`, model.h, model_data.cc): the bytes of the model that a C file holds."""

import re
from collections.abc import Iterator

from codegen.errors import CodegenError, Message, listed

SUFFIXES = (".h", ".hh", ".hpp", ".c", ".cc", ".cpp", ".cxx", ".inc", ".ino")
_MOST_TEXT_BYTES = 64 << 20
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ARRAY = re.compile(rb"([A-Za-z_]\w*)\s*\[[^\]]*\][^={};]*=\s*\{([^{}]*)\}")
_LEAST_BYTES = 16
"""Shorter arrays hold no model."""
_TFLITE, _ONNX_START = b"TFL3", b"\x08"
"""Signatures: bytes 4 to 7 of a .tflite; the first bytes of an .onnx, the version of its IR."""


def model_of(text: bytes, name: str) -> bytes:
    """The model's bytes.

    Raises CodegenError E300 for a file without one array that is a .tflite or .onnx file, E305 for one that
    is too long.
    """
    if len(text) > _MOST_TEXT_BYTES:
        words = f"the C file has {len(text):,} bytes, up to {_MOST_TEXT_BYTES:,} are read"
        help_ = "give the .tflite or .onnx file that it was made from"
        raise CodegenError(Message(code="E305", where=name, text=words, help=help_))
    arrays = dict(_arrays(_COMMENT.sub(b" ", text)))
    models = {key: data for key, data in arrays.items() if data[4:8] == _TFLITE}
    models = models or {key: data for key, data in arrays.items() if data.startswith(_ONNX_START)}
    if len(models) == 1:
        return next(iter(models.values()))
    raise CodegenError(_refusal(list(models), list(arrays), name))


def is_tflite(data: bytes) -> bool:
    """True if the bytes are those of a .tflite file."""
    return data[4:8] == _TFLITE


def _arrays(text: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each array of whole numbers that fit in a byte."""
    for match in _ARRAY.finditer(text):
        words = match[2].replace(b",", b" ").split()
        if len(words) < _LEAST_BYTES:
            continue
        try:
            yield match[1].decode(), bytes(int(word, 0) & 0xFF for word in words)
        except ValueError:
            continue  # names, floats, characters: no bytes of a file


def _refusal(models: list[str], arrays: list[str], name: str) -> Message:
    if models:
        text, help_ = f"it holds {len(models)} models: {listed(models)}", "leave one array in the file"
    elif arrays:
        text = f"no array in this C file is a .tflite or .onnx file; its arrays are {listed(arrays, 8)}"
        help_ = "`xxd -i model.tflite > model.h` writes one; or give the .tflite or .onnx file itself"
    else:
        text = "this C file holds no array of bytes: it may only declare the model"
        help_ = "give the file with the numbers (often model_data.cc), or the .tflite or .onnx file itself"
    return Message(code="E300", where=name, text=text, help=help_)
