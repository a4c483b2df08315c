"""Blocks in C: a function of this model that runs several layers together, row by row."""

import re
from dataclasses import dataclass

from codegen.emit.c.c_text import fill
from codegen.emit.c.formula_text import SizeText
from codegen.emit.c.spelling import POOL_TYPES, TakenNames, local_names, reader_name, scalar
from codegen.emit.model.structs import (
    Addresses,
    StructNames,
    late_constants,
    local_structs,
    local_text,
    struct_name,
)
from codegen.ir import DType
from codegen.ir.numbers import Number, said, varies
from codegen.kernels.block import Block, BlockStage
from codegen.kernels.call import (
    CallArg,
    ConstantArg,
    LiteralArg,
    StructArg,
    ValueArg,
    WorkspaceArg,
    numbers_in,
)
from codegen.kernels.fused import ROW_WORKSPACE
from codegen.kernels.primfunc import PrimFunc

_WORKSPACE = "workspace"
"""The parameter in which row kernels work."""

Parameters = tuple[tuple[str, str], ...]
"""(type, name) of what the function is called with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Around:
    """Names of its model that a function of a block or loop uses."""

    model: str
    constants: Addresses
    structs: StructNames
    image_parameter: Parameters | None = None
    """Parameters that lead to constants; None if these are linked."""
    sizes: SizeText | None = None
    """Spells what depends on sizes that are known at run time only."""


_OFFSETS = {DType.INT8: "cg_rows_offset", DType.FLOAT32: "cg_rows_offset_f32"}
"""The functions of cg_kernels.h that say where a pixel of such elements lies."""

_NAMES = (
    _WORKSPACE,
    "stages",
    "columns",
    "image",
    "stripe",
    "span",
    "bands",
    "band",
    "delivered",
    "first",
    "done",
    "stage",
    "y",
    "context",
    "failed",
    "constants",
)
"""Words of the template; no value's name may hide one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RowsView:
    """A `cg_rows`: where the rows of one image lie."""

    name: str
    base: str
    row_bytes: str
    ring_rows: str
    origin: str
    """Its first column there."""
    pixel_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StageView:
    """One layer of a block."""

    name: str
    producers: tuple[int, int]
    stride: int
    reach: str
    last_row: str
    structs: tuple[str, ...]
    """Parameters that hold what is known at run time only."""
    images: tuple[RowsView, ...]
    """Declared in its scope, so that the stack holds one stage's at a time."""
    function: str
    """The kernel, or the application's reader."""
    arguments: tuple[str, ...]
    is_delivered: bool
    """The reader is called, and may fail."""
    more_rows: int
    """That it computes with row y."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StripesView:
    """The loop over stripes of a block."""

    spans: tuple[tuple[tuple[str, str], ...], ...]
    """Columns per stripe; empty where there is one stripe."""
    are_late: bool
    """Columns depend on sizes that are known at run time only."""
    indent: str
    inner: str
    """Indentation of what it runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImagesView:
    """The loop over images of a block."""

    count: str
    """Number of images; empty where there is one."""
    steps: tuple[tuple[str, str], ...]
    """(pointer, elements of an image) of arguments and result."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BandsView:
    """The loop over bands of a block, and where the rows of one end."""

    starts: tuple[tuple[int, ...], ...]
    """Per band the first row of each stage and the end of the last one's; none for all rows at once."""
    indent: str
    end: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockView:
    """Fields of block.c.j2."""

    name: str
    layers: tuple[tuple[str, str, str, str], ...]
    """(operator, name, rows that are kept, none for all, of how many rows)."""
    function: str
    parameters: Parameters
    sizes: tuple[str, ...]
    """Declarations of the sizes that it names."""
    stages: tuple[StageView, ...]
    are_late: bool
    """True if stages read a number of rows that is known at run time only."""
    stripes: StripesView
    images: ImagesView
    bands: BandsView
    is_streamed: bool
    """It returns a cg_status."""
    last: int


def function_name(model: str, prim: PrimFunc) -> str:
    """Name of the C function of block `prim`."""
    return f"{model}_{prim.symbol}"


def needs_sizes(prim: PrimFunc, constants: Addresses, sizes: SizeText | None) -> bool:
    """True if a step is a block whose function is told the sizes of the call."""
    if prim.block is None or sizes is None:
        return False
    late = late_constants(prim, constants, sizes, external=False)
    return bool(late) or any(True for _ in prim.numbers)


def block_text(prim: PrimFunc, block: Block, around: Around) -> str:
    """The function of one block."""
    return fill("c/block.c.j2", block=_Block(prim, block, around).view()).rstrip("\n")


class _Block:
    def __init__(self, prim: PrimFunc, block: Block, around: Around) -> None:
        self._model, self._sizes, self._image_parameter = around.model, around.sizes, around.image_parameter
        self._constants, self._struct_names = around.constants, around.structs
        self._late: list[str] = []
        self._prim, self._block = prim, block
        sizes = around.sizes
        taken = TakenNames([*_NAMES, *(() if sizes is None else ("dims", *sizes.names))])
        self._names = [taken.take(*local_names(around.model, line.name, "_lines")) for line in block.lines]
        self._rows = [taken.take(f"{name}_rows") for name in self._names]
        self._striped = len(block.stripes) > 1
        self._band = " " * (4 if block.images == 1 else 8)
        self._outer = self._band + " " * (4 if block.bands else 0)
        self._indent = self._outer + " " * (4 if self._striped else 0)

    def view(self) -> BlockView:
        """All of it."""
        block = self._block
        stages = tuple(self._stage(index, stage) for index, stage in enumerate(block.stages))
        height = self._number(block.stages[-1].rows)
        spans = [[(self._short(a), self._short(b)) for a, b in row] for row in block.stripes]
        structs = [struct for stage in stages for struct in stage.structs]
        images = "" if block.images == 1 else self._number(block.images)
        steps = self._steps() if images else ()
        return BlockView(
            name=self._prim.let.var.name,
            layers=self._layers(),
            function=function_name(self._model, self._prim),
            parameters=self._parameters(),
            sizes=() if self._sizes is None else tuple(self._sizes.declarations([*self._late, *structs])),
            stages=stages,
            are_late=any(True for stage in block.stages for _ in numbers_in((stage.reach, stage.last_row))),
            stripes=StripesView(
                spans=tuple(tuple(row) for row in spans) if self._striped else (),
                are_late=any(True for _ in numbers_in(block.stripes)),
                indent=self._outer,
                inner=self._indent,
            ),
            images=ImagesView(count=images, steps=steps),
            bands=BandsView(
                starts=tuple((*band.starts, band.stop) for band in block.bands),
                indent=self._band,
                end=f"bands[band][{len(block.stages)}]" if block.bands else height,
            ),
            is_streamed=block.streamed is not None,
            last=len(block.stages) - 1,
        )

    def _number(self, value: Number) -> str:
        """A number, or what it is at the sizes of a call: text that can be multiplied."""
        if isinstance(value, int):
            return str(value)
        assert self._sizes is not None, "a program with formulas has sizes"
        spelled = self._sizes.spelled(value)
        self._late.append(spelled)
        return spelled if re.fullmatch(r"\w+", spelled) else f"({spelled})"

    def _short(self, value: Number) -> str:
        """A number for a member of 16 bits."""
        spelled = self._number(value)
        return spelled if isinstance(value, int) else f"(int16_t){spelled}"

    def _steps(self) -> tuple[tuple[str, str], ...]:
        """How far arguments and result go on from one image to the next."""
        steps: list[tuple[str, str]] = []
        for name, line in zip(self._names, self._block.lines, strict=True):
            if not isinstance(line.place, WorkspaceArg):
                channels = line.pixel_bytes // line.dtype.size_bytes
                row = self._times(self._number(line.columns), channels)
                rows = self._number(line.ring_rows)
                number = row.isdigit() and rows.isdigit()
                steps.append((name, str(int(rows) * int(row)) if number else f"{rows} * {row}"))
        return tuple(steps)

    def _stage(self, index: int, stage: BlockStage) -> StageView:
        first, second = [*stage.producers, -1, -1][:2]
        return StageView(
            name=stage.name,
            producers=(first, second),
            stride=stage.stride,
            reach=self._short(stage.reach),
            last_row=self._short(stage.last_row),
            structs=self._structs(stage),
            images=tuple(self._image(line) for line in sorted({index, *stage.sources})),
            function=stage.kernel.symbol if stage.kernel else reader_name(self._model),
            arguments=self._arguments(index, stage),
            is_delivered=stage.kernel is None,
            more_rows=stage.turn_rows - 1,
        )

    def _layers(self) -> tuple[tuple[str, str, str, str], ...]:
        last = len(self._block.stages) - 1
        return tuple(
            (stage.op, stage.name, said(line.ring_rows) if index < last else "", said(stage.rows))
            for index, (stage, line) in enumerate(zip(self._block.stages, self._block.lines, strict=False))
        )

    def _parameters(self) -> Parameters:
        parameters = [("void *", "context")] if self._block.streamed else []
        parameters += self._image_parameter or ()
        for arg in self._prim.call_args:
            if arg == WorkspaceArg(name=ROW_WORKSPACE):
                parameters.append(("void *", _WORKSPACE))
                continue
            index = next(i for i, line in enumerate(self._block.lines) if line.place == arg)
            const = "const " if isinstance(arg, ValueArg) else ""
            c_type = POOL_TYPES[self._block.lines[index].dtype]
            parameters.append((f"{const}{c_type} *", self._names[index]))
        if needs_sizes(self._prim, self._constants, self._sizes):
            parameters.append((f"const {self._model}_dims *", "dims"))
        return tuple(parameters)

    def _structs(self, stage: BlockStage) -> tuple[str, ...]:
        """Parameters that hold formulas, and constants' addresses where those are known at run time only."""
        if self._image_parameter is None and self._sizes is None:
            return ()
        indent = f"{self._indent}        "
        external = self._image_parameter is not None
        late = late_constants(self._prim, self._constants, self._sizes, external=external)
        late_structs = local_structs(self._prim, late, stage.leading)
        return tuple(
            local_text(self._prim, struct, self._constants, self._struct_names, indent, self._sizes)
            for struct in late_structs
        )

    def _image(self, index: int) -> RowsView:
        line = self._block.lines[index]
        through = "" if line.dtype is DType.INT8 else "(const int8_t *)"
        return RowsView(
            name=self._rows[index],
            base=f"{through}{self._names[index]}",
            row_bytes=self._times(self._number(line.columns), line.pixel_bytes),
            ring_rows=self._number(line.ring_rows),
            origin=self._columns(index)[0] if isinstance(line.place, WorkspaceArg) else "0",
            pixel_bytes=line.pixel_bytes,
        )

    def _columns(self, index: int) -> tuple[str, str]:
        """First and last column, exclusive, that stage `index` computes."""
        if self._striped:
            return f"span[{index}][0]", f"span[{index}][1]"
        start, stop = self._block.stripes[0][index]
        return self._number(start), self._number(stop)

    @staticmethod
    def _times(count: str, factor: int) -> str:
        return str(int(count) * factor) if count.isdigit() else f"{count} * {factor}"

    def _address(self, line: int, column: str) -> str:
        function = _OFFSETS[self._block.lines[line].dtype]
        return f"&{self._names[line]}[{function}(&{self._rows[line]}, y, {column})]"

    def _arguments(self, index: int, stage: BlockStage) -> tuple[str, ...]:
        start, stop = self._columns(index)
        result = self._address(index, start)
        if stage.kernel is None:
            return "context", result, "(uint32_t)y"
        leading = [self._leading(arg) for arg in stage.leading]
        if stage.kernel.window is not None:
            # Several rows may lie at both ends of a ring.
            place = result if stage.turn_rows == 1 else f"&{self._rows[index]}"
            return *leading, *(f"&{self._rows[source]}" for source in stage.sources), place, "y", start, stop
        line = self._block.lines[index]
        channels = line.pixel_bytes // line.dtype.size_bytes
        images = [self._address(source, start) for source in stage.sources]
        is_known = start.isdigit() and stop.isdigit()
        width = str(int(stop) - int(start)) if is_known else f"({stop} - {start})"
        return *leading, *images, result, self._times(width, channels)

    def _leading(self, arg: CallArg) -> str:
        match arg:
            case StructArg(suffix=suffix):
                return f"&{struct_name(self._prim, suffix, self._struct_names)}"
            case ConstantArg(role=role):
                return self._constants[self._prim.name, role]
            case LiteralArg(value=bool() | int() | float() as value):
                return scalar(value)
            case LiteralArg(value=value) if varies(value):
                return self._number(value)
            case WorkspaceArg():
                return _WORKSPACE
            case _:
                raise ValueError(f"{self._prim.name}: argument {arg!r} has no form in a block")
