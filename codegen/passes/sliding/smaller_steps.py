"""The rewriting: steps on the rows that a call computes, and SHIFT of the rows that it keeps.

A value becomes pieces: runs of rows that are computed, and a window of rows that is state. Readers take rows
from them, by STRIDED_SLICE and CONCATENATION where one piece does not hold just these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from codegen.ir import Arg, Call, Let, Module, StateValue, TensorType, Var
from codegen.ir.dataflow import RowSpan, with_extent
from codegen.ir.ops import SHIFT, Attrs, ConcatAttrs, Op, ReshapeAttrs, StridedSliceAttrs
from codegen.ir.ops.layout import CONCATENATION, RESHAPE, STRIDED_SLICE
from codegen.passes.pipeline import with_function
from codegen.passes.sliding.demand import Demand, Span, held_rows
from codegen.passes.sliding.movement import Movement, Track, demanded_rows


@dataclass(frozen=True, kw_only=True, slots=True)
class _RowPiece:
    """Rows `[start, stop)` of a value, in a variable."""

    start: int
    stop: int
    var: Var
    skipped: int = 0
    """Rows at the front of the variable that are none of the value's: they may have been padding."""
    frame: int = 1
    lag: int = 1
    """Every `lag`-th frame of `frame` rows is the value's; between lie other phases of it."""


def rewrite(module: Module, movement: Movement, chosen: Mapping[str, Demand]) -> Module:
    """The module that takes the new rows alone, and computes and keeps what `chosen` says."""
    return _Rewriting(module, movement, chosen).run()


class _Rewriting:
    """Builds the new body; every value of the old one is whole in it, or in pieces."""

    def __init__(self, module: Module, movement: Movement, chosen: Mapping[str, Demand]) -> None:
        self._module, self._function = module, module.main
        self._movement, self._chosen = movement, chosen
        self._taken = {var.name for var in self._function.variables()}
        self._body: list[Let] = []
        self._pieces: dict[str, list[_RowPiece]] = {}
        self._read: dict[tuple[str, int, int], Var] = {}
        self._states: list[tuple[Var, Var]] = []

    def run(self) -> Module:
        """The rewritten module."""
        function, window = self._function, self._movement.window
        params: list[Var] = []
        for param in function.params:
            if param.name == window.name:
                param = replace(param, type=_rows_type(param.type, window.axis, window.step))
                params.append(param)
                new = _RowPiece(start=window.rows - window.step, stop=window.rows, var=param)
                self._pieces[param.name] = [new]
                self._keep(param, self._movement.tracks[param.name], None)
            else:
                params.append(param)
        for let in function.body:
            if let.var.name in self._movement.tracks:
                self._compute(let)
            else:
                self._body.append(self._with_args(let, [self._whole(arg) for arg in let.call.args]))
        results = [self._whole(result) for result in function.results]
        states = [
            StateValue(param=len(params) + index, result=len(results) + index, initial=_first_bytes(old.type))
            for index, (old, _) in enumerate(self._states)
        ]
        function = replace(
            function,
            params=(*params, *(old for old, _ in self._states)),
            body=tuple(self._body),
            results=(
                *(result for result in results if result is not None),
                *(new for _, new in self._states),
            ),
            states=(*function.states, *states),
        )
        return with_function(self._module, function)

    def _with_args(self, let: Let, args: Sequence[Arg | None]) -> Let:
        return replace(let, call=replace(let.call, args=tuple(args)))

    def _whole(self, arg: Arg | None) -> Arg | None:
        if not isinstance(arg, Var) or arg.name not in self._pieces:
            return arg
        return self._rows(arg, 0, self._movement.rows(arg.name))

    # ---- a step ----------------------------------------------------------------------------

    def _compute(self, let: Let) -> None:
        track, demand_of = self._movement.tracks[let.var.name], self._chosen[let.var.name]
        count = self._movement.rows(let.var.name)
        pieces = self._pieces.setdefault(let.var.name, [])
        for start, stop in demand_of.computed:
            pieces.append(_RowPiece(start=start, stop=stop, var=self._step(let, track, (start, stop), count)))
        self._keep(let.var, track, let)

    def _step(self, let: Let, track: Track, span: Span, count: int) -> Var:
        """The step that computes rows of a value."""
        reads = track.reads
        assert reads is not None, "it is a step's"
        args: list[Arg | None] = []
        front, back = 0, 0
        start_row, end = reads.span(*span)
        for arg in let.call.args:
            if isinstance(arg, Var):
                rows = self._movement.rows(arg.name)
                front, back = max(-start_row, 0), max(end - rows, 0)
                arg = self._rows(arg, *demanded_rows(reads, *span, rows))
            args.append(arg)
        width = span[1] - span[0]
        attrs = let.call.op.of_rows(
            let.call.attrs, RowSpan(axis=track.axis, rows=width, front=front, back=back)
        )
        var = let.var if span == (0, count) else self._part(let.var, track.axis, span, "rows")
        call = replace(let.call, args=tuple(args), attrs=attrs)
        self._body.append(replace(let, var=var, call=call))
        return var

    # ---- state -----------------------------------------------------------------------------

    def _keep(self, var: Var, track: Track, let: Let | None) -> None:
        """Put rows that come from earlier calls, and those that enter, into a window that is state."""
        kept = self._chosen[var.name].kept
        if kept is None:
            return
        (start, stop), moved, lag = kept, track.moved, track.lag
        entering = self._rows(var, stop, stop + moved)
        count = stop + moved - start
        frames = -(-count // moved)
        held = held_rows(kept, track)
        old = replace(self._part(var, track.axis, (0, held), "kept"), origin=f"{var.origin or var.name} kept")
        new = replace(old, name=self._name(f"{var.name}_window"))
        source = None if let is None else let.source
        shift = Call(op=SHIFT, args=(old, entering), attrs=Attrs())
        self._body.append(Let(var=new, call=shift, source=source))
        self._states.append((old, new))
        skipped = 0 if lag == 1 else frames * moved - count
        piece = _RowPiece(start=start, stop=stop + moved, var=new, skipped=skipped, frame=moved, lag=lag)
        self._pieces[var.name].insert(0, piece)

    def _phase(self, piece: _RowPiece, axis: int, start: int, stop: int) -> _RowPiece:
        """The frames that hold rows `[start, stop)` of a piece, without those of other phases."""
        window, frame, lag = piece.var, piece.frame, piece.lag
        at = start - piece.start + piece.skipped
        begin, end = at // frame, -(-(stop - piece.start + piece.skipped) // frame)
        shape = window.type.shape
        row = frame * prod(shape[axis + 1 :])
        held, counts = (shape[axis] // frame, row), (end - begin, row)
        flat = self._add(window, held, RESHAPE, ReshapeAttrs(shape=held))
        attrs = StridedSliceAttrs(begins=(begin * lag, 0), strides=(lag, 1), counts=counts, shape=counts)
        phase = self._add(flat, counts, STRIDED_SLICE, attrs)
        shape = with_extent(shape, axis, counts[0] * frame)
        rows = self._add(phase, shape, RESHAPE, ReshapeAttrs(shape=shape))
        return _RowPiece(start=start, stop=stop, var=rows, skipped=at - begin * frame)

    # ---- rows ------------------------------------------------------------------------------

    def _rows(self, var: Var, start: int, stop: int) -> Var:
        """Rows `[start, stop)` of a value, out of its pieces."""
        key = var.name, start, stop
        if key not in self._read:
            axis = self._movement.tracks[var.name].axis
            parts: list[Var] = []
            at = start
            while at < stop:
                piece = self._longest(var, at)
                end = min(piece.stop, stop)
                parts.append(self._cut(piece, axis, at, end))
                at = end
            self._read[key] = parts[0] if len(parts) == 1 else self._joined(parts, axis)
        return self._read[key]

    def _longest(self, var: Var, at: int) -> _RowPiece:
        pieces = [piece for piece in self._pieces[var.name] if piece.start <= at < piece.stop]
        if not pieces:
            raise ValueError(f"row {at} of {var.name} is neither computed nor kept")
        return max(pieces, key=lambda piece: piece.stop)

    def _cut(self, piece: _RowPiece, axis: int, start: int, stop: int) -> Var:
        if piece.lag > 1:
            piece = self._phase(piece, axis, start, stop)
        if with_extent(piece.var.type.shape, axis, stop - start) == piece.var.type.shape:
            return piece.var
        shape = with_extent(piece.var.type.shape, axis, stop - start)
        begins = with_extent((0,) * len(shape), axis, start - piece.start + piece.skipped)
        attrs = StridedSliceAttrs(begins=begins, strides=(1,) * len(shape), counts=shape, shape=shape)
        return self._add(piece.var, shape, STRIDED_SLICE, attrs)

    def _joined(self, parts: Sequence[Var], axis: int) -> Var:
        rows = sum(part.type.shape[axis] for part in parts)
        shape = with_extent(parts[0].type.shape, axis, rows)
        return self._add(parts[0], shape, CONCATENATION, ConcatAttrs(axis=axis), parts)

    def _add(
        self,
        source: Var,
        shape: tuple[int, ...],
        op: Op,
        attrs: Attrs,
        args: Sequence[Var] | None = None,
    ) -> Var:
        """Add a step that moves rows of `source`."""
        type_ = replace(source.type, shape=shape)
        var = Var(name=self._name(f"{source.name}_{op.short}"), type=type_, device=source.device)
        self._body.append(Let(var=var, call=Call(op=op, args=tuple(args or (source,)), attrs=attrs)))
        return var

    def _part(self, var: Var, axis: int, span: Span, word: str) -> Var:
        name = self._name(f"{var.name}_{word}")
        return replace(var, name=name, type=_rows_type(var.type, axis, span[1] - span[0]))

    def _name(self, stem: str) -> str:
        name, number = stem, 1
        while name in self._taken:
            number += 1
            name = f"{stem}{number}"
        self._taken.add(name)
        return name


def _rows_type(type_: TensorType, axis: int, rows: int) -> TensorType:
    return replace(type_, shape=with_extent(type_.shape, axis, rows))


def _first_bytes(type_: TensorType) -> bytes:
    """State before the first call: zeros as numbers, where one byte says that."""
    zero = type_.zero_point & 0xFF if type_.dtype.size_bytes == 1 else 0
    return bytes([zero]) * type_.size_bytes
