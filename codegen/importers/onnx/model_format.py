"""ONNX as a format of model files: its contents have no mark, the name of the file decides."""

from codegen.importers.file_tensors import Imported
from codegen.importers.graph_inputs import InputSignature
from codegen.importers.model_format import ModelFormat, OpenedFile


def _whole(file: OpenedFile) -> bytes:
    from codegen.importers.onnx import whole
    from codegen.importers.onnx.file.fixing import with_constants

    return with_constants(whole(file.data, file.folder, file.name, file.limits), file.name, file.fixes)


def _load(file: OpenedFile) -> Imported:
    from codegen.importers.onnx import import_with_tensors

    return import_with_tensors(file.data, file.name, file.extents, file.limits)


def _signatures(file: OpenedFile) -> tuple[InputSignature, ...]:
    from codegen.importers.onnx import graph_inputs

    return graph_inputs(file.data, file.name, file.limits)


FORMAT = ModelFormat(
    name="ONNX",
    suffixes=(".onnx",),
    has_contents=lambda data: False,
    whole=_whole,
    load=_load,
    signatures=_signatures,
)
