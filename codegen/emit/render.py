"""Rendering: programs in, the files of a folder out. Deterministic: no time, host, user or path."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

import codegen
from codegen.emit.bench import bench_view
from codegen.emit.build_files import build_files
from codegen.emit.constants import constant_views, pool_definition
from codegen.emit.environment import fill
from codegen.emit.firmware import firmware_files
from codegen.emit.header import header_view
from codegen.emit.literals import needs_math
from codegen.emit.names import pool_array, pool_macro, reader_name
from codegen.emit.places import Places, used_pools
from codegen.emit.runtime import header_files, kernel_files
from codegen.emit.steps import entry_view
from codegen.emit.text import declaration, starred
from codegen.ir import Runner
from codegen.plan.image import Sources
from codegen.plan.memory_map import program_map
from codegen.plan.program import Program

_MAP_WIDTH = 97
"""Columns of the memory map: what a comment's star leaves of a line."""


def render(programs: tuple[Program, ...]) -> Sources:
    """All files of the models in `programs`, which share runtime, build files and firmware.

    Raises ValueError for programs that cannot stand in one folder (two names alike, two boards) or
    that C cannot express: both are mistakes of the stages before.
    """
    _check(programs)
    board = programs[0].board
    kernels = kernel_files(programs)
    files: dict[str, str] = {}
    for program in programs:
        files |= _model_files(program)
    product = [path for path in files if path.endswith(".c")] + list(kernels)
    names = tuple(program.name for program in programs)
    firmware = {
        **{f"firmware/{program.name}_bench.c": _bench_file(program) for program in programs},
        "firmware/bench_models.c": fill("c/bench_models.c.j2", names=names),
        **_test_firmware(programs),
    }
    script = next((path for path in sorted(firmware) if path.endswith(".ld")), None)
    headers = header_files([*files.values(), *kernels.values(), *firmware.values()], kernels)
    sources = (".c", ".S")
    c_files = product + sorted(path for path in firmware if path.endswith(sources))
    include_dirs = (".", "runtime/include", *_header_folders(firmware))
    files = {**files, **headers, **kernels, **firmware}
    files |= build_files(
        board,
        names,
        kernels=tuple(kernels),
        firmware=tuple(c_files[len(product) :]),
        include_dirs=include_dirs,
        script=script,
    )
    return Sources(
        files=dict(sorted(files.items())),
        c_files=tuple(c_files),
        model_files=tuple(product),
        include_dirs=include_dirs,
        linker_script=script,
        entry_functions=tuple(f"{name}_run" for name in names),
        callbacks=tuple(reader_name(program.name) for program in programs if program.streamed),
    )


def _test_firmware(programs: tuple[Program, ...]) -> Mapping[str, str]:
    """Start-up, linker script, test link and port; the host needs none of them."""
    board = programs[0].board
    return {} if board.runner is Runner.HOST else firmware_files(board, programs)


def _check(programs: tuple[Program, ...]) -> None:
    if not programs:
        raise ValueError("nothing to render")
    if len({program.name for program in programs}) != len(programs):
        raise ValueError("two programs have the same C prefix")
    if any(program.board != programs[0].board for program in programs):
        raise ValueError("programs for several boards cannot share one folder")


def _header_folders(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({str(PurePosixPath(path).parent) for path in paths if path.endswith(".h")}))


def _model_files(program: Program) -> Mapping[str, str]:
    places = Places(program)
    header = header_view(program, places, codegen.__version__)
    constants = constant_views(program)
    pools = [
        pool_definition(pool_array(program, p.name), pool_macro(program, p.name), p.section, p.alignment)
        for p in used_pools(program)
    ]
    views = {
        "header": header,
        "constants": constants,
        "entry": entry_view(program, places, header),
        "data_needs_math": any(needs_math(table) for pool in constants for table in pool.tables),
        "pools": pools,
        "pool_declarations": [
            declaration(f"extern uint8_t {pool_array(program, p.name)}[{pool_macro(program, p.name)}];")
            for p in used_pools(program)
        ],
        "memory_map": starred(program_map(program, _MAP_WIDTH)),
    }
    return {
        f"{program.name}.h": fill(f"c/model_{header.io}.h.j2", **views),
        f"{program.name}.c": fill(f"c/model_{header.io}.c.j2", **views),
        f"{program.name}_data.h": fill("c/model_data.h.j2", **views),
        f"{program.name}_data.c": fill("c/model_data.c.j2", **views),
    }


def _bench_file(program: Program) -> str:
    places = Places(program)
    header = header_view(program, places, codegen.__version__)
    return fill("c/bench.c.j2", header=header, bench=bench_view(program, places, header))
