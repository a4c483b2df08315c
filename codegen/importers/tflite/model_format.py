"""TensorFlow Lite as a format of model files: bytes 4 to 7 tell it."""

from codegen.importers.c_arrays import is_tflite
from codegen.importers.file_tensors import Imported, tensors_by_origin
from codegen.importers.graph_inputs import InputSignature, refuse_others
from codegen.importers.model_format import ModelFormat, OpenedFile


def _whole(file: OpenedFile) -> bytes:
    refuse_others(file.name, file.fixes)
    return file.data


def _load(file: OpenedFile) -> Imported:
    from codegen.importers.tflite import import_tflite

    module = import_tflite(file.data, file.name, file.kernels, file.extents, file.limits)
    return Imported(module=module, tensors=tensors_by_origin(module))


def _signatures(file: OpenedFile) -> tuple[InputSignature, ...]:
    from codegen.importers.tflite import input_signatures

    return input_signatures(file.data, file.name)


FORMAT = ModelFormat(
    name="TensorFlow Lite",
    suffixes=(),
    has_contents=is_tflite,
    whole=_whole,
    load=_load,
    signatures=_signatures,
)
