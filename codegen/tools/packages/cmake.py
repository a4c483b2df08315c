"""Forms that CMake builds: a package to install, a module of Zephyr, a component of ESP-IDF."""

from collections.abc import Sequence

from codegen.api import CodegenError, Message, family_of, toolchain_file
from codegen.tools.packages.contents import INCLUDE_FOLDERS, LICENCE, Package, PackageFiles
from codegen.tools.packages.examples import example_files
from codegen.tools.packages.package_templates import fill

RULES = ("-fno-strict-aliasing", "$<$<COMPILE_LANGUAGE:C>:-std=c11>")
"""Behind all other flags: a pool's bytes hold values of several types; gnu11 contracts sums of floats."""

_PRINTF_BYTES = 1536
"""Stack that an example's own calls may take."""


def product_in(package: Package, folder: str) -> dict[str, str]:
    """Sources and headers of a package as they lay in the build, below `folder`."""
    return {f"{folder}/{path}": text for path, text in package.texts.items() if path != LICENCE}


def views(package: Package) -> dict[str, object]:
    """Values for CMake's templates of a package whose product lies below `src`."""
    return {
        "package": package,
        "sources": [f"src/{path}" for path in package.sources],
        "include_folders": [f"src/{path}" if path != "." else "src" for path in INCLUDE_FOLDERS],
        "headers": [f"src/{path}" for path in package.public_headers],
        "languages": "C ASM" if package.has_assembly else "C",
        "flags": [*package.product.level, *RULES],
    }


def cmake(package: Package) -> PackageFiles:
    """A CMake project that installs headers, one static library and a package for `find_package`."""
    said = views(package)
    name, board = package.name, package.product.board
    files = {
        **product_in(package, "src"),
        "LICENSE": package.texts[LICENCE],
        "CMakeLists.txt": fill("cmake/CMakeLists.txt.j2", **said, steps=cmake_steps(package, ".")),
        f"cmake/{name}Config.cmake.in": fill("cmake/Config.cmake.in.j2", **said),
        "example/CMakeLists.txt": fill("cmake/example.txt.j2", **said),
        **example_files(package, "example", "main.c"),
    }
    if not package.is_portable:
        files["toolchain.cmake"] = toolchain_file(
            package.cpu, board=package.board, title=board.title, flags=package.product.compiler_flags
        )
        files["example/start.c"] = fill("cmake/start.c.j2", **said)
        files["example/link.ld"] = fill("cmake/link.ld.j2", **said, board=board)
    return PackageFiles(files=files, binaries={f"data/{path}": data for path, data in package.data.items()})


def cmake_steps(package: Package, folder: str) -> Sequence[str]:
    """Commands that build, run and install a package that lies in `folder`."""
    toolchain = "" if package.is_portable else " -DCMAKE_TOOLCHAIN_FILE={}"
    program = f"build/example/{package.name}_example"
    run = [] if package.is_portable else _on_qemu(package, f"{folder}/{program}.elf")
    example = f"{folder}/example/build/{package.name}_example"
    return [
        f"cmake -S {folder} -B {folder}/build{toolchain.format('toolchain.cmake')}",
        f"cmake --build {folder}/build",
        *(run or ([f"{folder}/{program}"] if package.is_portable else [])),
        f"cmake --install {folder}/build --prefix {folder}/installed",
        f"cmake -S {folder}/example -B {folder}/example/build{toolchain.format('../toolchain.cmake')}",
        f"cmake --build {folder}/example/build",
        *([example] if package.is_portable else _on_qemu(package, f"{example}.elf")),
        *_not_for_flash(package),
    ]


def _on_qemu(package: Package, image: str) -> list[str]:
    """The command that runs an image with semihosting; none for a board that QEMU does not emulate."""
    machine = package.product.board.qemu_machine
    words = "-display none -monitor none -serial none -semihosting"
    return [] if machine is None else [f"qemu-system-arm -M {machine} {words} -kernel {image}"]


def _not_for_flash(package: Package) -> list[str]:
    """A comment of the shell in place of a command that runs the example, where QEMU has no such board."""
    if package.is_portable or package.product.board.qemu_machine is not None:
        return []
    return [
        f"# QEMU does not emulate {package.board}, and the example is for a debugger (semihosting, no boot "
        "code): it cannot be flashed onto the board as it is."
    ]


def zephyr(package: Package) -> PackageFiles:
    """A module of Zephyr with Kconfig, pools as sections of its linker script, and a sample."""
    said = views(package) | {
        "symbol": f"MODEL_{package.name.upper()}",
        "depends": [family_of(package.cpu).ecosystems.kconfig[need] for need in package.needs],
        "stack_bytes": _stack_bytes(package),
    }
    sample = f"samples/{package.name}"
    return PackageFiles(
        files={
            **product_in(package, "src"),
            "LICENSE": package.texts[LICENCE],
            "zephyr/module.yml": fill("zephyr/module.yml.j2", **said),
            "Kconfig": fill("zephyr/Kconfig.j2", **said),
            "CMakeLists.txt": fill("zephyr/CMakeLists.txt.j2", **said),
            **{
                f"zephyr/pool_{pool.name}.ld.in": fill("zephyr/pool.ld.in.j2", pool=pool)
                for pool in package.pools
            },
            f"{sample}/CMakeLists.txt": fill("zephyr/sample.txt.j2", **said),
            f"{sample}/prj.conf": fill("zephyr/prj.conf.j2", **said),
            f"{sample}/sample.yaml": fill("zephyr/sample.yaml.j2", **said),
            **example_files(package, f"{sample}/src", "main.c"),
        },
        binaries={f"data/{path}": data for path, data in package.data.items()},
    )


def _stack_bytes(package: Package) -> int:
    """Stack of a thread that runs a model and prints: the static bound and as much again as printf takes."""
    elf = package.report.elf
    bound = elf.stack_bound_bytes if elf is not None and elf.stack_bound_bytes is not None else 2048
    return -(-(bound + _PRINTF_BYTES) // 1024) * 1024


def esp_idf(package: Package) -> PackageFiles:
    """A component of ESP-IDF with a project that uses it. Raises CodegenError E294 for another core."""
    cores = family_of(package.cpu).ecosystems.esp_idf
    if not package.is_portable and package.cpu not in cores:
        text = f"has kernels for {package.cpu}; an ESP32 has a core of Xtensa or RISC-V"
        help_ = "codegen build … --board host gives portable C, --board esp32-c3 its kernels; export that"
        raise CodegenError(Message(code="E294", where="--as esp-idf", text=text, help=help_))
    said = views(package)
    return PackageFiles(
        files={
            **product_in(package, "src"),
            "LICENSE": package.texts[LICENCE],
            "CMakeLists.txt": fill("esp_idf/CMakeLists.txt.j2", **said),
            "idf_component.yml": fill("esp_idf/idf_component.yml.j2", **said),
            "examples/basic/CMakeLists.txt": fill("esp_idf/project.txt.j2", **said),
            "examples/basic/main/CMakeLists.txt": fill("esp_idf/main.txt.j2", **said),
            **example_files(package, "examples/basic/main", "main.c", entry="void app_main(void)"),
        },
        binaries={f"data/{path}": data for path, data in package.data.items()},
    )
