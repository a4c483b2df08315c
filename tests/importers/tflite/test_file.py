"""The verifier's picture of the schema against the schema package's own accessors.
Operators with a declared kernel: what the importer takes, and what it refuses.
Offline plans for TFLite Micro: the problem of a file, the metadata, and what the engine makes of it.
"""

import importlib
import inspect
import re
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tflite.Model import Model

from codegen import importers
from codegen.errors import CodegenError
from codegen.importers.tflite import import_tflite
from codegen.importers.tflite.file import flatbuffer
from codegen.importers.tflite.file.offline_plan import METADATA, tensor_problem, with_offline_plan
from codegen.importers.tflite.writing.writer import Custom, ModelBuilder
from codegen.ir import ConstRef, Var
from codegen.ir.ops import UserAttrs, UserKernel
from codegen.plan.place.bounds import lower_bound
from codegen.plan.place.hill_climb import hill_climb
from codegen.plan.validate import violations
from codegen.problem.problem import Limits, MemoryPlan, peak_bytes
from tests.engines import TFLITE_MICRO, EngineError, Request, arena_head_bytes, available, evaluate
from tests.importers.samples import schema_word
from tests.networks import NAMES, drawn, model_path

SIZES = {"Bool": 1, "Int8": 1, "Uint8": 1, "Int32": 4, "Uint32": 4, "Float32": 4, "Int64": 8, "Uint64": 8}


def _tables(table: flatbuffer.SchemaTable) -> Iterator[flatbuffer.SchemaTable]:
    yield table
    for _, field in table.fields.values():
        if isinstance(field, flatbuffer.Child | flatbuffer.Children) and field.layout is not None:
            yield from _tables(field.layout)
        elif isinstance(field, flatbuffer.Choice):
            yield from field.layouts.values()


def _kind(body: str) -> str:
    if "self._tab.String" in body:
        return "text"
    if "self._tab.Union" in body:
        return "choice"
    if "obj.Init" in body:
        return "children" if "self._tab.Vector" in body else "child"
    found = re.search(r"number_types\.(\w+)Flags, (o|a)\b", body)
    assert found is not None
    return f"{'scalars' if found[2] == 'a' else 'scalar'} {SIZES[found[1]]}"


def _expected(field: flatbuffer.Field) -> str:
    if isinstance(field, flatbuffer.Scalar | flatbuffer.Scalars):
        return f"{type(field).__name__.lower()} {field.size_bytes}"
    return {
        flatbuffer.Text: "text",
        flatbuffer.Child: "child",
        flatbuffer.Children: "children",
        flatbuffer.Choice: "choice",
    }[type(field)]


@pytest.mark.parametrize("table", list(_tables(flatbuffer.MODEL)), ids=lambda table: table.name)
def test_field_numbers_and_kinds(table: flatbuffer.SchemaTable) -> None:
    schema = getattr(importlib.import_module(f"tflite.{table.name}"), table.name)
    for number, (name, field) in table.fields.items():
        source = inspect.getsource(getattr(schema, schema_word(name)))
        assert f"Offset({4 + 2 * number})" in source, name
        assert _kind(source) == _expected(field), name


KERNEL = UserKernel(op="POW", symbol="power", source="power.c", text="")


def _refusal(model: ModelBuilder) -> str:
    with pytest.raises(CodegenError) as caught:
        import_tflite(model.build(), "m.tflite", (KERNEL,))
    return str(caught.value)


def test_a_call_is_as_the_file_says() -> None:
    """An input left out, a constant, options; the result's shape is believed."""
    model = ModelBuilder()
    x = model.tensor("user0", (1, 4), scale=0.5)
    k = model.tensor("k", (3,), "int32", data=[1, 2, 3])
    y = model.tensor("y", (2, 5), "int16", scale=0.25)
    model.op("CUSTOM", [x, None, k], [y], custom=Custom(code="Mine", options=b"\x01\xff"))
    model.inputs(x)
    model.outputs(y)
    mine = UserKernel(op="Mine", symbol="mine", source="mine.c", text="int x;")
    module = import_tflite(model.build(), "m.tflite", (KERNEL, mine))
    [let] = module.main.body
    first, left_out, constant = let.call.args
    assert isinstance(first, Var) and first.name == "x_user0" and left_out is None
    assert isinstance(constant, ConstRef) and module.constants[constant.id].data.tolist() == [1, 2, 3]
    assert let.call.attrs == UserAttrs(kernel=mine, shape=(2, 5), options=(1, 255))
    assert let.var.type.shape == (2, 5) and let.where == 'op 0 CUSTOM "y"'
    with pytest.raises(ValueError, match="Mine is computed by the user's kernel alone"):
        let.call.op.evaluate(let.call.attrs, [], [], let.var.type)


def test_several_results_are_refused() -> None:
    model = ModelBuilder()
    x, y, z = (model.tensor(name, (1, 4), scale=0.5) for name in "xyz")
    model.op("POW", [x, x], [y, z])
    model.inputs(x)
    model.outputs(y, z)
    assert _refusal(model) == (
        'error[E301] op 0 POW "y": has 2 outputs; a kernel declared in codegen.toml computes one result\n'
        "help: convert the model so that this operator has one output"
    )


def test_a_constant_result_is_refused() -> None:
    model = ModelBuilder()
    x, y, z = (model.tensor(name, (1, 4), scale=0.5) for name in "xyz")
    k = model.tensor("k", (1, 4), scale=0.5, data=np.ones((1, 4), np.int8))
    model.op("POW", [k, k], [y])
    model.op("POW", [x, y], [z])
    model.inputs(x)
    model.outputs(z)
    assert _refusal(model) == (
        'error[E301] op 0 POW "y": depends on no input of the model: its result is a constant that only '
        "its kernel could compute\nhelp: convert the model with the result as a constant"
    )


needs_micro = pytest.mark.skipif(TFLITE_MICRO not in available(), reason="tflite-micro is not installed")
ROOM = 1 << 28


def relus(**changes: Any) -> bytes:
    """x (20 bytes) -> a -> b, with data that an offline plan must leave alone."""
    model = ModelBuilder(description="two steps", metadata=changes.get("metadata", {"other": b"kept"}))
    x = model.tensor("x", (1, 20), scale=0.5)
    a = model.tensor("a", (1, 20), scale=0.5)
    b = model.tensor("b", (1, 20), scale=0.5)
    model.op("RELU", [x], [a])
    model.op("RELU", [a], [b])
    model.inputs(x)
    model.outputs(b)
    return model.build()


def planned(data: bytes, effort: int = 2000) -> tuple[bytes, MemoryPlan, int]:
    problem = tensor_problem(data, "m", limit_bytes=ROOM, limits=Limits(effort=effort))
    plan = hill_climb(problem)
    assert violations(problem, plan) == []
    return with_offline_plan(data, "m", plan), plan, peak_bytes(problem, plan, "arena")


def metadata(data: bytes) -> dict[str, bytes]:
    model = cast(Any, Model.GetRootAs(data, 0))
    entries = [model.Metadata(i) for i in range(model.MetadataLength())]
    return {e.Name().decode(): model.Buffers(e.Buffer()).DataAsNumpy().tobytes() for e in entries}


def test_problem_has_the_tensors_of_the_arena() -> None:
    problem = tensor_problem(relus(), "m", limit_bytes=ROOM)
    # 20 bytes round up to 32; the input lives until the first operator is done, the output to the end.
    assert [(b.id, b.size_bytes, b.start, b.stop, b.alignment) for b in problem.buffers] == [
        ("0", 32, 0, 2, 16),
        ("1", 32, 1, 3, 16),
        ("2", 32, 2, 3, 16),
    ]


def test_metadata_is_added_and_all_else_stays() -> None:
    data = relus()
    changed, plan, _ = planned(data)
    assert changed.endswith(data)
    assert (len(changed) - len(data)) % 64 == 0
    found = metadata(changed)
    assert found["other"] == b"kept"
    offsets = [plan.placements[str(tensor)].offset for tensor in range(3)]
    assert struct.unpack("<3I3i", found[METADATA]) == (1, 0, 3, *offsets)


def test_a_plan_is_replaced_not_added_twice() -> None:
    once, plan, _ = planned(relus())
    moved = {id_: replace(place, offset=place.offset + 64) for id_, place in plan.placements.items()}
    twice = with_offline_plan(once, "m", replace(plan, placements=moved))
    model = cast(Any, Model.GetRootAs(twice, 0))
    names = [model.Metadata(i).Name() for i in range(model.MetadataLength())]
    assert sorted(names) == [METADATA.encode(), b"other"]
    words = struct.unpack("<3I3i", metadata(twice)[METADATA])
    assert words[3:] == tuple(plan.placements[str(tensor)].offset + 64 for tensor in range(3))


def test_a_file_without_metadata_gets_some() -> None:
    changed, _, _ = planned(relus(metadata={}))
    assert list(metadata(changed)) == [METADATA]


def test_reads_before_writes_are_refused() -> None:
    model = ModelBuilder()
    x = model.tensor("x", (1, 4), scale=0.5)
    y = model.tensor("y", (1, 4), scale=0.5)
    model.op("RELU", [y], [x])
    model.inputs(x)
    model.outputs(x)
    with pytest.raises(CodegenError, match=r'E303.* tensor 1 "y" is read before any operator writes it'):
        tensor_problem(model.build(), "m", limit_bytes=ROOM)


@pytest.mark.parametrize("key", NAMES)
@pytest.mark.sampled(10)
def test_the_changed_file_is_still_the_same_model(key: str, tmp_path: Path) -> None:
    """Our own importer, which checks every offset, reads both alike."""
    data = model_path(key).read_bytes()
    changed, _, _ = planned(data, effort=100)
    path = tmp_path / "changed.tflite"
    path.write_bytes(changed)
    before, after = importers.load(model_path(key)), importers.load(path)
    assert after.main == before.main
    for id_, constant in before.constants.items():
        np.testing.assert_array_equal(after.constants[id_].data, constant.data)


NOT_IN_MICRO = ("ds_cnn_uint8", "ds_cnn_int4")
"""tflite-micro has no kernels for the one, and unpacks weights of the other into its arena."""


@needs_micro
@pytest.mark.parametrize("key", [name for name in NAMES if name not in NOT_IN_MICRO])
def test_the_engine_uses_the_plan(key: str) -> None:
    """tflite-micro's arena head is our plan, which is at the bound, and its outputs are the same."""
    data = model_path(key).read_bytes()
    changed, plan, peak = planned(data)
    problem = tensor_problem(data, "m", limit_bytes=ROOM)
    assert peak == lower_bound(problem).bytes
    assert plan.proved_optimal
    assert arena_head_bytes(changed) == peak <= arena_head_bytes(data)
    case = drawn(key).inputs[0]
    before, after = evaluate(
        [Request(engine=TFLITE_MICRO, model=model, inputs=(case,)) for model in (data, changed)]
    )
    assert not before.error
    assert not after.error
    for one, other in zip(before.outputs[0], after.outputs[0], strict=True):
        np.testing.assert_array_equal(one, other)


@needs_micro
def test_the_engine_really_reads_the_offsets() -> None:
    """A gap left on purpose shows in the head; a plan for another number of tensors is refused."""
    data = relus()
    _, plan, peak = planned(data)
    top = max(plan.placements, key=lambda id_: plan.placements[id_].offset)
    moved = {**plan.placements, top: replace(plan.placements[top], offset=1024)}
    assert arena_head_bytes(with_offline_plan(data, "m", replace(plan, placements=moved))) == 1024 + 32 > peak
    short = ModelBuilder(metadata={METADATA: struct.pack("<3Ii", 1, 0, 1, 0)})
    x, y = (short.tensor(name, (1, 20), scale=0.5) for name in "xy")
    short.op("RELU", [x], [y])
    short.inputs(x)
    short.outputs(y)
    with pytest.raises(EngineError):
        arena_head_bytes(short.build())
