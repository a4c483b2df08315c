"""A model before search: imported, rewritten by the passes, at its largest sizes or at any."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codegen import importers, passes
from codegen.driver.inputs.dims import Dims, dims_of
from codegen.driver.inputs.ir_files import Stage, observer, write_ranged
from codegen.driver.inputs.model_file import ModelFile
from codegen.driver.inputs.models import model_name, places_of
from codegen.driver.inputs.planned import macs_of
from codegen.driver.inputs.sliding_windows import has_input, with_window
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message
from codegen.importers.limits import byte_limits
from codegen.ir import DType, Module
from codegen.ir.formulas import named
from codegen.ir.rules import Place
from codegen.ir.verify import verify
from codegen.passes.sliding import Sliding
from codegen.progress import silent
from codegen.search import PlacedValues, Sizes, looked_at


def pipeline(
    options: Options, tell: Callable[[passes.Reduction], None] | None = None
) -> tuple[passes.Pass, ...]:
    """The passes between import and search, in order; `tell` hears what the reduction took out."""
    edges = () if options.io_types == "file" else (passes.IoTypes(dtype=DType(options.io_types)),)
    last = (passes.Reduce(tell=tell),) if options.reduce else ()
    return (
        passes.FoldConstants(),
        *edges,
        passes.FuseActivations(),
        passes.FoldPad(),
        passes.AttentionParts(),
        passes.RemoveDead(),
        passes.EdgeLayouts(layout=options.layout, streams=options.stream_input),
        passes.SmallerMoves(),
        passes.ShiftWindows(),
        passes.Legalise(),
        *last,
        passes.LowerAverages(),
        passes.StoreHalves(),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A model before search: see `Planned`."""

    module: Module
    macs: int
    reduction: passes.Reduction | None
    placed: PlacedValues
    missed: Mapping[Place, Message]
    """Places for all of several models that name nothing in this one."""
    sliding: Sliding | None
    sizes: Sizes | None
    """Its sizes that are known as ranges: `module` is the model at the largest."""
    file: ModelFile


def prepared(
    path: Path,
    options: Options,
    pools: Sequence[str] = (),
    *,
    name: str | None = None,
    among_others: bool = False,
    most_state_bytes: int | None = None,
) -> Prepared:
    """Import and rewrite one model, `name`; `pools`: memory scopes that `options.places` may name.

    `most_state_bytes`: limit of what a window that slides keeps, where less than its best is possible.

    `among_others`: places without a model may be meant for another one (`check_missed`).
    Raises CodegenError as those stages do.
    """
    limits = byte_limits(options.model_limit)
    dims = dims_of(path, options.dims, limits, options.fixes)
    file = ModelFile(
        path=path,
        kernels=options.kernels,
        limits=limits,
        dims=dims,
        fixes=options.fixes,
        has_other_edges=options.io_types != "file" or options.layout != "file" or options.stream_input,
    )
    sizes = None if dims is None or not dims.are_ranges else sizes_of(path, options, dims)
    if sizes is None:
        file = file if dims is None else file.at(dims.largest)
        imported = _imported(file, options)
    else:
        sizes, imported = _at_largest(sizes)
    reductions: list[passes.Reduction] = []
    places = places_of(options.places, name or model_name(path, options.names))
    placed = passes.place_values(imported, places, pools, among_others=among_others)

    def stages(values: Mapping[str, int]) -> Iterator[Stage]:
        """The model at certain sizes, after import and after every pass."""
        assert sizes is not None
        stages_: list[Stage] = [("import", sizes.reference(values))]
        at = passes.place_values(stages_[0][1], places, pools, among_others=among_others)
        passes.run_passes(at.module, pipeline(options), lambda name, module: stages_.append((name, module)))
        return iter(stages_)

    observe = None
    if options.dump_ir is not None and sizes is None:
        observe = observer(options.dump_ir, imported)
    elif options.dump_ir is not None and sizes is not None:
        write_ranged(options.dump_ir, sizes, stages)
    module = passes.run_passes(placed.module, pipeline(options, reductions.append), observe)
    sliding = None
    if options.windows and (not among_others or has_input(module, options.windows[0])):
        sliding = with_window(
            module,
            options.windows[0],
            has_ranges=sizes is not None,
            optimize=options.optimize,
            most_state_bytes=most_state_bytes,
        )
        module = verify(sliding.module)
        if observe is not None:
            observe("slide_window", module)
    placed = passes.place_edges(placed, module, places, among_others=among_others)
    if sizes is not None and all(reduction.is_nothing for reduction in reductions):
        sizes = replace(sizes, rewritten=_rewriting(options, reduces=False))
    return Prepared(
        module=passes.note_not_finite(placed.module),
        macs=macs_of(imported),
        reduction=reductions[0] if reductions else None,
        placed=PlacedValues(who=placed.who, reads=placed.reads),
        missed=placed.missed,
        sliding=sliding,
        sizes=sizes,
        file=file,
    )


def _imported(file: ModelFile, options: Options) -> Module:
    """The file's network, its layers compiled for an NPU where one is named."""
    if options.npu is None:
        return importers.load(file.path, file.kernels, file.extents, file.limits, file.fixes)
    if file.dims is not None:
        text = "an NPU's layers are compiled for one size"
        help_ = "leave out --dim, or --npu"
        raise CodegenError(Message(code="E318", where="--npu", text=text, help=help_))
    return importers.load_for_npu(file.path, options.npu, file.kernels, file.limits)


_OF_SHAPES = {"E306"}
"""Codes of messages about shapes that an operator does not take. Such ends of a range are left out."""


def _at_largest(sizes: Sizes) -> tuple[Sizes, Module]:
    """The model at its largest sizes that are possible. Raises CodegenError as import and `looked_at` do:
    what is too large to be imported is no end that an operator forbids."""
    try:
        return sizes, sizes.reference(sizes.largest)
    except CodegenError as error:
        codes = {message.code for message in error.messages}
        if "E305" in codes:
            raise CodegenError([_of_upper_end(message, sizes) for message in error.messages]) from error
        if not codes <= _OF_SHAPES:
            raise
        sizes, _ = looked_at("", sizes, silent)
        return sizes, sizes.reference(sizes.largest)


def _of_upper_end(message: Message, sizes: Sizes) -> Message:
    """Add to a message the largest sizes, at which it arose."""
    at = ", ".join(f"{name}={value}" for name, value in sizes.largest.items())
    ways = ["give --dim a smaller upper end", *([message.help] if message.help else [])]
    return replace(message, text=f"at {at}: {message.text}", help="; or ".join(ways))


def sizes_of(path: Path, options: Options, dims: Dims) -> Sizes:
    """The model at `path` at any sizes."""

    limits = byte_limits(options.model_limit)

    def reference(values: Mapping[str, int]) -> Module:
        return importers.load(path, options.kernels, dims.extents(values), limits, options.fixes)

    axes = {place: named(symbol) for place, symbol in dims.axes.items()}
    rewritten = _rewriting(options, reduces=True)
    return Sizes(symbols=dims.symbols, axes=axes, reference=reference, rewritten=rewritten)


def _rewriting(options: Options, *, reduces: bool) -> Callable[[Module], Module]:
    """The passes; not `reduces`: nothing is taken out of the model, as at the largest sizes."""
    kept = [pass_ for pass_ in pipeline(options) if reduces or not isinstance(pass_, passes.Reduce)]
    return lambda module: passes.run_passes(module, kept, None)
