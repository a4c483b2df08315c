"""The QEMU plugin that counts instructions (runtime_c/qemu_plugin), compiled for this machine."""

from pathlib import Path

from codegen import resources
from codegen.errors import CodegenError, Message
from codegen.toolchain import gcc


def build_counts_plugin(folder: Path, api: int) -> Path:
    """Compile the plugin into `folder`, for version `api` of QEMU's plugin interface (plugin_api.h).

    Raises CodegenError E501 without a compiler, E502."""
    folder_c = resources.folder("runtime_c") / "qemu_plugin"
    sources = [str(folder_c / name) for name in ("counts.c", "flash.c")]
    target = folder / "counts.so"
    command = [
        gcc.tool("gcc"),
        "-std=gnu11",
        "-O2",
        "-shared",
        "-fPIC",
        f"-DQEMU_PLUGIN_API={api}",
        *sources,
        "-o",
        str(target),
    ]
    done = gcc.call(command, folder)
    if done.returncode:
        problem = f"the QEMU plugin does not compile: {done.stderr.strip().splitlines()[-1]}"
        raise CodegenError(Message(code="E502", where="counts.c", text=problem, help=gcc.INSTALL_HOST_GCC))
    return target
