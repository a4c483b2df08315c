"""Files that people give as models and that are none: one row a format, with what to do.

First bytes tell a format, else its name.
"""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import Message, listed

EXPORT_HELP = (
    "give a .tflite file (TensorFlow: tf.lite.TFLiteConverter; PyTorch: ai-edge-torch) or an .onnx file "
    "(PyTorch: torch.onnx.export)"
)
_KERAS_HELP = (
    "convert it in Python: `m = tf.keras.models.load_model('{name}')`, then write "
    "`tf.lite.TFLiteConverter.from_keras_model(m).convert()` to a .tflite file"
)
_SAVED_HELP = (
    "convert it in Python: write `tf.lite.TFLiteConverter.from_saved_model(FOLDER).convert()` to a .tflite "
    "file"
)
_TORCH_HELP = (
    "load it in Python and export it: `torch.onnx.export(module.eval(), (example_input,), 'model.onnx')`"
)
_SOURCE_HELP = "export the model that it was made from once more, as .tflite or .onnx"


@dataclass(frozen=True, kw_only=True, slots=True)
class ForeignFormat:
    """A format that no importer reads."""

    text: str
    """Name of the format, behind "this is"."""
    help: str
    magics: tuple[tuple[int, bytes], ...] = ()
    """Offset and bytes there; one of them is enough. Without them the name decides."""
    suffixes: tuple[str, ...] = ()
    """Suffixes that tell the format where the first bytes do not."""


FORMATS = (
    ForeignFormat(
        text="a Git LFS pointer, not the model: it says where the model is kept",
        help="fetch the model: `git lfs install && git lfs pull` in the repository",
        magics=((0, b"version https://git-lfs"),),
    ),
    ForeignFormat(
        text="an HTML page, not a model: the download gave the page around the file, or an error",
        help="download the raw file: on GitHub by the button `Download raw file`, elsewhere by the link of "
        "the file itself (Hugging Face: /resolve/ in place of /blob/)",
        magics=((0, b"<!doctype html"), (0, b"<html"), (0, b"<head")),
        suffixes=(".html", ".htm"),
    ),
    ForeignFormat(
        text="an XML file: a network of OpenVINO, or a server's error in place of the file",
        help="download the file once more; " + _SOURCE_HELP,
        magics=((0, b"<?xml"),),
        suffixes=(".xml",),
    ),
    ForeignFormat(
        text="a Keras model (HDF5)",
        help=_KERAS_HELP,
        magics=((0, b"\x89hdf\r\n\x1a\n"),),
        suffixes=(".h5", ".hdf5"),
    ),
    ForeignFormat(text="a Keras model", help=_KERAS_HELP, suffixes=(".keras",)),
    ForeignFormat(text="a PyTorch model or its weights", help=_TORCH_HELP, suffixes=(".pt", ".pth", ".ptl")),
    ForeignFormat(
        text="an ExecuTorch program",
        help="an ExecuTorch program cannot be taken back to a network: export the PyTorch module, "
        "`torch.onnx.export(module.eval(), (example_input,), 'model.onnx')`",
        magics=((4, b"et12"), (4, b"et11"), (4, b"et10")),
        suffixes=(".pte",),
    ),
    ForeignFormat(
        text="a TensorFlow graph (SavedModel or frozen)",
        help=_SAVED_HELP + "; a frozen graph by tf.compat.v1.lite.TFLiteConverter.from_frozen_graph",
        suffixes=(".pb", ".pbtxt", ".ckpt", ".meta"),
    ),
    ForeignFormat(
        text="a TensorRT engine, compiled for one GPU",
        help=_SOURCE_HELP,
        magics=((0, b"ftrt"), (0, b"ptrt")),
        suffixes=(".engine", ".plan", ".trt"),
    ),
    ForeignFormat(
        text="a model of Core ML",
        help=_SOURCE_HELP,
        suffixes=(".mlmodel", ".mlpackage"),
    ),
    ForeignFormat(
        text="a model of OpenVINO, ncnn, MNN, Caffe or a vendor's compiler",
        help=_SOURCE_HELP,
        suffixes=(
            *(".bin", ".param", ".mnn", ".caffemodel", ".prototxt", ".rknn", ".nb", ".kmodel"),
            *(".dlc", ".hef", ".om", ".espdl", ".tmfile", ".nnef"),
        ),
    ),
    ForeignFormat(
        text="weights without a network",
        help="load them into the network in Python and export that, as .tflite or .onnx",
        suffixes=(".safetensors", ".gguf", ".npz", ".npy", ".weights", ".ggml"),
        magics=((0, b"gguf"), (0, b"\x93numpy")),
    ),
    ForeignFormat(
        text="a Python object (pickle), as scikit-learn and old PyTorch save models",
        help="load it in Python and export it: PyTorch by torch.onnx.export, scikit-learn by skl2onnx",
        magics=tuple((0, b"\x80" + bytes([version])) for version in (2, 3, 4, 5)),
        suffixes=(".pkl", ".pickle", ".joblib"),
    ),
    ForeignFormat(
        text="a compressed archive",
        help="unpack it and give the .tflite or .onnx file that is in it",
        magics=((0, b"\x1f\x8b"), (0, b"bzh"), (0, b"\xfd7zxz"), (0, b"7z\xbc\xaf")),
        suffixes=(".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".rar"),
    ),
    ForeignFormat(
        text="a Python program or notebook, not a model",
        help="run it: it may write the model; " + EXPORT_HELP,
        suffixes=(".py", ".ipynb"),
    ),
    ForeignFormat(
        text="a picture or sound, not a model",
        help="give the model; its inputs go into an .npz file (--input)",
        magics=((0, b"\x89png"), (0, b"\xff\xd8\xff"), (0, b"riff"), (0, b"gif8")),
        suffixes=(".png", ".jpg", ".jpeg", ".wav", ".bmp"),
    ),
    ForeignFormat(
        text="an ELF file: compiled code, not a model",
        help="give the model that it was built from",
        magics=((0, b"\x7felf"),),
        suffixes=(".elf", ".axf", ".hex", ".uf2", ".o", ".a"),
    ),
)
"""The first that fits counts; first bytes before names."""

_SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")


def foreign(path: Path, data: bytes, name: str) -> Message | None:
    """E300 for a file of a format that is told apart; None if it is none of them."""
    if data.startswith(b"PK\x03\x04"):
        return _of_zip(path, data, name)
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower() if data[:1].isspace() else data[:512].lower()
    suffix = path.suffix.lower()
    by_bytes = (row for row in FORMATS if any(head[at:].startswith(magic) for at, magic in row.magics))
    by_name = (row for row in FORMATS if suffix in row.suffixes)
    row = next(by_bytes, None) or next(by_name, None)
    return None if row is None else _message(row, name)


def _message(row: ForeignFormat, name: str) -> Message:
    return Message(code="E300", where=name, text=f"this is {row.text}", help=row.help.format(name=name))


def _of_zip(path: Path, data: bytes, name: str) -> Message:
    """A Keras or PyTorch model is a zip; of any other one it is said what is in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError):
        help_ = "download it once more: the archive is cut off or damaged"
        return Message(code="E300", where=name, text="this is a zip archive that cannot be read", help=help_)
    by_suffix = {suffix: row for row in FORMATS for suffix in row.suffixes}
    if "model.weights.h5" in names or path.suffix.lower() == ".keras":
        return _message(by_suffix[".keras"], name)
    if any(member.endswith("data.pkl") for member in names):
        return _message(by_suffix[".pt"], name)
    if names and all(member.endswith(".npy") for member in names):
        return _message(by_suffix[".npz"], name)
    models = [member for member in names if member.lower().endswith((".tflite", ".onnx", ".h", ".cc"))]
    inside = f"; in it is {listed(models, 5)}" if models else "; no .tflite or .onnx file is in it"
    help_ = f"unpack it: `unzip {name}`, and give the model that is in it" if models else EXPORT_HELP
    return Message(code="E300", where=name, text=f"this is a zip archive{inside}", help=help_)


def saved_model_folder(names: Sequence[str], folder: Path) -> Message | None:
    """E204 for a folder that is a model of TensorFlow; `names`: what is in it. None if it is none."""
    if not any(name in names for name in _SAVED_MODEL):
        return None
    text = f"{folder} is a SavedModel folder of TensorFlow"
    return Message(code="E204", text=text, help=_SAVED_HELP.replace("FOLDER", f"'{folder}'"))
