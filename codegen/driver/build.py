"""The whole chain, one line per stage: model file -> module -> program -> sources -> image."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codegen import board as boards
from codegen import emit, importers, passes, toolchain
from codegen.driver.checks import check_image
from codegen.driver.options import Options
from codegen.driver.report import report, to_json
from codegen.driver.sandbox import sandbox_board
from codegen.errors import CodegenError, Message
from codegen.ir import Board, Module
from codegen.ir.ops import UserAttrs
from codegen.ir.text import print_module
from codegen.plan.bundle import together
from codegen.plan.image import Image
from codegen.plan.problem import Limits
from codegen.plan.program import Program
from codegen.search import Choices, identifier, search

Progress = Callable[[str], None]
"""Told the name of each piece of work as it starts."""


def quiet(stage: str) -> None:
    """A Progress that shows nothing."""
    del stage


@dataclass(frozen=True, kw_only=True, slots=True)
class Planned:
    """A model after search: the rewritten module that was searched, and its program."""

    module: Module
    program: Program
    macs: int
    """Multiply-accumulates of the file's graph, before any pass."""
    reduction: passes.Reduction | None = None
    """What made `module` smaller; None if that was turned off."""

    @property
    def own_macs(self) -> int:
        """Multiply-accumulates of `module`, each layer once."""
        return macs_of(self.module)

    @property
    def reference(self) -> Module:
        """What the program's values are compared with: not reduced, so that the reduction is checked too."""
        return self.module if self.reduction is None else self.reduction.original


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """Everything `build` made. `folder` holds sources, firmware.elf and report.json."""

    models: tuple[Planned, ...]
    board: Board
    image: Image
    folder: Path


def pipeline(
    options: Options, tell: Callable[[passes.Reduction], None] | None = None
) -> tuple[passes.Pass, ...]:
    """The passes between import and search, in order; `tell` hears what the reduction took out."""
    edges = (passes.IoTypesInt8(),) if options.io_types == "int8" else ()
    last = (passes.Reduce(tell=tell),) if options.reduce else ()
    return (
        passes.FoldConstants(),
        *edges,
        passes.FoldPad(),
        passes.FuseActivations(),
        passes.RemoveDead(),
        passes.Legalise(),
        *last,
    )


def plan_model(
    path: Path, board: Board, options: Options, *, name: str | None = None, emulated: bool = False
) -> Planned:
    """Import, rewrite and search one model. Raises CodegenError as those stages do."""
    ready = prepared(path, options)
    choices = search_choices(options, emulated=emulated)
    program = search(ready.module, board, choices, name=name or model_name(path))
    metadata = {**program.metadata, "options": " ".join([options.spelled, *declared_kernels(ready.module)])}
    return Planned(
        module=ready.module,
        program=replace(program, metadata=metadata, interface=options.interface),
        macs=ready.macs,
        reduction=ready.reduction,
    )


def declared_kernels(module: Module) -> tuple[str, ...]:
    """`operator=symbol` of every kernel of the user's that a module calls, sorted."""
    attrs = [let.call.attrs for let in module.main.body if isinstance(let.call.attrs, UserAttrs)]
    return tuple(sorted({f"{each.kernel.op}={each.kernel.symbol}" for each in attrs}))


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A model before search: see `Planned`."""

    module: Module
    macs: int
    reduction: passes.Reduction | None


def prepared(path: Path, options: Options) -> Prepared:
    """Import and rewrite one model. Raises CodegenError as those stages do."""
    imported = importers.load(path, options.kernels)
    observe = _observer(options, imported)
    reductions: list[passes.Reduction] = []
    module = passes.run_passes(imported, pipeline(options, reductions.append), observe)
    return Prepared(module=module, macs=macs_of(imported), reduction=reductions[0] if reductions else None)


def build(
    paths: Sequence[Path],
    options: Options,
    folder: Path,
    *,
    emulated: bool = False,
    progress: Progress = quiet,
) -> Built:
    """Models in, `folder` out: sources, firmware.elf, report.json. Nothing is left of a failed build.

    Raises CodegenError as the stages do.
    """
    board = boards.load_board(options.board)
    if options.sandbox:
        board = sandbox_board(board)
    models: list[Planned] = []
    for path, name in zip(paths, _names(paths), strict=True):
        progress(f"plan {name}")
        models.append(plan_model(path, board, options, name=name, emulated=emulated))
    progress("write C")
    bundle = together([model.program for model in models])
    sources = emit.render(bundle)
    with emit.staged(sources, folder) as staging:
        progress("compile")
        image = toolchain.build(sources, staging, board, optimize=options.optimize)
        check_image(image, board, bundle)
        (staging / "report.json").write_text(to_json(_document(models, options, image)), encoding="utf-8")
    moved = replace(image, path=folder / image.path.relative_to(staging))
    return Built(models=tuple(models), board=board, image=moved, folder=folder)


def model_name(path: Path) -> str:
    """C prefix for a model file."""
    return identifier(path.stem, "model", keep="head")


def _names(paths: Sequence[Path]) -> list[str]:
    names = [model_name(path) for path in paths]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise CodegenError(
            Message(
                code="E205", text=f"two models are called {', '.join(twice)}", help="rename one of the files"
            )
        )
    return names


def _document(models: Sequence[Planned], options: Options, image: Image) -> dict[str, object]:
    documents = [
        report(model.program, options.board, model.macs, image.sizes, reduction=model.reduction)
        for model in models
    ]
    return documents[0] if len(documents) == 1 else combine(documents)


def combine(documents: Sequence[dict[str, object]]) -> dict[str, object]:
    """Several models in one build: what they share once, the rest once a model."""
    shared = ("schema", "board", "elf")
    head = {key: documents[0][key] for key in shared if key in documents[0]}
    rest = [{key: part for key, part in each.items() if key not in shared} for each in documents]
    return {**head, "models": rest}


def search_choices(options: Options, *, emulated: bool) -> Choices:
    """What `options` fix of the search."""
    return Choices(
        planner=options.planner,
        optimize=options.optimize,
        io=options.io,
        keep_inputs=options.keep_inputs,
        schedule=options.schedule,
        stream_input=options.stream_input,
        blocks=options.blocks,
        sharing=options.sharing,
        pool_limits=options.pool_limits,
        limits=Limits(seed=options.seed, deadline_seconds=options.deadline_seconds),
        emulated=emulated,
    )


def macs_of(module: Module) -> int:
    """Multiply-accumulates of a module, each layer once."""
    total = 0
    for let in module.main.body:
        types = tuple(None if arg is None else arg.type for arg in let.call.args)
        total += let.call.op.macs(let.call.attrs, types, let.var.type)
    return total


def _observer(options: Options, imported: Module) -> Callable[[str, Module], None] | None:
    if options.dump_ir is None:
        return None
    folder = options.dump_ir
    folder.mkdir(parents=True, exist_ok=True)
    written = [0]

    def observe(stage: str, module: Module) -> None:
        (folder / f"{written[0]:02d}_{stage}.ir").write_text(print_module(module), encoding="utf-8")
        written[0] += 1

    observe("import", imported)
    return observe
