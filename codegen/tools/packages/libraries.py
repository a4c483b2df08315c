"""Forms whose build systems take no flags from a library: Arduino, PlatformIO, CMSIS-Pack.

What a file must be compiled with stands in front of it, as pragmas.
"""

from pathlib import PurePosixPath

import msgspec

from codegen.api import Ecosystems, family_of
from codegen.tools.packages.contents import INCLUDE_FOLDERS, LICENCE, Package, PackageFiles
from codegen.tools.packages.examples import example_files
from codegen.tools.packages.package_templates import fill

_SKETCH = "arduino/sketch.j2"

_LONGEST_COMPONENT = 32
"""Letters that a component's name has at most in a CMSIS-Pack."""


def arduino(package: Package) -> PackageFiles:
    """A library of Arduino's format 1.5: headers in `src`, which is the only folder that is searched."""
    said = _views(package)
    return PackageFiles(
        files={
            **_library(package),
            "library.properties": fill(
                "arduino/library.properties.j2",
                **said,
                architectures=",".join(_platforms(package)[0]),
            ),
            "keywords.txt": fill("arduino/keywords.j2", **said),
            **example_files(package, f"examples/{package.name}", f"{package.name}.ino", template=_SKETCH),
        },
        binaries=_extras(package),
    )


def platformio(package: Package) -> PackageFiles:
    """PlatformIO's form: the sources of the Arduino library with a manifest, and the sketch as a project."""
    said = _views(package)
    example = f"examples/{package.name}"
    manifest = {
        "name": package.name,
        "version": package.version,
        "description": package.sentence,
        "keywords": ["neural network", "inference", *(model.name for model in package.models)],
        "authors": [{"name": package.vendor}],
        "homepage": package.url,
        "license": "0BSD AND Apache-2.0",
        "headers": [package.header],
        "frameworks": "*",
        "platforms": _platforms(package)[1],
        "examples": [{"name": package.name, "base": example, "files": ["platformio.ini", "src/main.cpp"]}],
    }
    return PackageFiles(
        files={
            **_library(package),
            "library.json": msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode() + "\n",
            f"{example}/platformio.ini": fill(
                "arduino/platformio.ini.j2", **said, target=_ecosystems(package).platformio.get(package.cpu)
            ),
            **example_files(package, f"{example}/src", "main.cpp", template=_SKETCH),
        },
        binaries=_extras(package),
    )


def cmsis_pack(package: Package) -> PackageFiles:
    """A pack with one component: the folder that becomes `VENDOR.NAME.VERSION.pack`."""
    said = _views(package)
    product = {f"src/{path}": with_flags(package, path) for path in (*package.sources, *package.headers)}
    listed = {
        "sources": [path for path in product if path.endswith((".c", ".S"))],
        "headers": [f"src/{path}" for path in package.public_headers],
        "include_folders": [f"src/{path}/" if path != "." else "src/" for path in INCLUDE_FOLDERS],
        "core": _ecosystems(package).cmsis_cores.get(package.cpu),
        "has_dsp": "dsp" in package.needs and package.cpu in _ecosystems(package).optional_dsp,
        "component": package.name[:_LONGEST_COMPONENT],
    }
    return PackageFiles(
        files={
            **product,
            "LICENSE": package.texts[LICENCE],
            f"{package.vendor}.{package.name}.pdsc": fill("cmsis_pack/pdsc.j2", **said, **listed),
        },
        binaries=_extras(package),
    )


def _views(package: Package) -> dict[str, object]:
    return {"package": package, "licence": LICENCE}


def _ecosystems(package: Package) -> Ecosystems:
    return family_of(package.cpu).ecosystems


def _platforms(package: Package) -> tuple[list[str], list[str]]:
    """Platforms of Arduino and of PlatformIO that the kernels may be for; all for portable C."""
    platforms = _ecosystems(package).platforms.items()
    arduinos, registered = next((words for need, words in platforms if need in package.needs), ("*", "*"))
    return arduinos.split(), registered.split()


def _library(package: Package) -> dict[str, str]:
    """Sources and headers below `src`: headers that all files include at its top."""
    paths = (*package.sources, *package.headers)
    files = {f"src/{flat(path)}": with_flags(package, path) for path in paths}
    if package.umbrella:
        files[f"src/{package.header}"] = fill("arduino/header.j2", package=package)
    return {**files, "LICENSE": package.texts[LICENCE]}


def flat(path: str) -> str:
    """Path of a header in a tree that has one folder of headers; sources stay."""
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
    return fill("arduino/pragmas.j2", level=level) + text


def _extras(package: Package) -> dict[str, bytes]:
    return {f"extras/{path}": data for path, data in package.data.items()}
