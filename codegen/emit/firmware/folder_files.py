"""Files around the models in an emitted folder: a board's test firmware, build files.

Memory of the data region, from its start: the model's stack, the link's stack, data, bss, then the
pools between bytes that belong to nobody, then free memory (the link keeps inputs there).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath, PurePosixPath

from codegen import resources
from codegen.emit.c.c_text import fill
from codegen.emit.firmware import mlperf_tiny
from codegen.emit.gathered.kernel_files import PUBLIC_HEADER
from codegen.emit.gathered.runtime_files import included_headers
from codegen.ir import Board, CacheKind, Region, Runner, SecondCore, Target
from codegen.program.program import Bundle, Program, uses_second_core
from codegen.settings import Firmware
from codegen.targets.families import compile_flags, family_of, level_flags, protection_of

GUARD_BYTES = 32
"""Bytes of nobody in front of the pools of the data region, and behind the pools of every region."""

_WORD_BYTES = 4

FRAME_OVERHEAD_BYTES = 12
"""Header, session and checksum around a frame's payload."""

_PAYLOADS = ((64 << 10, 1024), (16 << 10, 512), (0, 128))
"""(least bytes of data region, payload bytes of a frame)."""

_BENCH = ("context.c", "framing.c", "measure.c", "measure.h", "target.c")
_MAINS: Mapping[Firmware, Sequence[str]] = {
    "test": tuple(f"bench/{name}" for name in _BENCH),
    "mlperf-tiny": ("bench/measure.c", "bench/measure.h", *mlperf_tiny.FILES),
}
"""By firmware: what start-up calls, and what that needs."""
_CORE1_INTERFACE = "bench/core1.h"

_OWN_TARGETS = ("options", "runtime", "shared", "firmware")
"""Targets of a folder beside its models; in CMake with a model's target in front."""
_CMAKE_TARGETS = "all clean depend edit_cache firmware help install package rebuild_cache test"
_RESERVED_TARGETS = frozenset(_CMAKE_TARGETS.split())

LICENCE_FILE = "LICENSE"
"""Emitted path of the terms of all that is copied; what is generated is the user's (0BSD)."""


def emitted_name(path: PurePath) -> str:
    """Path of a file of runtime_c, `path` below it, in an emitted folder: kernels of all instruction sets
    in one, headers in one, what is for the core family alone in `core`."""
    kind = path.parts[0]
    if kind == "targets":
        kind = "include" if path.parts[2] == "include" else "core"
    return f"{kind}/{path.name}"


# ---- test firmware ----------------------------------------------------------------------


def payload_bytes(board: Board) -> int:
    """Payload bytes of the test link's frames on `board`: as many as its memory can spare."""
    size = board.region(board.data_region).size_bytes
    return next(payload for least, payload in _PAYLOADS if size >= least)


def firmware_files(
    board: Board, programs: Sequence[Program], firmware: Firmware = "test"
) -> Mapping[str, str]:
    """Path -> text of `firmware/startup.c`, `firmware/link.ld`, `firmware/port/*.c`, and of what a `firmware`
    does: `firmware/bench/*`, or `firmware/mlperf_tiny/*` and the model for it.

    Every `.c` file among them is to be compiled. The same for all programs of a board, but for the second
    core, which is started where one has steps on it: models are found through `cg_bench_models`. Raises
    ValueError for a board without counter (`host`), or without the core that a program needs.
    """
    core1 = _second_core(board) if uses_second_core(programs) else None
    views, family = _views(board, core1), family_of(board.target.cpu).name
    facts = family_of(board.target.cpu).firmware
    names = ["cg_core.h", *(["core.c"] if firmware == "test" else []), *(facts.files if facts else ())]
    names += [] if core1 is None else ["core1.c", f"core1_{core1.driver}.c"]
    core = [_port_file(board, name) for name in names]
    copied = (*_MAINS[firmware], *core, *port_files(board), *([_CORE1_INTERFACE] if core1 else []))
    return {
        "firmware/link.ld": fill(f"targets/{family}/link.ld.j2", **views),
        "firmware/startup.c": fill(f"targets/{family}/startup.c.j2", **views),
        **{f"firmware/{emitted_name(PurePath(name))}": _runtime(name) for name in copied},
        **({} if firmware == "test" else {mlperf_tiny.MODEL_FILE: mlperf_tiny.mlperf_model(programs[0])}),
    }


def firmware_headers(texts: Iterable[str]) -> Mapping[str, str]:
    """Path -> text of headers of the runtime that the test firmware includes and a product has not."""
    headers = included_headers(texts)
    return {f"firmware/{name}": text for name, text in headers.items() if name != PUBLIC_HEADER}


def _second_core(board: Board) -> SecondCore:
    if board.second_core is None:
        raise ValueError(f"board {board.name} has no second core: devices were not planned for it")
    return board.second_core


def port_files(board: Board) -> tuple[str, ...]:
    """Drivers of `board`, as paths below runtime_c. Raises ValueError for a board without counter."""
    if board.counter is None:
        raise ValueError(f"board {board.name} has no counter: there is no test firmware for it")
    boot = () if board.boot_stage is None else (f"boot_{board.boot_stage}.S",)
    names = (
        *boot,
        f"cache_{'l1' if _caches(board) else 'none'}.c",
        f"counter_{board.counter.driver}.c",
        f"mpu_{board.mpu or 'none'}.c",
        f"setup_{board.startup or 'none'}.c",
        f"uart_{board.uart.driver if board.uart else 'none'}.c",
    )
    return tuple(_port_file(board, name) for name in names)


def _port_file(board: Board, name: str) -> str:
    """The path below runtime_c of a file of the core family, or of a driver that all cores share."""
    runtime = resources.folder("runtime_c")
    paths = [f"{folder}/{name}" for folder in family_of(board.target.cpu).port_folders]
    return next((path for path in paths if (runtime / path).is_file()), paths[-1])


def _caches(board: Board) -> bool:
    """True if the core has caches that the firmware turns on."""
    return any(cache.kind is not CacheKind.FLASH for cache in board.caches)


def _runtime(name: str) -> str:
    return resources.folder("runtime_c").joinpath(*PurePosixPath(name).parts).read_text(encoding="utf-8")


def _views(board: Board, core1: SecondCore | None) -> Mapping[str, object]:
    if board.counter is None:
        raise ValueError(f"board {board.name} has no counter: there is no test firmware for it")
    data, code = board.region(board.data_region), board.region(board.code_region)
    facts, unit = family_of(board.target.cpu).firmware, protection_of(board)
    pools = [region for region in board.regions if region.writable]
    constants = [region for region in board.regions if not region.writable and region != code]
    return {
        **(facts.template_values(board) if facts else {}),
        "board": board,
        "core1": core1,
        "regions": board.regions,
        "pool_regions": pools,
        "constant_regions": constants,
        "code": code.pool_name,
        "code_region": code.name,
        "data": data.pool_name,
        "data_region": data.name,
        "data_address": data.start,
        "data_end": data.end,
        "front_bytes": {region.name: GUARD_BYTES if region == data else 0 for region in pools},
        "guard_bytes": GUARD_BYTES,
        "edge_bytes": unit.edge_bytes if unit else _WORD_BYTES,
        "pool_edge_bytes": max(unit.edge_bytes if unit else _WORD_BYTES, GUARD_BYTES),
        "stack_bytes": board.stack_bytes,
        "link_stack_bytes": facts.link_stack_bytes if facts else 0,
        "frame_bytes": payload_bytes(board) + FRAME_OVERHEAD_BYTES,
        "uart_divider": f"{round(board.clock_hz / board.uart.baud) if board.uart else 0}u",
        "uart_address": board.uart.address if board.uart else 0,
        "uart_interrupt": _uart_interrupt(board),
        "closed": _closed(board),
        "mpu_ranges": _mpu_ranges(board),
        "has_caches": _caches(board),
        "read_only": [
            (f"__cg_{region.pool_name}_start", f"__cg_{region.pool_name}_end")
            for region in (code, *constants)
        ],
        "symbols": [*_symbols(pools, (code, *constants)), *(["__cg__core1_stack_end"] if core1 else [])],
    }


def _uart_interrupt(board: Board) -> str:
    number = board.uart.interrupt if board.uart else None
    return "CG_NO_INTERRUPT" if number is None else f"{number}u"


def _closed(board: Board) -> list[tuple[int, int]]:
    """Ranges [start, end) that the MPU closes to all: holes, and NULL where memory for data begins at 0."""
    holes = [(hole.address, hole.address + hole.size_bytes) for hole in board.holes]
    return holes + [
        (region.address, region.start) for region in board.regions if region.start != region.address
    ]


def _mpu_ranges(board: Board) -> int:
    """Most ranges the MPU is told of: data, each pool, code and constants, NULL before code, closed ones."""
    null_page = board.region(board.code_region).address == 0
    return 1 + len(board.regions) + null_page + len(_closed(board))


def _symbols(pools: Sequence[Region], read_only: Sequence[Region]) -> list[str]:
    """Symbols of the linker script; two underscores keep its own ones apart from regions' names."""
    script_symbols = (
        "stack_start",
        "stack_end",
        "link_stack_end",
        "data_start",
        "data_end",
        "data_load",
        "bss_start",
        "bss_end",
    )
    names = [f"_{name}" for name in (*script_symbols, "free_start", "free_end")]
    names += [f"{region.pool_name}_{edge}" for region in read_only for edge in ("start", "end")]
    names += [
        f"{region.pool_name}_{edge}" for region in pools for edge in ("front", "start", "end", "guard_end")
    ]
    return [f"__cg_{name}" for name in names]


# ---- build files ------------------------------------------------------------------------


def _target(name: str) -> str:
    """CMake target of a model."""
    return f"{name}_model" if name in _RESERVED_TARGETS else name


def _stem(targets: Sequence[str]) -> str:
    """Stem of a folder's targets: the first model's target, so that folders in one tree are apart as their
    models are.
    More is put behind it where that makes another model's target.
    """
    candidates = (targets[0] + "_set" * count for count in range(len(targets) + 1))
    return next(stem for stem in candidates if not {f"{stem}_{word}" for word in _OWN_TARGETS} & {*targets})


def build_files(
    bundle: Bundle,
    *,
    product: Sequence[str],
    firmware: Sequence[str],
    include_dirs: Sequence[str],
    script: str | None,
    level: str,
) -> Mapping[str, str]:
    """CMakeLists.txt and, for a board that is cross-compiled for, toolchain.cmake.

    `product`: the models' files. Kernels among them are compiled with the optimisation `level`.
    `script`: the linker script, None where there is no firmware to link.
    """
    board = bundle.programs[0].board
    names = [program.name for program in bundle.programs]
    of_models = {f"{name}.c" for name in names} | {f"{bundle.prefix}_{part}.c" for part in ("data", "pools")}
    kernels = [path for path in product if path not in of_models]
    compiled = (*kernels, *(firmware if script else ()))
    languages = "C ASM" if any(path.endswith(".S") for path in compiled) else "C"
    models = [(_target(name), name) for name in names]
    views = {
        "board": board.name,
        "stem": _stem([target for target, _ in models]),
        "models": models,
        "shared": bundle.prefix,
        "is_single": bundle.is_single,
        "product": product,
        "kernels": kernels,
        "firmware": firmware,
        "firmware_include_dirs": [path for path in include_dirs if path != "."],
        "script": script,
        "languages": languages,
        "level": level,
        "size_flags": level_flags(board.target, "-Os")[1:],
        "firmware_flags": level_flags(board.target, "-Os"),
    }
    files = {"CMakeLists.txt": fill("cmake/CMakeLists.txt.j2", **views)}
    if board.runner is not Runner.HOST:
        target = board.target
        files["toolchain.cmake"] = toolchain_file(
            target.cpu,
            board=board.name,
            title=board.title,
            flags=compile_flags(target),
            link_flags=_link_flags(target),
        )
    return files


def _link_flags(target: Target) -> tuple[str, ...]:
    """Flags for linking alone, where a core is linked for otherwise than compiled for."""
    facts = family_of(target.cpu).compiler
    linked = (*facts.link_flags(target), *facts.link_options)
    return () if linked == facts.compile_flags(target) else linked


def toolchain_file(
    cpu: str, *, board: str, title: str, flags: Iterable[str], link_flags: Iterable[str] = ()
) -> str:
    """CMake's description of the compiler for a core. `link_flags` come behind `flags` where it links."""
    family = family_of(cpu)
    return fill(
        "cmake/toolchain.cmake.j2",
        board=board,
        title=title,
        flags=" ".join([*flags, *family.compiler.options]),
        link_flags=" ".join(link_flags),
        core=family.name,
        prefix=family.compiler.prefix,
    )
