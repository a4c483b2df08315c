"""Text of the IR as a format of model files: the first word tells it."""

import hashlib
from dataclasses import replace

from codegen.importers.file_tensors import Imported
from codegen.importers.graph_inputs import InputSignature
from codegen.importers.model_format import ModelFormat, OpenedFile
from codegen.ir.text import parse_module


def _load(file: OpenedFile) -> Imported:
    digest = hashlib.sha256(file.data).hexdigest()
    metadata = {"format": "toy", "file": file.name, "sha256": digest}
    module = replace(parse_module(file.data.decode()), metadata=metadata)
    return Imported(module=module, tensors=())


def _signatures(file: OpenedFile) -> tuple[InputSignature, ...]:
    return ()


FORMAT = ModelFormat(
    name="toy text",
    suffixes=(".toy",),
    has_contents=lambda data: data.startswith(b"module\n"),
    whole=lambda file: file.data,
    load=_load,
    signatures=_signatures,
)
