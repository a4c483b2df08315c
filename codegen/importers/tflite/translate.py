"""Translates a TFLite file to a module: one function in the file's order of operators."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from codegen.errors import CodegenError
from codegen.importers.graph_inputs import NO_EXTENTS, Extents
from codegen.importers.limits import STATED, ByteLimits
from codegen.importers.reporting import Refused
from codegen.importers.tflite.control import InlinedGraph, inlined
from codegen.importers.tflite.control.inlining import FEW_VISITS, MAX_VISITS
from codegen.importers.tflite.decoded import decoded
from codegen.importers.tflite.file.reader import FileModel, read
from codegen.importers.tflite.looping import LoopTranslation
from codegen.importers.tflite.opening import opened
from codegen.importers.tflite.operators.custom.arena_values import with_arena_values
from codegen.ir import Constant, DType, Function, Module
from codegen.ir.ops import UserKernel
from codegen.passes.stored_halves import STORED_AS


def import_tflite(
    data: bytes,
    file_name: str,
    kernels: Sequence[UserKernel] = (),
    extents: Extents = NO_EXTENTS,
    limits: ByteLimits = STATED,
) -> Module:
    """Import the bytes of a TFLite file; `file_name` serves messages and the module's metadata.

    An operator that is not translated becomes a call of the one of `kernels` that is declared for it. With
    `extents` the shapes of results are those that the operators give, not the file's.

    Raises CodegenError E302..E306 (see `codegen.importers`): a damaged file at once, otherwise everything
    that is wrong or unsupported together.
    """

    def subgraph(number: int) -> FileModel:
        return decoded(read(data, file_name, number), limits).model

    flat = decoded(with_arena_values(opened(data, file_name, kernels)), limits)
    graph = flat if extents or flat.refusals else inlined(flat.model, subgraph, FEW_VISITS)
    try:
        function, constants = _translated(graph, kernels, subgraph, extents, limits, FEW_VISITS)
    except CodegenError:
        if not graph.loops:
            raise
        # What cannot be one step may still be unrolled.
        graph = inlined(flat.model, subgraph, MAX_VISITS)
        function, constants = _translated(graph, kernels, subgraph, extents, limits, MAX_VISITS)
    notes = [] if extents else _notes(flat.model)
    has_halves = any(constant.type.dtype is DType.FLOAT16 for constant in constants.values())
    return Module(
        functions={function.name: function},
        constants=constants,
        metadata={
            **{"format": "tflite", "sha256": hashlib.sha256(data).hexdigest(), "file": file_name},
            **({"notes": "\n".join(notes)} if notes else {}),
            **({STORED_AS: DType.FLOAT16.value} if has_halves else {}),
        },
    )


def _notes(model: FileModel) -> list[str]:
    """Inputs whose first extent the file does not say, by its shape alone: it is read as 1."""
    inputs = (model.tensors[index] for index in model.inputs if 0 <= index < len(model.tensors))
    return [
        f"input {tensor} has shape {list(tensor.shape)} and no signature: its first extent is read as 1; "
        "--dim says another"
        for tensor in inputs
        if tensor.shape[:1] == (-1,) and not tensor.signature
    ]


_Found = tuple[Function, Mapping[str, Constant]]


def _translated(
    flat: InlinedGraph,
    kernels: Sequence[UserKernel],
    subgraph: Callable[[int], FileModel],
    extents: Extents,
    limits: ByteLimits,
    most: int,
) -> _Found:
    """The function of a file and its constants, loops of more than `most` operators as steps."""
    graphs: dict[int, _Found] = {}
    begun: set[int] = set()

    def graph(number: int) -> _Found:
        if number not in graphs:
            if number in begun:
                raise Refused("E305", f"subgraph {number} runs itself")
            begun.add(number)
            inner = replace(inlined(subgraph(number), subgraph, most), number=number)
            other = LoopTranslation(inner, kernels, subgraph, NO_EXTENTS, limits, graph)
            function = other.iteration()
            graphs[number] = function, other.constants
        return graphs[number]

    translation = LoopTranslation(flat, kernels, subgraph, extents, limits, graph)
    function = translation.run()
    return function, translation.constants
