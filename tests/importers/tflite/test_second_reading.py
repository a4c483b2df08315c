"""What the importer reads is what the file says: compared with a second reading that shares nothing with it.

`builtin_code` alone was read as ADD: the accessor of the schema package gives the old byte there. A reference
from the same misreading agreed, so here the bytes are read again, and the reference engine is asked.
"""

import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
import tflite

from codegen.importers.printable_names import uncontrolled
from codegen.importers.tflite.file import flatbuffer, option_tables
from codegen.importers.tflite.file.reader import FileModel, FileOperator, FileTensor, read
from codegen.importers.tflite.writing import writer_options
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from tests import opgen
from tests.engines import TFLITE_RUNTIME, ReadOperator, available, read_operators
from tests.importers.samples import Patch, complaint, everything, imported, one_op, schema_word
from tests.importers.tflite.second_reading import OPTION_TABLES, second_reading
from tests.networks import NAMES, drawn

needs_engine = pytest.mark.skipif(TFLITE_RUNTIME not in available(), reason="tflite-runtime is not installed")
NONE: Mapping[str, Any] = {}
TYPE_NAMES = {code: name for name, code in writer_options.TENSOR_TYPES.items()}


@cache
def files() -> dict[str, bytes]:
    """Networks and generated models. GELU has options that the second reading does not know."""
    cases = {case.name: case.model for case in opgen.cases()[::67] if case.operator != "GELU"}
    return {name: drawn(name).model for name in NAMES} | cases


def _text(name: bytes | None) -> str:
    return uncontrolled((name or b"").decode("utf-8", errors="replace"))


def _tensor_said(tensor: dict[str, Any], buffers: list[dict[str, Any]]) -> dict[str, Any]:
    """What a tensor of the second reading says, of all that the importer reads."""
    quantization: Mapping[str, Any] = tensor["quantization"] or NONE
    return {
        "name": _text(tensor["name"]),
        "shape": tensor["shape"],
        "signature": tensor["shape_signature"],
        "type": tensor["type"],
        "variable": tensor["is_variable"],
        "sparse": tensor["sparsity"] is not None,
        "scales": quantization.get("scale", []),
        "zero_points": quantization.get("zero_point", []),
        "axis": quantization.get("quantized_dimension", 0),
        "custom_quantization": bool(quantization.get("details_type")),
        "data": bytes(cast(list[int], buffers[tensor["buffer"]]["data"])),
    }


def _operator_said(operator: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] | None = operator["options"]
    return {
        "code": operator["code"],
        "custom_name": _text(operator["custom_code"].encode()),
        "inputs": operator["inputs"],
        "outputs": operator["outputs"],
        "custom_options": bytes(cast(list[int], operator["custom_options"])),
        "options_kind": operator["builtin_options_type"],
        "options": None
        if options is None
        else {word: value for word, value in options.items() if not word.startswith("_")},
    }


def said(data: bytes) -> dict[str, Any]:
    """The second reading of the first subgraph, of all that the importer reads."""
    model = second_reading(data)
    graph = model["subgraphs"][0]
    return {
        "tensors": [_tensor_said(tensor, model["buffers"]) for tensor in graph["tensors"]],
        "operators": [_operator_said(operator) for operator in graph["operators"]],
        "inputs": graph["inputs"],
        "outputs": graph["outputs"],
        "entry_subgraphs": [entry["subgraph_index"] for entry in model["signature_defs"]],
    }


def _option_values(operator: FileOperator) -> dict[str, Any]:
    """Options as the importer gets them: by the accessors of the schema package."""
    table = option_tables.BY_OPERATOR.get(operator.name)
    if table is None or operator.options is None:
        return {}
    options = getattr(cast(Any, tflite), table.union)()
    options.Init(operator.options.Bytes, operator.options.Pos)
    found: dict[str, Any] = {}
    words = {
        kind: {code: word for word, code in codes.items()}
        for kind, codes in (
            (option_tables.OptionStorage.PADDING, writer_options.PADDINGS),
            (option_tables.OptionStorage.ACTIVATION, writer_options.ACTIVATIONS),
            (option_tables.OptionStorage.TYPE, writer_options.TENSOR_TYPES),
        )
    }
    for option, field in table.fields.items():
        word = schema_word(option)
        if hasattr(options, f"{word}Length"):
            count = getattr(options, f"{word}Length")()
            found[option] = [int(getattr(options, word)(position)) for position in range(count)]
        else:
            value: Any = getattr(options, word)()
            value = (
                value.decode()
                if field.kind is option_tables.OptionStorage.TEXT and value is not None
                else value
            )
            if value is not None:
                found[option] = words[field.kind][value] if field.kind in words else value
    return found


def _read_tensor(tensor: FileTensor, model: FileModel) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "signature": list(tensor.signature),
        "type": tensor.type_code,
        "variable": tensor.variable,
        "sparse": tensor.sparse,
        "scales": tensor.quantization.scales.tolist(),
        "zero_points": tensor.quantization.zero_points.tolist(),
        "axis": tensor.quantization.axis,
        "custom_quantization": tensor.quantization.is_custom,
        "data": model.buffers[tensor.buffer].tobytes(),
    }


def _read_operator(operator: FileOperator) -> dict[str, Any]:
    return {
        "code": writer_options.builtin_code(operator.name),
        "custom_name": operator.custom_name,
        "inputs": list(operator.inputs),
        "outputs": list(operator.outputs),
        "custom_options": operator.custom_options,
        "options_kind": operator.options_kind,
    }


def was_read(model: FileModel) -> dict[str, Any]:
    """What the importer's reader made of a file, in the words of `said`."""
    return {
        "tensors": [_read_tensor(tensor, model) for tensor in model.tensors],
        "operators": [_read_operator(operator) for operator in model.operators],
        "inputs": list(model.inputs),
        "outputs": list(model.outputs),
        "entry_subgraphs": list(model.entry_subgraphs),
    }


def written_back(model: FileModel) -> bytes:
    """The records of the importer's reader as a file."""
    builder = ModelBuilder()
    for tensor in model.tensors:
        name = TYPE_NAMES[tensor.type_code]
        data = model.buffers[tensor.buffer]
        builder.tensor(
            tensor.name,
            tensor.shape,
            name,
            scale=tensor.quantization.scales.tolist() or None,
            zero_point=tensor.quantization.zero_points.tolist() or 0,
            axis=tensor.quantization.axis if len(tensor.shape) > 1 else 0,
            data=data.view(np.dtype(name).newbyteorder("<")).reshape(tensor.shape) if len(data) else None,
            shape_signature=tensor.signature or None,
            variable=tensor.variable,
        )
    for operator in model.operators:
        builder.op(
            operator.name,
            [None if tensor == -1 else tensor for tensor in operator.inputs],
            operator.outputs,
            custom=Custom(code=operator.custom_name, options=operator.custom_options),
            **_option_values(operator),
        )
    builder.inputs(*model.inputs)
    builder.outputs(*model.outputs)
    return builder.build()


def differences(left: Any, right: Any, where: str = "") -> Iterator[str]:
    """Every leaf in which two readings differ, of the words that the left one has."""
    if isinstance(left, dict):
        for word, value in cast(dict[str, Any], left).items():
            yield from differences(value, right[word], f"{where}.{word}")
    elif isinstance(left, list) and left and isinstance(left[0], dict):
        items = cast(list[Any], left)
        if len(items) != len(right):
            yield f"{where}: {len(items)} and {len(right)}"
        for number, (one, other) in enumerate(zip(items, right, strict=False)):
            yield from differences(one, other, f"{where}[{number}]")
    elif left != right:
        yield f"{where}: {left!r} and {right!r}"


def what_the_writer_says(found: dict[str, Any]) -> dict[str, Any]:
    """Only what the writer can say: options of kinds that it has, no entry points, an axis that there is."""
    del found["entry_subgraphs"]
    for tensor in found["tensors"]:
        tensor["axis"] = tensor["axis"] if tensor["scales"] and len(tensor["shape"]) > 1 else 0
    for operator in found["operators"]:
        if operator["options"] is None:
            del operator["options"], operator["options_kind"]
    return found


def test_every_file_is_read_as_a_second_reading_has_it() -> None:
    assert len(files()) >= 200
    assert set(OPTION_TABLES) == set(flatbuffer.OPTIONS)
    for key, data in files().items():
        assert list(differences(was_read(read(data, key)), said(data), key)) == []


def test_what_was_read_of_every_file_is_written_back() -> None:
    """Options by their schema accessors, quantisation, data: the new file says what the first said."""
    options = 0
    for key, data in files().items():
        if "int4" in key:  # packed, which the reader leaves as it is
            continue
        wanted = what_the_writer_says(said(data))
        assert list(differences(wanted, said(written_back(read(data, key))), key)) == []
        options += sum("options" in operator for operator in wanted["operators"])
    assert options > 200


@needs_engine
def test_the_reference_engine_reads_the_same_operators() -> None:
    """Names, inputs and outputs by tflite-runtime's own reader, of every file that it opens."""
    answers = read_operators(list(files().values()))
    assert sum(answer is not None for answer in answers) >= 180
    for (key, data), answer in zip(files().items(), answers, strict=True):
        if answer is not None:
            assert as_engine(data) == answer, key


def as_engine(data: bytes) -> tuple[ReadOperator, ...]:
    return tuple(
        ReadOperator(name=op.custom_name or op.name, inputs=op.inputs, outputs=op.outputs)
        for op in read(data, "m").operators
    )


def _in_fields(data: bytes, *, byte: bool = True, new: bool = True) -> bytes:
    """The same file, its operator codes in the old byte, in the new field, or in both."""
    patch = Patch(data)
    for number in range(patch.model.OperatorCodesLength()):
        code = patch.model.OperatorCodes(number)
        for field, form, kept in ((0, "<b", byte), (3, "<i", new)):
            if not kept and code._tab.Offset(4 + 2 * field):
                patch.scalar(code, field, form, 0)
    return patch.build()


def test_an_operator_code_in_the_new_field_alone_is_read() -> None:
    """Every code became ADD: valid files were refused, invalid ones compiled."""
    both, new = everything(), _in_fields(everything(), byte=False)
    assert new != both
    assert [op.name for op in read(new, "m").operators] == [op.name for op in read(both, "m").operators]
    assert str(imported(new).main) == str(imported(both).main)
    assert str(imported(_in_fields(everything(), new=False)).main) == str(imported(both).main)


VENDORS = {
    "edgetpu-custom-op": "the compiler for Google's Edge TPU",
    "NeutronGraph": "NXP's converter for the Neutron",
    "DISPATCH_OP": "LiteRT's compiler for an NPU",
    "XC_conv2d_v2": "XMOS's optimiser for the xcore",
    "any other": "",
}
WAYS = [{}, {"byte": False}, {"new": False}]


def _vendor_file(name: str) -> bytes:
    """What a vendor's compiler leaves: an operator of its own, of the shape and types of an ADD."""
    model = ModelBuilder()
    a, b, y = (model.tensor(tensor, (1, 4), scale=0.5) for tensor in ("a", "b", "y"))
    model.op("CUSTOM", [a, b], [y], custom=Custom(code=name, options=b"\x01\x04\x01"))
    model.inputs(a, b)
    model.outputs(y)
    return model.build()


@pytest.mark.parametrize("way", WAYS, ids=["both", "new field", "old byte"])
@pytest.mark.parametrize("name", VENDORS)
def test_a_vendors_operator_is_refused_by_its_name(name: str, way: dict[str, bool]) -> None:
    """Those with the code in the new field alone were compiled as ADD, and checked equal with themselves."""
    text, advice = complaint(_in_fields(_vendor_file(name), **way)).split("\n")
    whose = f": it is what {VENDORS[name]} made of layers" if VENDORS[name] else ""
    assert text == f'error[E301] op 0 CUSTOM "y": custom operator "{name}" is not supported{whose}'
    assert ("use the file from before the vendor's compiler" in advice) == bool(whose)
    assert "docs/user_kernels.md" in advice


@needs_engine
def test_the_engine_agrees_on_files_with_one_field_only() -> None:
    files = [_in_fields(_vendor_file(name), **way) for name in VENDORS for way in WAYS]
    files += [_in_fields(everything(), **way) for way in WAYS]
    for data, answer in zip(files, read_operators(files), strict=True):
        assert answer == as_engine(data)


def _with_options_behind(data: bytes, options: bytes) -> bytes:
    """A file of one operator, that operator once more behind it, with its options behind that."""
    patch = Patch(data + bytes(-len(data) % 8))
    table = len(patch.data) + 32
    entry = int(patch.graph._tab.Vector(patch.graph._tab.Offset(4 + 2 * 3)))
    struct.pack_into("<I", patch.data, entry, table - entry)
    fields = [0, 4, 8, 0, 0, 0, 0, 0, 0, 16, 24]  # inputs, outputs, offset and size of the options
    patch.data += struct.pack("<13H6x", 26, 32, *fields)
    patch.data += struct.pack("<iIIIQQ", 32, 28, 32, 0, table + 48, len(options))
    patch.data += struct.pack("<IiIi", 1, 0, 1, 1) + options
    return patch.build()


def test_options_behind_the_flatbuffer_are_read() -> None:
    """Large options lie behind the tables, as large buffers do; such an operator seemed to have none."""
    data = _with_options_behind(one_op("CUSTOM", (1, 4), (1, 4), custom=Custom(code="Mine")), b"behind")
    assert read(data, "m").operators[0].custom_options == b"behind"
    assert list(differences(was_read(read(data, "m")), said(data))) == []
    assert "a custom operator's options would lie at bytes" in complaint(data[:-1])
