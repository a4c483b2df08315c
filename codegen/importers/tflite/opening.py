"""Opens a TFLite file: its records, what its inputs are, and which of its operators nothing imports."""

from collections.abc import Sequence

from codegen.errors import CodegenError, Message
from codegen.importers.graph_inputs import InputSignature
from codegen.importers.printable_names import printable
from codegen.importers.reporting import ImportReport
from codegen.importers.tflite.file.reader import FileModel, kind_of, operator_codes, read
from codegen.importers.tflite.operators.translators import imported_ops
from codegen.importers.tflite.problems import unsupported
from codegen.ir.ops import UserKernel


def input_signatures(data: bytes, file_name: str) -> tuple[InputSignature, ...]:
    """The graph inputs of a file, in order. Raises CodegenError for a damaged file."""
    model = read(data, file_name)
    signatures: list[InputSignature] = []
    for index in model.inputs:
        tensor = model.tensors[index] if 0 <= index < len(model.tensors) else None
        if tensor is not None:
            shape = tensor.signature or tensor.shape
            signatures.append(InputSignature(name=printable(tensor.name), shape=shape))
    return tuple(signatures)


def opened(data: bytes, file_name: str, kernels: Sequence[UserKernel]) -> FileModel:
    """The file's records; of one that is too large, the operators that are missing are told as well."""
    try:
        return read(data, file_name)
    except CodegenError as error:
        if error.messages[0].code != "E305":
            raise
        raise CodegenError([*_missing_kinds(data, file_name, kernels), *error.messages]) from error


def _missing_kinds(data: bytes, file_name: str, kernels: Sequence[UserKernel]) -> tuple[Message, ...]:
    """Messages about kinds of operators that a file lists and nothing imports."""
    report = ImportReport(file_name)
    declared_ops = {kernel.op for kernel in kernels}
    try:
        codes = operator_codes(data, file_name)
    except CodegenError:
        return ()
    for name, custom_name in codes:
        if kind_of(name, custom_name) not in imported_ops() and (custom_name or name) not in declared_ops:
            report.add(unsupported(name, custom_name, outputs=1), missing=True)
    return report.messages
