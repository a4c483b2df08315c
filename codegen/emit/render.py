"""Rendering: a bundle in, the files of a folder out. Deterministic: no time, host, user or path."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

import codegen
from codegen import resources
from codegen.draw.memory_map import program_map
from codegen.emit.c.c_tables import byte_rows
from codegen.emit.c.c_text import fill, starred
from codegen.emit.c.core_guard import core_guard
from codegen.emit.c.spelling import needs_math, reader_name
from codegen.emit.firmware.bench import bench_view
from codegen.emit.firmware.folder_files import LICENCE_FILE, build_files, firmware_files, firmware_headers
from codegen.emit.firmware.npu_files import npu_files
from codegen.emit.gathered.kernel_files import kernel_files
from codegen.emit.gathered.runtime_files import called_back, instruction_sets, marked
from codegen.emit.model.entry import core1_functions, entry_view
from codegen.emit.model.header import entry_function, figures, header_view, other_functions
from codegen.emit.values.locations import Places
from codegen.emit.values.model_data import (
    ImageView,
    constant_views,
    digest_of,
    image_bytes,
    image_view,
    pool_views,
    set_view,
)
from codegen.ir import Runner
from codegen.joint import together
from codegen.kernels.base.forms import in_smallest_forms
from codegen.program.image import ProductFunctions, Sources
from codegen.program.program import Bundle, Program
from codegen.settings import Firmware
from codegen.targets.families import compile_flags

BUILD_FILE = "firmware/bench_build.c"
"""The build's identity, as the test firmware answers it."""

_MAP_WIDTH = 97
"""Columns of the memory map: what a comment's star leaves of a line."""


def render(bundle: Bundle, level: str = "-O2", tools: str = "", firmware_kind: Firmware = "test") -> Sources:
    """All files of the models in `bundle`, which share pools, constants, runtime, build files and firmware.

    `level`: the optimisation that build files ask for, as the toolchain compiles the models. `tools`: what
    compiles them (`toolchain.tools`), a part of the build's identity. `firmware_kind`: what is linked around
    the models.

    Raises ValueError for programs that C cannot express: a mistake of the stages before.
    """
    bundle = _in_smallest_forms(bundle)
    programs = bundle.programs
    interface = programs[0].interface
    if not bundle.is_single and (interface.caller_pools or interface.external):
        raise ValueError("the caller's pools and external constants are for one model")
    digest = _layout(bundle) if interface.external else None
    image = None if digest is None else image_view(bundle, digest)
    constants = b"" if digest is None else image_bytes(bundle, digest)
    files = dict(_product_files(bundle, image))
    sources = (".c", ".S")
    product = [path for path in files if path.endswith(sources)]
    names = tuple(program.name for program in programs)
    firmware = {
        **{f"firmware/{program.name}_bench.c": _bench_file(bundle, program, image) for program in programs},
        **_owned_files(bundle, image, constants),
        "firmware/bench_models.c": fill("c/bench_models.c.j2", names=names),
        **_firmware(programs, firmware_kind),
        **npu_files(programs),
    }
    firmware |= firmware_headers(firmware.values())
    script = next((path for path in sorted(firmware) if path.endswith(".ld")), None)
    files = marked(files, digest_of) | firmware
    # The identity is no part of itself: the files that say it are made last.
    identity = build_identity(files, (level, tools))
    firmware[BUILD_FILE] = files[BUILD_FILE] = fill("c/bench_build.c.j2", rows=byte_rows(identity))
    files |= figures(bundle, files, identity.hex())
    c_files = product + sorted(path for path in firmware if path.endswith(sources))
    include_dirs = (".", *_header_folders(firmware))
    files[LICENCE_FILE] = resources.licence()
    files |= build_files(
        bundle,
        level=level,
        product=tuple(product),
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
        functions=ProductFunctions(
            entries=tuple(map(entry_function, programs)),
            callbacks=(
                *(reader_name(program.name) for program in programs if program.edge.streamed),
                *called_back(programs),
            ),
            others=tuple(name for program in programs for name in other_functions(program)),
            core1=tuple(name for program in programs for name in core1_functions(program)),
        ),
        binaries={} if image is None else {image.file: constants},
        prefix=bundle.prefix,
        build_sha256=identity.hex(),
        is_traced=firmware_kind == "test",
    )


def build_identity(linked: Mapping[str, str], compiled_by: Iterable[str]) -> bytes:
    """SHA-256 of all that is linked, path -> text, and of what compiles it. Build files are no part of it."""
    return digest_of([*linked.items(), ("", "\n".join(compiled_by))])


def _in_smallest_forms(bundle: Bundle) -> Bundle:
    smallest_forms = in_smallest_forms([program.steps.prim_funcs for program in bundle.programs])
    programs = zip(bundle.programs, smallest_forms, strict=True)
    return replace(bundle, programs=tuple(program.running(prims) for program, prims in programs))


def _product_files(bundle: Bundle, image: ImageView | None) -> Mapping[str, str]:
    """All that an application compiles and what that includes, path -> text."""
    files: dict[str, str] = {}
    for program in bundle.programs:
        files |= _model_files(bundle, program, image)
    files |= _shared_files(bundle, image)
    return {**files, **kernel_files(bundle.prefix, bundle.programs, "\n".join(files.values()))}


def _layout(bundle: Bundle) -> bytes:
    """Digest that ties an image of constants to code: SHA-256 of all code that reads it.

    It depends neither on what the model's file is called nor on the values of the constants.
    """
    program = bundle.programs[0]
    plain = replace(
        program,
        name="model",
        metadata=dict.fromkeys(("file", "format", "options"), "-") | {"sha256": bytes(32).hex()},
        signature=replace(
            program.signature,
            inputs=tuple(replace(tensor, origin="") for tensor in program.signature.inputs),
            outputs=tuple(replace(tensor, origin="") for tensor in program.signature.outputs),
        ),
    )
    same = together((plain,))
    return digest_of(_product_files(same, image_view(same, bytes(32))).items())


def _owned_files(bundle: Bundle, image: ImageView | None, constants: bytes) -> Mapping[str, str]:
    """Files of the test firmware in place of the application: the pools, the image of constants."""
    files: dict[str, str] = {}
    if bundle.programs[0].interface.caller_pools:
        files["firmware/bench_pools.c"] = fill("c/bench_pools.c.j2", pools=pool_views(bundle))
    if image is not None:
        largest = max(bundle.constants, key=lambda pool: pool.size_bytes)
        files[f"firmware/{bundle.prefix}_constants.S"] = fill(
            "c/bench_constants.S.j2",
            shared=set_view(bundle),
            image=image,
            section=largest.section,
            sha256=hashlib.sha256(constants).hexdigest(),
        )
    return files


def _firmware(programs: tuple[Program, ...], kind: Firmware) -> Mapping[str, str]:
    """Start-up, linker script, what answers on the UART, and port; the host needs none of them."""
    board = programs[0].board
    return {} if board.runner is Runner.HOST else firmware_files(board, programs, kind)


def _header_folders(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({str(PurePosixPath(path).parent) for path in paths if path.endswith(".h")}))


def _model_files(bundle: Bundle, program: Program, image: ImageView | None) -> Mapping[str, str]:
    """Header and source of one model."""
    places = Places(bundle, program)
    target = program.board.target
    header = header_view(program, places, codegen.__version__)
    views = {
        "header": header,
        "shared": set_view(bundle),
        "entry": entry_view(program, places, header),
        "core_guard": core_guard(
            program.name,
            target.cpu,
            compile_flags(target),
            instruction_sets(bundle.programs),
        ),
        "pools": pool_views(bundle) if bundle.is_single and not program.interface.caller_pools else (),
        "image": image,
        "memory_map": starred(program_map(program, _MAP_WIDTH)),
    }
    return {
        f"{program.name}.h": fill(f"c/model_{header.io}.h.j2", **views),
        f"{program.name}.c": fill(f"c/model_{header.io}.c.j2", **views),
    }


def _shared_files(bundle: Bundle, image: ImageView | None) -> Mapping[str, str]:
    """The constants, and of several models the pools: a single one defines its own."""
    constants = constant_views(bundle)
    views = {
        "shared": set_view(bundle),
        "constants": constants,
        "image": image,
        "caller_pools": bundle.programs[0].interface.caller_pools,
        "data_needs_math": image is None
        and any(needs_math(member.rows) for pool in constants for member in pool.members),
        "pools": pool_views(bundle),
        "busy": bundle.programs[0].interface.busy_flag,
    }
    files = {
        f"{bundle.prefix}_data.h": fill("c/model_data.h.j2", **views),
        f"{bundle.prefix}_data.c": fill("c/model_data.c.j2", **views),
    }
    if not bundle.is_single:
        files[f"{bundle.prefix}_pools.h"] = fill("c/models_pools.h.j2", **views)
        files[f"{bundle.prefix}_pools.c"] = fill("c/models_pools.c.j2", **views)
    return files


def _bench_file(bundle: Bundle, program: Program, image: ImageView | None) -> str:
    places = Places(bundle, program, fixed=True)
    header = header_view(program, places, codegen.__version__)
    view = bench_view(program, places)
    return fill("c/bench.c.j2", header=header, bench=view, shared=set_view(bundle), image=image)
