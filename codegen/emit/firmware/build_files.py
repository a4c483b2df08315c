"""The build files that make an emitted folder build alone."""

from collections.abc import Mapping, Sequence

from codegen.emit.c.environment import fill
from codegen.ir import Runner
from codegen.program.program import Bundle

_OWN_TARGETS = ("options", "runtime", "shared", "firmware")
"""What a folder has beside its models; in CMake with a model's target in front."""
_CMAKE_TARGETS = "all clean depend edit_cache firmware help install package rebuild_cache test"
_RESERVED_TARGETS = frozenset(_CMAKE_TARGETS.split())


def _target(name: str) -> str:
    """CMake target of a model."""
    return f"{name}_model" if name in _RESERVED_TARGETS else name


def _stem(targets: Sequence[str]) -> str:
    """What a folder's own targets begin with: the first model's target, so that folders in one tree are apart
    as their models are; with more behind it where that makes another model's target."""
    candidates = (targets[0] + "_set" * count for count in range(len(targets) + 1))
    return next(stem for stem in candidates if not {f"{stem}_{own}" for own in _OWN_TARGETS} & {*targets})


def build_files(
    bundle: Bundle,
    *,
    product: Sequence[str],
    kernels: Sequence[str],
    firmware: Sequence[str],
    include_dirs: Sequence[str],
    script: str | None,
    level: str,
) -> Mapping[str, str]:
    """CMakeLists.txt and, for a board that is cross-compiled for, toolchain.cmake.

    `product`: the models' files, `kernels` among them, which are compiled with the optimisation `level`.
    `script` is the linker script, None where there is no firmware to link.
    """
    board = bundle.programs[0].board
    names = [program.name for program in bundle.programs]
    languages = "C ASM" if any(path.endswith(".S") for path in (*kernels, *firmware)) else "C"
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
        "firmware_include_dirs": [path for path in include_dirs if path not in (".", "runtime/include")],
        "script": script,
        "languages": languages,
        "level": level,
        "size_flags": board.target.level_flags("-Os")[1:],
        "firmware_flags": board.target.level_flags("-Os"),
    }
    files = {"CMakeLists.txt": fill("cmake/CMakeLists.txt.j2", **views)}
    if board.runner is not Runner.HOST:
        flags = " ".join(board.target.compiler_flags)
        files["toolchain.cmake"] = fill(
            "cmake/toolchain.cmake.j2", board=board.name, title=board.title, flags=flags
        )
    return files
