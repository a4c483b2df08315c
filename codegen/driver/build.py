"""The whole chain, one line per stage: model file -> module -> program -> sources -> image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from codegen import board as boards
from codegen.documents import to_json
from codegen.driver.checks.calling import (
    check_firmware,
    check_interface,
    check_rules,
    check_sizes,
    compress_mode,
    explaining,
    stage_mode,
)
from codegen.driver.checks.fit import LinkedTooLarge, beside_code, telling
from codegen.driver.checks.npu_part import check_npu
from codegen.driver.inputs.declared_pools import option_board
from codegen.driver.inputs.dims import dims_of
from codegen.driver.inputs.files import changed_meanwhile
from codegen.driver.inputs.models import check_missed, check_models, model_name, model_names
from codegen.driver.inputs.planned import Planned
from codegen.driver.inputs.sliding_windows import no_such_input
from codegen.driver.joining import check_groups, joined, of_model
from codegen.driver.options import Options
from codegen.driver.preparing import Prepared, prepared, sizes_of
from codegen.driver.report.several import joint_report
from codegen.driver.report.single import Measured, report
from codegen.errors import Message
from codegen.importers.limits import byte_limits
from codegen.ir import Board, MemoryModel, Module
from codegen.ir.ops import UserAttrs
from codegen.kernels.base.forms import in_smallest_forms
from codegen.passes.sliding import Sliding
from codegen.problem.problem import Limits
from codegen.problem.shortage import DoesNotFit
from codegen.program.image import Image
from codegen.program.program import Bundle, Program
from codegen.program.search_options import SearchOptions
from codegen.program.size_ranges import OpenEnd
from codegen.progress import Progress, Tally, silent
from codegen.report_product import Product
from codegen.search import (
    Choices,
    board_pools,
    check_named,
    largest_size,
    search,
    search_sizes,
    state_bytes,
    with_or_without_blocks,
)
from codegen.targets.families import level_flags


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """Everything `build` made. `folder` holds sources, firmware.elf and report.json."""

    models: tuple[Planned, ...]
    bundle: Bundle
    """The models' programs, and what they share."""
    board: Board
    image: Image
    folder: Path
    product: Product
    """Sources, flags and tensors that an application needs, as the `product` of report.json."""
    left_out: tuple[Message, ...] = ()
    """Why there is no firmware.elf: its stack is too short for the model. Then nothing can be run."""
    changed: tuple[Message, ...] = ()
    """Files of ours that the user changed while they were replaced."""

    @property
    def warnings(self) -> tuple[Message, ...]:
        """Messages for the user about a build that succeeded."""
        return (*self.left_out, *self.changed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """Resources of a build that it leaves to one of its models."""

    name: str | None = None
    """None: the name that options or the file give it."""
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """Pool -> bytes that other models leave, instead of what options say of the pool."""
    beside_code: Mapping[str, int] = field(default_factory=dict[str, int])
    """Constant pool -> bytes that the code leaves."""
    alone: bool = False
    """No other model runs in its pools."""
    ready: Prepared | None = None
    """One of several models, prepared already; rules for constants may then be meant for another one."""
    state_bytes: int = 0
    """State of all models together."""
    most_state_bytes: int | None = None
    """Limit of the state of a window that slides; None: there is none."""


WHOLE_BUILD = Share()


def plan_model(
    path: Path,
    board: Board,
    options: Options,
    *,
    emulated: bool = False,
    share: Share = WHOLE_BUILD,
    progress: Progress = silent,
) -> Planned:
    """Import, rewrite and search one model. Raises CodegenError as those stages do.

    A window that slides keeps less state where it does not fit otherwise.
    """
    check_sizes(options)
    ready, among_others = share.ready, share.ready is not None
    name = share.name or model_name(path, options.names)
    plans = Tally(progress, f"plan {name}, plans weighed:")
    open_end = None
    if ready is None:
        options, open_end = _closed(path, board, options, name, emulated=emulated, progress=progress)
        progress(f"import {name}")
        pools = [pool.name for pool in board_pools(options, board, emulated=emulated)]
        ready = prepared(path, options, pools, name=name, most_state_bytes=share.most_state_bytes)
    check_npu(ready.module.main, board)
    choices = replace(search_choices(options, emulated=emulated), placed=ready.placed)
    compress = compress_mode(options, alone=not among_others)
    choices = replace(choices, alone=share.alone, among_others=among_others, compress=compress)
    choices = replace(choices, beside_code=share.beside_code, plans=plans, state_bytes=share.state_bytes)
    choices = choices.limited(share.limits)
    progress(f"plan {name}")
    try:
        with explaining(options, alone=not among_others):
            program = with_or_without_blocks(choices, partial(_searched, ready, board, name, progress))
    except DoesNotFit:
        less = None if among_others else _less_state(ready.sliding)
        if less is None:
            raise
        return plan_model(
            path,
            board,
            options,
            emulated=emulated,
            share=replace(share, name=name, most_state_bytes=less),
            progress=progress,
        )
    if program.ranges is not None:
        program = replace(program, ranges=replace(program.ranges, open_end=open_end))
    metadata = {
        **program.metadata,
        "options": " ".join([_spelled(options, board), *declared_kernels(ready.module)]),
    }
    return Planned(
        module=ready.module,
        program=replace(program, metadata=metadata, interface=options.interface),
        macs=ready.macs,
        reduction=ready.reduction,
        sliding=ready.sliding,
        at=None if ready.sizes is None else ready.sizes.reference,
        file=ready.file,
    )


def _less_state(sliding: Sliding | None) -> int | None:
    """Bytes of the next smaller state that a window can do with; None: there is none."""
    if sliding is None:
        return None
    return max((size for size, _ in sliding.trades if size < sliding.state_bytes), default=None)


def _searched(ready: Prepared, board: Board, name: str, progress: Progress, choices: Choices) -> Program:
    """The program of a model at fixed sizes, or for all of its sizes."""
    if ready.sizes is None:
        return search(ready.module, board, choices, name=name)
    return search_sizes(ready.module, board, choices, ready.sizes, name=name, progress=progress)


def _spelled(options: Options, board: Board) -> str:
    """The flags of a build. An alias of a board, or where files lie, makes no other build."""
    memory = memory_of(options)
    return replace(options, board=board.name, memory_model=memory and memory.name).spelled


def declared_kernels(module: Module) -> tuple[str, ...]:
    """`operator=symbol` of every kernel of the user's that a module calls, sorted."""
    attrs = [let.call.attrs for let in module.main.body if isinstance(let.call.attrs, UserAttrs)]
    return tuple(sorted({f"{user.kernel.op}={user.kernel.symbol}" for user in attrs}))


def _closed(
    path: Path, board: Board, options: Options, name: str, *, emulated: bool, progress: Progress
) -> tuple[Options, OpenEnd | None]:
    """`options` with the largest size that fits in place of an open upper end, and why it ends there."""
    if not any(dim.is_open for dim in options.dims):
        return options, None
    dims = dims_of(path, options.dims, byte_limits(options.model_limit), options.fixes)
    assert dims is not None, "there is an open one"
    choices = search_choices(options, emulated=emulated)
    symbol = next(symbol for symbol in dims.symbols if symbol.name == dims.open_symbol)
    sizes = sizes_of(path, options, dims)
    end = largest_size(sizes, symbol, board, choices, name=name, progress=progress)
    closed = tuple(dim.closed(end.high) if dim.is_open else dim for dim in options.dims)
    return replace(options, dims=closed), end


@telling()
def build(
    paths: Sequence[Path],
    options: Options,
    folder: Path,
    *,
    emulated: bool = False,
    progress: Progress = silent,
) -> Built:
    """Models in, `folder` out: sources, firmware.elf, report.json. Nothing is left of a failed build.

    Raises CodegenError as the stages do.
    """
    # Planning imports this module too, and needs neither templates nor a toolchain.
    from codegen import emit, toolchain
    from codegen.driver.checks.image_checks import (
        check_image,
        check_stack_budget,
        sandbox_board,
        short_stacks,
    )
    from codegen.driver.checks.lock import check_lock, check_place, figures_of, write_lock
    from codegen.driver.report.product import product_of

    board = option_board(options.board, options.pools, memory_of(options))
    if options.sandbox:
        board = sandbox_board(board)
    if len(paths) == 1:
        options = replace(options, concurrent=())  # of a project with more models
    files = {model.name: model.path for model in model_names(paths, options.names)}
    if len(files) > 1 and any(dim.is_open for dim in options.dims):
        check_sizes(options, "an open end in a build of several models")
    check_place(options.lock)
    check_groups(options.concurrent, tuple(files))
    check_models(options.places, tuple(files))
    check_named(options.states, tuple(files))
    ready = _all_prepared(files, board, options, emulated=emulated, progress=progress)
    lasting_bytes = _state_bytes(ready, board, options)

    def planned(name: str, limits: Mapping[str, int], beside: Mapping[str, int]) -> Planned:
        with of_model(name if ready else None):
            return plan_model(
                files[name],
                board,
                options,
                emulated=emulated,
                share=Share(
                    name=name,
                    limits=limits,
                    beside_code=beside,
                    alone=not ready,
                    ready=ready.get(name),
                    state_bytes=lasting_bytes,
                ),
                progress=progress,
            )

    def built(beside: Mapping[str, int]) -> Built:
        """`beside`: bytes by constant pool that the code leaves."""
        with explaining(options, alone=not ready):
            models, bundle = joined(tuple(files), options, lambda name, limits: planned(name, limits, beside))
        check_rules(options.constant_rules, bundle.programs)
        progress("write C")
        check_interface(bundle)
        level, tools = toolchain.LEVELS[options.optimize], toolchain.tools(board, options.optimize)
        check_firmware(options.firmware, bundle)
        sources = emit.render(bundle, level, tools, options.firmware)
        changed: list[Message] = []
        with emit.staged(sources, folder, changed_meanwhile(folder, changed)) as staging:
            try:
                image = toolchain.build(sources, staging, board, optimize=options.optimize, progress=progress)
            except toolchain.RegionsTooSmall as missed:
                raise LinkedTooLarge(missed, bundle) from None
            check_image(image, board, bundle)
            check_stack_budget(image, board, options.stack_bytes)
            built_ = Built(
                models=models,
                bundle=bundle,
                board=board,
                image=image,
                folder=folder,
                product=product_of(bundle, sources, level_flags(board.target, level), image.sizes),
                left_out=short_stacks(image, board),
            )
            figures = figures_of(bundle, image.sizes, sources.build_sha256, _spelled(options, board))
            check_lock(options.lock, figures)
            if built_.left_out:
                image.path.unlink()
            elif board.flash is not None and board.flash.uf2_family is not None:
                toolchain.write_uf2(image.path, board.flash.uf2_family)
            for name, text in emit.figures(bundle, sources.files, sources.build_sha256, image.sizes).items():
                (staging / name).write_text(text, encoding="utf-8", newline="\n")
            readme = emit.folder_readme(bundle, built_.product, sources.files)
            (staging / "README.md").write_text(readme, encoding="utf-8", newline="\n")
            emit.write_bill(
                staging,
                (bundle.prefix, sources.build_sha256),
                {
                    program.name: (program.metadata["format"], program.metadata["sha256"])
                    for program in bundle.programs
                },
                {"compiled-by": tools},
            )
            (staging / "report.json").write_text(to_json(document(built_, options)), encoding="utf-8")
        write_lock(options.lock, figures)
        image = replace(image, path=folder / image.path.relative_to(staging))
        return replace(built_, image=image, changed=tuple(changed))

    # Constants that are handed over take no room from code; those of several models are linked together.
    return built({}) if ready or options.interface.external else beside_code(built, board)


def _state_bytes(ready: Mapping[str, Prepared], board: Board, options: Options) -> int:
    """Bytes of all state of several models for which no `[[state]]` rule names a pool."""
    alignment = max(board.buffer_alignment_bytes, board.pool_alignment_bytes)
    total = 0
    for name, model in ready.items():
        rules = [rule for rule in options.states if rule.model in (None, name)]
        total += state_bytes(model.module.main, rules, alignment)
    return total


def _all_prepared(
    files: Mapping[str, Path], board: Board, options: Options, *, emulated: bool, progress: Progress
) -> Mapping[str, Prepared]:
    """All models of a build of several, before search; none of a build of one.

    Raises CodegenError as `prepared` does of each, with its name, and as `check_missed` does.
    """
    pools = [pool.name for pool in board_pools(options, board, emulated=emulated)]
    ready: dict[str, Prepared] = {}
    if len(files) == 1:
        return ready
    for index, (name, path) in enumerate(files.items()):
        progress("import", index, len(files))
        with of_model(name):
            ready[name] = prepared(path, options, pools, name=name, among_others=True)
            check_npu(ready[name].module.main, board)
    if options.windows and all(model.sliding is None for model in ready.values()):
        raise no_such_input(options.windows[0], list(ready))
    check_missed({name: model.missed for name, model in ready.items()})
    return ready


def document(built: Built, options: Options, measured: Sequence[Measured] = ()) -> dict[str, object]:
    """The report.json of a build; with `measured`, one entry a model, of a run."""
    runs: Sequence[Measured | None] = measured or [None] * len(built.models)
    called = in_smallest_forms([model.program.steps.prim_funcs for model in built.models])
    sizes = built.image.sizes
    documents = [
        report(model, options.board, sizes, run, called=prims)
        for model, run, prims in zip(built.models, runs, called, strict=True)
    ]
    whole = documents[0] if built.bundle.is_single else joint_report(built.bundle, documents)
    warnings = [message.document for message in built.warnings]
    head = {"schema": whole["schema"], "build": {"sha256": built.image.build_sha256}}
    return head | whole | {"product": to_builtins(built.product), "warnings": warnings}


def search_choices(options: Options, *, emulated: bool) -> Choices:
    """Everything in `options` that fixes a choice of the search."""
    asked: dict[str, Any] = {option.name: getattr(options, option.name) for option in fields(SearchOptions)}
    asked["stage"] = stage_mode(options)
    limits = Limits(seed=options.seed, deadline_seconds=options.deadline_seconds)
    return Choices(**asked, limits=limits, emulated=emulated, memory=memory_of(options))


def memory_of(options: Options) -> MemoryModel | None:
    """The flash that kernels are chosen for. Raises CodegenError as `load_memory_model` does."""
    return None if options.memory_model is None else boards.load_memory_model(options.memory_model)
