"""Imports an ONNX file: its module, and the tensors that the module's variables hold."""

import hashlib

from codegen.importers.file_tensors import Imported
from codegen.importers.graph_inputs import NO_EXTENTS, Extents
from codegen.importers.limits import STATED, ByteLimits
from codegen.importers.onnx.file.reader import read_graph
from codegen.importers.onnx.graph import GraphTranslation
from codegen.ir import Module


def import_onnx(
    data: bytes, file_name: str, extents: Extents = NO_EXTENTS, limits: ByteLimits = STATED
) -> Module:
    """The module of `import_with_tensors`."""
    return import_with_tensors(data, file_name, extents, limits).module


def import_with_tensors(
    data: bytes, file_name: str, extents: Extents = NO_EXTENTS, limits: ByteLimits = STATED
) -> Imported:
    """Import the bytes of an ONNX file; `file_name` serves messages and the module's metadata.

    `extents`: (graph input, axis) -> extent, where it is another than the file's.

    Raises CodegenError E301..E306, E313 (see `codegen.importers`): a damaged file at once, otherwise
    everything that is wrong or unsupported together.
    """
    translation = GraphTranslation(read_graph(data, file_name, limits), file_name, extents, limits)
    function = translation.run()
    module = Module(
        functions={function.name: function},
        constants=translation.steps.constants,
        metadata={
            **{"format": "onnx", "sha256": hashlib.sha256(data).hexdigest(), "file": file_name},
            **translation.notes(),
        },
    )
    return Imported(module=module, tensors=translation.tensors())
