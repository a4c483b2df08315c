"""The `product` object of report.json: what an application compiles, how, and what it calls."""

from collections.abc import Sequence

import codegen
from codegen.emit.values.locations import Places, TensorView, callers_views
from codegen.program.image import Sources
from codegen.program.program import Bundle, Program


def product_report(bundle: Bundle, sources: Sources, level: Sequence[str]) -> dict[str, object]:
    """Of the models in `bundle`, rendered as `sources`; `level`: the optimisation they were measured at."""
    return {
        "generator": f"codegen {codegen.__version__}",
        "prefix": bundle.prefix,
        "sources": list(sources.model_files),
        "data": sorted(sources.binaries),
        "compiler_flags": list(bundle.programs[0].board.target.compiler_flags),
        "level": list(level),
        "models": [_model(bundle, program) for program in bundle.programs],
    }


def _model(bundle: Bundle, program: Program) -> dict[str, object]:
    inputs, outputs = callers_views(program, Places(bundle, program))
    interface = program.interface
    more = interface.caller_pools or interface.external or program.edge.streamed or program.ranges
    return {
        "name": program.name,
        "inputs": [_tensor(view) for view in inputs],
        "outputs": [_tensor(view) for view in outputs],
        "has_state": bool(program.signature.states),
        "is_plain": not more,
    }


def _tensor(view: TensorView) -> dict[str, object]:
    return {
        "field": view.field,
        "macro": view.macro,
        "c_type": view.c_type,
        "dtype": view.type.dtype.value,
        "shape": [int(extent) for extent in view.type.shape],
        "size_bytes": view.type.size_bytes,
    }
