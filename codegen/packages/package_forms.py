"""The forms that a package can have: one table, one function a form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codegen.packages.cmake import cmake, esp_idf, zephyr
from codegen.packages.contents import Package, PackageFiles
from codegen.packages.libraries import arduino, cmsis_pack, platformio
from codegen.packages.mlf import mlf


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageForm:
    """What a package is laid out as."""

    title: str
    """For lists: the build system."""
    lay_out: Callable[[Package], PackageFiles]
    """Raises CodegenError E294 for kernels that its cores do not run."""
    hint: str
    """What to do with the folder."""


FORMS: Mapping[str, PackageForm] = {
    "cmake": PackageForm(
        title="CMake: installable, found by find_package",
        lay_out=cmake,
        hint="cmake -S {folder} -B build && cmake --install build",
    ),
    "zephyr": PackageForm(
        title="Zephyr: a module with Kconfig and a sample",
        lay_out=zephyr,
        hint="west build -b BOARD {folder}/samples/{name}",
    ),
    "arduino": PackageForm(
        title="Arduino: a library of format 1.5 with a sketch",
        lay_out=arduino,
        hint="copy {folder} to the folder `libraries` of the IDE, as {name}",
    ),
    "platformio": PackageForm(
        title="PlatformIO: a library with library.json",
        lay_out=platformio,
        hint="lib_deps = symlink://{folder}",
    ),
    "esp-idf": PackageForm(
        title="ESP-IDF: a component with a project",
        lay_out=esp_idf,
        hint="copy {folder} to the folder `components` of your project, as {name}",
    ),
    "cmsis-pack": PackageForm(
        title="CMSIS: a pack with one component",
        lay_out=cmsis_pack,
        hint="in {folder}: zip -r ../{vendor}.{name}.{version}.pack . -x .codegen",
    ),
    "mlf": PackageForm(
        title="TVM: Model Library Format 7",
        lay_out=mlf,
        hint="tar -C {folder} --exclude=.codegen -cf {name}.tar .",
    ),
}
