"""From a written folder of sources to a linked, checked image: its pools lie where they should."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from codegen.disk import temporary_folder
from codegen.errors import Messages
from codegen.ir import Board, Runner
from codegen.program.image import ElfSizes, FunctionCode, Image, Sources
from codegen.progress import Progress, silent
from codegen.settings import Optimize
from codegen.targets.families import family_of, level_flags
from codegen.toolchain import callgraph, elf, gcc, host_build, stack_bound
from codegen.toolchain.elf import Elf

Symbols = Mapping[str, tuple[int, int]]
"""Symbol -> two numbers; of an image: address and bytes."""


def check_placed(elf: Elf, board: Board, prefix: str) -> None:
    """Check that the pools `<prefix>_<pool>_pool` lie in their regions, each defined once, none on another.

    Raises CodegenError E507 with all that do not.
    """
    writable = [region.pool_name for region in board.regions if region.writable]
    names = {f"{prefix}_{pool}_pool" for pool in writable}
    messages = Messages()
    pools: dict[str, tuple[int, int]] = {}
    for symbol in elf.symbols:
        if symbol.name in names:
            if symbol.name in pools:
                messages.add("E507", "is in the image twice", where=f"pool {symbol.name}")
            pools[symbol.name] = (symbol.address, symbol.size_bytes)
    _check_apart(pools, messages)
    _check_regions(pools, board, messages)
    messages.raise_if_any()


def check_pools(image: Image, board: Board, planned: Symbols) -> None:
    """Check that each planned pool is in the image with its size and alignment, in its region.

    `planned`: symbol `<model>_<pool>_pool` -> (bytes; bytes of which its address must be a multiple).
    On `host` pools have no regions. Raises CodegenError E507 with all that differ.
    """
    messages = Messages()
    for name, (size_bytes, alignment) in planned.items():
        symbol = image.symbols.get(name)
        if symbol is None:
            messages.add("E507", "is not in the image", where=f"pool {name}")
        elif symbol[1] != size_bytes:
            text = f"has {symbol[1]} bytes in the image, {size_bytes} in the plan"
            messages.add("E507", text, where=f"pool {name}")
        elif symbol[0] % alignment:
            text = f"lies at 0x{symbol[0]:08x}, not at a multiple of {alignment} bytes"
            help_ = "the linker script must keep the alignment of .bss.cg sections"
            messages.add("E507", text, where=f"pool {name}", help=help_)
    present = {name: image.symbols[name] for name in planned if name in image.symbols}
    _check_apart(present, messages)
    _check_regions(present, board, messages)
    messages.raise_if_any()


def _check_apart(pools: Symbols, messages: Messages) -> None:
    ordered = sorted(pools.items(), key=lambda item: item[1])
    for (lower, (address, size_bytes)), (upper, (start, _)) in itertools.pairwise(ordered):
        if address + size_bytes > start:
            messages.add("E507", f"overlaps pool {upper} in the image", where=f"pool {lower}")


def _check_regions(pools: Symbols, board: Board, messages: Messages) -> None:
    if board.runner is Runner.HOST:
        return
    for name, (address, size_bytes) in pools.items():
        matching = [region for region in board.regions if name.endswith(f"_{region.pool_name}_pool")]
        region = max(matching, key=lambda region: len(region.name), default=None)
        if region is not None and not (region.address <= address and address + size_bytes <= region.end):
            messages.add(
                "E507",
                f"lies at 0x{address:08x}, outside region {region.name} "
                f"(0x{region.address:08x} to 0x{region.end:08x})",
                where=f"pool {name}",
                help="the board's linker script must send .bss.cg sections to their regions",
            )


LEVELS: Mapping[Optimize, str] = {"speed": "-O3", "balanced": "-O2", "size": "-Os"}
"""Optimisation of the product's files; the rest of the test firmware is always built for size."""

FIRMWARE_NAME = "firmware.elf"
JOBS = 2
"""Compilers at once."""
CORE1_MAIN = "cg_core1_main"
"""Function in which the second core waits for `ProductFunctions.core1`."""
HOOK_FUNCTIONS = ("cg_step_begin", "cg_step_end")

_OPTIONS = (
    "-std=c11",
    "-g",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-strict-aliasing",
    "-fno-common",
)
# Not -ffreestanding: it would turn every memcpy of four bytes into a call.
_LIBRARIES = ("-lc", "-lgcc")


def build(
    sources: Sources,
    folder: Path,
    board: Board,
    *,
    optimize: Optimize = "balanced",
    sanitize: bool = False,
    progress: Progress = silent,
) -> Image:
    """Compile and link the sources already written in `folder`; the image is written there too.

    For an ARM board the image is `firmware.elf`, for `host` the shared library `firmware.so` or,
    with `sanitize`, the executable `firmware.poisoned` (AddressSanitizer and UBSan, see
    runtime_c/targets/host). Objects live in a temporary folder. Equal sources, board and options give
    equal bytes wherever `folder` is. `progress` hears of every file.

    Raises CodegenError: E410 a region is too small (RegionsTooSmall), E501 compiler missing, E502 compile
    error, E503 link error, E504 recursion, E505 no stack bound, E506 heap, E507 pool outside its region;
    ValueError for `sanitize` on a board other than `host`.
    """
    with temporary_folder("build") as objects:
        place = gcc.CompilePlace(folder=folder.resolve(), objects=objects, jobs=JOBS, progress=progress)
        if board.runner is Runner.HOST:
            level = LEVELS[optimize]
            build_one = host_build.build_poisoned if sanitize else host_build.build_library
            return build_one(sources, board, place, level)
        if sanitize:
            raise ValueError(f"sanitizers run on the board `host` only, not on {board.name}")
        return _ImageBuild(sources=sources, board=board, place=place, level=LEVELS[optimize]).build()


def tools(board: Board, optimize: Optimize) -> str:
    """Name the tools that decide, beside the sources, which code `build` makes: compiler, version, flags.
    Raises CodegenError E501."""
    if board.runner is Runner.HOST:
        compiler, flags = host_build.compiler(board, LEVELS[optimize]), ()
    else:
        compiler, flags = _compiler(board), level_flags(board.target, LEVELS[optimize])
    return " ".join([compiler.name, compiler.version(), *compiler.options, *flags])


def _compiler(board: Board) -> gcc.Compiler:
    facts = family_of(board.target.cpu).compiler
    words = (*facts.compile_flags(board.target), *facts.options)
    return gcc.Compiler(prefix=facts.prefix, options=(*words, *_OPTIONS))


def _linker(board: Board) -> gcc.Compiler:
    facts = family_of(board.target.cpu).compiler
    words = (*facts.link_flags(board.target), *facts.options, *facts.link_options)
    return gcc.Compiler(prefix=facts.prefix, options=(*words, *_OPTIONS))


@dataclass(frozen=True, kw_only=True, slots=True)
class _ImageBuild:
    sources: Sources
    board: Board
    place: gcc.CompilePlace
    level: str

    def build(self) -> Image:
        """Compile test firmware and product, link both, measure both, publish the firmware."""
        if self.sources.linker_script is None:
            raise ValueError(f"sources for {self.board.name} have no linker script")
        firmware, product = self._compile()
        image = self._link_firmware(firmware, self.sources.linker_script)
        linked = elf.read(image)
        self._check(linked)
        stacks = self._stack_bounds(image, linked)
        functions = self._functions(product, stacks[2])
        sizes = ElfSizes(
            text_bytes=linked.text_bytes,
            rodata_bytes=linked.rodata_bytes,
            data_bytes=linked.data_bytes,
            bss_bytes=linked.bss_bytes,
            model_code_bytes=sum(function.size_bytes for function in functions),
            stack_bound_bytes=max(stacks[0].values()),
            core1_stack_bound_bytes=stacks[1],
            stack_bounds=stacks[0],
            functions=functions,
        )
        path = self.place.published(image)
        return Image(
            path=path,
            sizes=sizes,
            symbols=linked.symbol_map(),
            sections=linked.section_map(),
            build_sha256=self.sources.build_sha256,
        )

    def _compile(self) -> tuple[list[Path], list[Path]]:
        """Objects of the test firmware, and of the product as it ships: without step hooks."""
        includes = tuple(f"-I{path}" for path in self.sources.include_dirs)
        model_files = frozenset(self.sources.model_files)
        hooked = frozenset(path for path in model_files if "CG_STEP_" in self.sources.files[path])

        def unit(index: int, path: str, *, hooks: bool) -> gcc.CompileUnit:
            level = level_flags(self.board.target, self.level if path in model_files else "-Os")
            name = f"{index:03}_{Path(path).stem}{'' if hooks else '_product'}.o"
            # The assembler says nothing of stack: callgraph reads its instructions.
            stack_usage = ("-fstack-usage",) if path.endswith(".c") else ()
            defines = ("-DCG_STEP_HOOKS",) if hooks else ()
            options = (*gcc.warnings(path), *includes, *level, *stack_usage, *defines)
            return gcc.CompileUnit(source=path, object=self.place.objects / name, options=options)

        firmware = [
            unit(index, path, hooks=self.sources.is_traced) for index, path in enumerate(self.sources.c_files)
        ]
        product = [
            unit(index, path, hooks=self.sources.is_traced and path not in hooked)
            for index, path in enumerate(self.sources.c_files)
            if path in model_files
        ]
        _compiler(self.board).compile(
            [*firmware, *(unit for unit in product if unit not in firmware)], self.place
        )
        return [unit.object for unit in firmware], [unit.object for unit in product]

    def _link_firmware(self, objects: Iterable[Path], script: str) -> Path:
        image = self.place.objects / FIRMWARE_NAME
        # What the test link does not call is measured all the same: its stack, its code.
        kept = [f"-Wl,-u,{name}" for name in self.sources.functions.others]
        options = ("-nostdlib", "-Wl,--gc-sections", *kept, f"-T{script}")
        _linker(self.board).link([*options, *map(str, objects), *_LIBRARIES, "-o", str(image)], self.place)
        return image

    def _check(self, linked: elf.Elf) -> None:
        elf.check_no_heap(linked)
        check_placed(linked, self.board, self.sources.prefix)

    def _functions(self, product: Iterable[Path], tree_bounds: Mapping[str, int]) -> tuple[FunctionCode, ...]:
        """The entry functions and all they call, linked alone without step hooks; `tree_bounds` by name.

        Linking the product alone also shows that it needs nothing but memcpy, memset and libgcc.
        """
        image = self.place.objects / "product.elf"
        entries = (*self.sources.functions.entries, *self.sources.functions.others)
        if self.sources.functions.core1:
            entries = (*entries, CORE1_MAIN)
        roots = (f"-Wl,-e,{entries[0]}", *(f"-Wl,-u,{entry}" for entry in entries))
        # What an application has to define stands for nothing here: it is no code of the model.
        stand_ins = [f"-Wl,--defsym={name}={entries[0]}" for name in self.sources.functions.callbacks]
        options = ("-nostdlib", "-Wl,--gc-sections", *roots, *stand_ins)
        _linker(self.board).link([*options, *map(str, product), *_LIBRARIES, "-o", str(image)], self.place)
        linked = elf.read(image)
        functions = callgraph.read(image, linked, family_of(self.board.target.cpu))
        entries = (*entries, *self.sources.functions.core1)
        return tuple(
            FunctionCode(
                name=code.name,
                address=code.address,
                size_bytes=code.size_bytes,
                stack_bound_bytes=tree_bounds.get(code.name),
                reached=callgraph.below(functions, [code.address]),
            )
            for code in callgraph.reached(functions, entries, without=HOOK_FUNCTIONS)
        )

    def _stack_bounds(
        self, image: Path, linked: elf.Elf
    ) -> tuple[Mapping[str, int], int | None, Mapping[str, int]]:
        """Bounds of all entry functions, which never run at once; that of core 1, None where no step runs
        there; those of all that they call."""
        functions = callgraph.read(image, linked, family_of(self.board.target.cpu))
        compiled = stack_bound.frames(path.read_text() for path in sorted(self.place.objects.glob("*.su")))
        entries = (*self.sources.functions.entries, *self.sources.functions.others)
        bounds = {name: stack_bound.bound(name, functions, compiled, linked).size_bytes for name in entries}
        posted = self.sources.functions.core1
        called = callgraph.reached(functions, (*entries, *posted))
        below = stack_bound.tree_bounds(called, functions, compiled, linked)
        if not posted:
            return bounds, None, below
        core1 = stack_bound.bound(CORE1_MAIN, functions, compiled, linked, pointed={CORE1_MAIN: posted})
        return bounds, core1.size_bytes, below
