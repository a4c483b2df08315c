"""Building for the board `host`: a shared library to call in process, or an executable with sanitizers."""

from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path

from elftools.elf.elffile import ELFFile

from codegen import resources
from codegen.ir import Board
from codegen.program.image import ElfSizes, Image, Sources
from codegen.targets.families import family_of
from codegen.toolchain import elf, gcc

LIBRARY_NAME = "firmware.so"
POISONED_NAME = "firmware.poisoned"

GUARD_BYTES = 64
"""Unowned bytes in front of and behind every pool; a multiple of any pool alignment used on the host."""

_OPTIONS = ("-std=c11", "-g", "-fno-strict-aliasing", "-fno-common", "-DCG_STEP_HOOKS")
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
_POOL_SECTIONS = ".bss.cg."


def compiler(board: Board, level: str) -> gcc.Compiler:
    """Compiler of the shared library."""
    return _compiler(board, "-fPIC", level)


def _compiler(board: Board, *flags: str) -> gcc.Compiler:
    facts = family_of(board.target.cpu).compiler
    return gcc.Compiler(prefix=facts.prefix, options=(*facts.compile_flags(board.target), *_OPTIONS, *flags))


def build_library(sources: Sources, board: Board, place: gcc.CompilePlace, level: str) -> Image:
    """The shared library `firmware.so`; see build. `model_code_bytes` is all code of the product's files."""
    tools = compiler(board, level)
    objects = _compile(sources, board, place, tools, ("bench_host.c",))
    built = place.objects / LIBRARY_NAME
    # -Bsymbolic: two libraries loaded at once must not see each other's symbols.
    arguments = ["-shared", "-Wl,-Bsymbolic", *_guarded(objects.values(), place), "-o", str(built)]
    tools.link(arguments, place)
    linked = elf.read(built)
    elf.check_no_heap(linked)
    return _image(place.published(built), linked, _code_bytes(sources, objects), sources.build_sha256)


def build_poisoned(sources: Sources, board: Board, place: gcc.CompilePlace, level: str) -> Image:
    """The executable `firmware.poisoned`, in which each step may touch only the bytes its buffers own.

    `level` is not used: -O0 keeps the accesses of the source, which are what is checked, and takes a third of
    the time of -O1 to compile.
    """
    del level
    tools = _compiler(board, "-O0", *_SANITIZERS)
    objects = _compile(sources, board, place, tools, ("bench_host.c", "main.c"))
    built = place.objects / POISONED_NAME
    tools.link([*_guarded(objects.values(), place), "-o", str(built)], place)
    linked = elf.read(built)
    return _image(place.published(built), linked, _code_bytes(sources, objects), sources.build_sha256)


def _compile(
    sources: Sources, board: Board, place: gcc.CompilePlace, tools: gcc.Compiler, bench_files: Iterable[str]
) -> Mapping[str, Path]:
    """Objects by source: those of the folder, then those of the core family."""
    runtime = resources.folder("runtime_c")
    bench = runtime / "targets" / family_of(board.target.cpu).name
    includes = tuple(f"-I{path}" for path in (*sources.include_dirs, *resources.runtime_includes()))
    paths = [*sources.c_files, *(str(bench / name) for name in bench_files)]
    prefix_map = f"-ffile-prefix-map={runtime}=runtime_c"
    units = [
        gcc.CompileUnit(
            source=path,
            object=place.objects / f"{index:03}_{Path(path).stem}.o",
            options=(*gcc.warnings(path), *includes, prefix_map, f"-DCG_HOST_GUARD_BYTES={GUARD_BYTES}u"),
        )
        for index, path in enumerate(paths)
    ]
    tools.compile(units, place)
    return {unit.source: unit.object for unit in units}


def _code_bytes(sources: Sources, objects: Mapping[str, Path]) -> int:
    return sum(_text_bytes(objects[path]) for path in sources.c_files if path in sources.model_files)


def _guarded(objects: Iterable[Path], place: gcc.CompilePlace) -> list[str]:
    """Link arguments for `objects` that lay out every pool between guard bytes.

    On the target the linker script does this; here a fragment is inserted into ld's own script.
    """
    objects = list(objects)
    lines = [
        f"    . = ALIGN({GUARD_BYTES}); . += {GUARD_BYTES}; */{path.name}({section}) . += {GUARD_BYTES};"
        for path in objects
        for section in _pool_sections(path)
    ]
    arguments = [str(path) for path in objects]
    if lines:
        script = place.objects / "guards.ld"
        head = ["SECTIONS", "{", f"  .cg_pools : ALIGN({GUARD_BYTES})", "  {"]
        script.write_text("\n".join([*head, *lines, "  }", "}", "INSERT BEFORE .bss;", ""]))
        arguments += ["-T", str(script)]
    return arguments


def _pool_sections(path: Path) -> list[str]:
    data = path.read_bytes()
    if _POOL_SECTIONS.encode() not in data:  # most objects have none, and reading all sections takes long
        return []
    names = [section.name for section in ELFFile(BytesIO(data)).iter_sections()]
    return [name for name in names if name.startswith(_POOL_SECTIONS)]


def _text_bytes(path: Path) -> int:
    with path.open("rb") as file:
        sections = list(ELFFile(file).iter_sections())
    return sum(section["sh_size"] for section in sections if section.name.startswith(".text"))


def _image(path: Path, linked: elf.Elf, model_code_bytes: int, build_sha256: str) -> Image:
    sizes = ElfSizes(
        text_bytes=linked.text_bytes,
        rodata_bytes=linked.rodata_bytes,
        data_bytes=linked.data_bytes,
        bss_bytes=linked.bss_bytes,
        model_code_bytes=model_code_bytes,
        stack_bound_bytes=None,
    )
    return Image(
        path=path,
        sizes=sizes,
        symbols=linked.symbol_map(),
        sections=linked.section_map(),
        build_sha256=build_sha256,
    )
