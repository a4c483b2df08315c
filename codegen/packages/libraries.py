"""Forms whose build systems take no flags from a library: Arduino, PlatformIO, CMSIS-Pack.

What a file must be compiled with stands in front of it, as pragmas.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from codegen.emit.c.c_text import fill
from codegen.packages.contents import INCLUDE_FOLDERS, LICENCE, Package, PackageFiles

_FEATURES = {"dsp": "__ARM_FEATURE_DSP", "mve": "__ARM_FEATURE_MVE"}
"""Ending of kernels' names -> what compilers define for cores that run them."""


def arduino(package: Package) -> PackageFiles:
    """A library of Arduino's format 1.5: headers in `src`, which is the only folder that is searched."""
    said = _views(package)
    return PackageFiles(
        files={
            **_library(package),
            "library.properties": fill("packages/arduino/library.properties.j2", **said),
            f"examples/{package.name}/{package.name}.ino": fill("packages/arduino/sketch.j2", **said),
        },
        binaries=_extras(package),
    )


def platformio(package: Package) -> PackageFiles:
    """The same sources with PlatformIO's manifest, and the sketch as a project."""
    said = _views(package)
    example = f"examples/{package.name}"
    manifest = {
        "name": package.name,
        "version": package.version,
        "description": package.sentence,
        "keywords": ["neural network", "inference", *(model.name for model in package.models)],
        "authors": [{"name": package.vendor}],
        "license": "0BSD AND Apache-2.0",
        "headers": [f"{model.name}.h" for model in package.models],
        "frameworks": "*",
        "platforms": "*",
        "examples": [{"name": package.name, "base": example, "files": ["platformio.ini", "src/main.cpp"]}],
    }
    return PackageFiles(
        files={
            **_library(package),
            "library.json": msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode() + "\n",
            f"{example}/platformio.ini": fill("packages/arduino/platformio.ini.j2", **said),
            f"{example}/src/main.cpp": fill("packages/arduino/sketch.j2", **said),
        },
        binaries=_extras(package),
    )


def cmsis_pack(package: Package) -> PackageFiles:
    """A pack with one component: the folder that becomes `VENDOR.NAME.VERSION.pack`."""
    said = _views(package)
    product = {
        f"src/{path}": with_flags(package, path) for path in (*package.sources, *package.headers)
    } | core_guard(package, "src")
    listed = {
        "sources": [path for path in product if path.endswith((".c", ".S"))],
        "headers": [f"src/{path}" for path in package.public_headers],
        "include_folders": [f"src/{path}/" if path != "." else "src/" for path in INCLUDE_FOLDERS],
        "core": _core(package.cpu),
    }
    return PackageFiles(
        files={
            **product,
            "LICENSE": package.texts[LICENCE],
            f"{package.vendor}.{package.name}.pdsc": fill("packages/cmsis_pack/pdsc.j2", **said, **listed),
        },
        binaries=_extras(package),
    )


def _views(package: Package) -> dict[str, object]:
    return {"package": package, "licence": LICENCE}


def _core(cpu: str) -> str | None:
    """The core as packs call it; None for portable C."""
    if not cpu.startswith("cortex-"):
        return None
    return "Cortex-M" + cpu.removeprefix("cortex-m").replace("plus", "+")


def _library(package: Package) -> dict[str, str]:
    """Sources and headers below `src`: headers that all files include at its top."""
    paths = (*package.sources, *package.headers)
    files = {f"src/{flat(path)}": with_flags(package, path) for path in paths} | core_guard(package, "src")
    if package.umbrella:
        files[f"src/{package.name}.h"] = fill("packages/arduino/header.j2", package=package)
    return {**files, "LICENSE": package.texts[LICENCE]}


def flat(path: str) -> str:
    """Where a header lies in a tree that has one folder of headers; sources stay."""
    place = PurePosixPath(path)
    is_header = not path.endswith((".c", ".S"))
    return place.name if is_header and str(place.parent) in INCLUDE_FOLDERS else path


def with_flags(package: Package, path: str) -> str:
    """The text of a file; of a C source with the optimisation it was measured at in front."""
    text = package.texts[path]
    if not path.endswith(".c"):
        return text
    words = [flag.removeprefix("-O").removeprefix("-f") for flag in package.product.level]
    level = [f"O{words[0]}", *words[1:]]
    return fill("packages/arduino/pragmas.j2", level=level) + text


def core_guard(package: Package, folder: str) -> dict[str, str]:
    """A source that says what is wrong where kernels are compiled for another core; none for portable C."""
    wanted = list(_needed(package))
    if not wanted:
        return {}
    text = fill("packages/arduino/core.c.j2", package=package, wanted=wanted)
    return {f"{folder}/{package.name}_core.c": text}


def _needed(package: Package) -> Iterator[str]:
    """What the compiler must define."""
    if package.has_assembly:
        yield "__ARM_ARCH_PROFILE"
    stems = {PurePosixPath(path).stem for path in package.sources}
    for ending, macro in _FEATURES.items():
        if any(stem.endswith(f"_{ending}") for stem in stems):
            yield macro


def _extras(package: Package) -> dict[str, bytes]:
    return {f"extras/{path}": data for path, data in package.data.items()}
