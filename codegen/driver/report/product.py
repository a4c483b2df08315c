"""The `product` object of report.json: what an application compiles, how, and what it calls."""

from collections.abc import Sequence

import codegen
from codegen.emit.gathered.runtime_files import instruction_sets
from codegen.emit.model.header import stack_bytes
from codegen.emit.model.header_memory import memory_view
from codegen.emit.values.locations import Places, TensorView, callers_views
from codegen.ir import Board, Runner
from codegen.program.image import ElfSizes, Sources
from codegen.program.program import Bundle, Program
from codegen.report_product import Product, ProductBoard, ProductMemory, ProductModel, ProductTensor
from codegen.targets.families import compile_flags


def product_of(bundle: Bundle, sources: Sources, level: Sequence[str], sizes: ElfSizes) -> Product:
    """The product of `bundle`, rendered as `sources`, measured at the optimisation `level` as `sizes`."""
    board = bundle.programs[0].board
    return Product(
        generator=f"codegen {codegen.__version__}",
        prefix=bundle.prefix,
        sources=sources.model_files,
        data=tuple(sorted(sources.binaries)),
        needs=tuple(instruction_sets(bundle.programs)),
        compiler_flags=compile_flags(board.target),
        level=tuple(level),
        models=tuple(_model(bundle, program, sizes) for program in bundle.programs),
        board=_board(board),
    )


def _board(board: Board) -> ProductBoard:
    memories = [
        ProductMemory(
            name=region.name,
            address=region.start,
            size_bytes=region.end - region.start,
            writable=region.writable,
        )
        for region in board.regions
    ]
    return ProductBoard(
        title=board.title,
        memories=tuple(memories),
        code_memory=board.code_region,
        data_memory=board.data_region,
        qemu_machine=board.qemu_machine if board.runner is Runner.QEMU else None,
    )


def _model(bundle: Bundle, program: Program, sizes: ElfSizes) -> ProductModel:
    inputs, outputs = callers_views(program, Places(bundle, program))
    interface = program.interface
    more = interface.caller_pools or interface.external or program.edge.streamed or program.ranges
    return ProductModel(
        name=program.name,
        inputs=tuple(_tensor(program, view) for view in inputs),
        outputs=tuple(_tensor(program, view) for view in outputs),
        has_state=bool(program.signature.states),
        is_plain=not more,
        pools=tuple(pool.field for pool in memory_view(bundle, program).pools),
        has_external_constants=interface.external,
        has_sizes=program.ranges is not None,
        stack_bytes=stack_bytes(program, sizes),
    )


def _tensor(program: Program, view: TensorView) -> ProductTensor:
    verb = "quantize" if view.kind == "input" else "dequantize"
    return ProductTensor(
        field=view.field,
        macro=view.macro,
        c_type=view.c_type,
        dtype=view.type.dtype.value,
        shape=tuple(int(extent) for extent in view.type.shape),
        size_bytes=view.type.size_bytes,
        scale=float(view.type.scale) if view.is_quantised else None,
        zero_point=int(view.type.zero_point) if view.is_quantised else None,
        converter=f"{program.name}_{verb}_{view.stem}" if view.has_converter else "",
        is_streamed=view.is_streamed,
    )
