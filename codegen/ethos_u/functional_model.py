"""The functional model of runtime_c/npu_model as a library of this process.

It is compiled by the host's C compiler when it is first asked for.
"""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codegen import resources
from codegen.errors import CodegenError, Message

MOST_STEPS = 1 << 36
"""Multiply-accumulates and element accesses of one run: minutes of the host's time."""
_WEIGHTS = 1 << 24
"""Weights that one command may have."""
_REGIONS = 8
_FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared")
FAULTS = (
    "",
    "the stream ends without a stop command",
    "the last command lacks its payload",
    "a command that the device does not have",
    "a command or mode that the model leaves out",
    "an access outside its memory region",
    "a write to constants",
    "a weight stream that breaks its format",
    "one command has more weights than the model takes",
    "more work than a run may take",
    "a read of what the core changed and did not clean from its cache",
    "a write into a line that the core's cache holds changed, and will write over it",
    "a read of bytes that nobody has written",
    "an access to a value of another step",
    "the core's cache writes an older copy over the NPU's result",
    "an invalidation drops what the core wrote",
    "the core would read an older copy of the NPU's result",
)
"""By `npu_status` of npu_model.h."""


class _Region(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_void_p), ("length", ctypes.c_uint64), ("writable", ctypes.c_bool))


class _Work(ctypes.Structure):
    _fields_ = (
        ("weights", ctypes.c_void_p),
        ("weight_capacity", ctypes.c_size_t),
        ("most_steps", ctypes.c_uint64),
    )


class _Fault(ctypes.Structure):
    _fields_ = (
        ("status", ctypes.c_int),
        ("word", ctypes.c_uint32),
        ("region", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
    )


def run_stream(
    device: str,
    stream: NDArray[np.uint32],
    regions: Sequence[NDArray[np.uint8] | None],
    writable: Sequence[bool],
    most_steps: int = MOST_STEPS,
) -> str | None:
    """Run a command stream on memory `regions`, in place; the fault in words, or None.

    Raises CodegenError E316 for a device that the model does not know, E501 without a C compiler.
    """
    library = _library()
    configuration = library.npu_device_named(device.encode())
    if not configuration:
        text = f"the functional model knows no {device}"
        help_ = "it knows ethos-u55-32, -64, -128, -256 and ethos-u65-256, -512"
        raise CodegenError(Message(code="E316", text=text, help=help_))
    table = (_Region * _REGIONS)()
    for number, (memory, may_write) in enumerate(zip(regions, writable, strict=True)):
        if memory is not None:
            table[number] = _Region(memory.ctypes.data, memory.size, may_write)
    weights = np.zeros(_WEIGHTS, np.int16)
    work = _Work(weights.ctypes.data, weights.size, most_steps)
    fault = _Fault()
    words = np.ascontiguousarray(stream, np.uint32)
    status = library.npu_run(configuration, words.ctypes.data, words.size, table, work, ctypes.byref(fault))
    if status == 0:
        return None
    place = f" (region {fault.region}, address {fault.address:#x})" if fault.address or fault.region else ""
    return f"{FAULTS[status]}: word {fault.word} of {words.size}{place}"


def run(
    device: str,
    stream: NDArray[np.uint32],
    constants: NDArray[np.uint8],
    scratch: NDArray[np.uint8],
    fast_scratch: NDArray[np.uint8],
) -> None:
    """Run a command stream on its constants and, in place, on its scratch and fast scratch.

    Raises CodegenError E316 with the model's fault, and as `run_stream`.
    """
    absent = [None] * (_REGIONS - 3)
    may_write = [False, True, True, *([False] * len(absent))]
    fault = run_stream(device, stream, [constants, scratch, fast_scratch, *absent], may_write)
    if fault is not None:
        raise CodegenError(Message(code="E316", text=f"the command stream cannot be run: {fault}"))


@cache
def _library() -> ctypes.CDLL:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        text = "the functional model needs a C compiler for this machine, and there is none"
        raise CodegenError(Message(code="E501", text=text, help="install it: apt-get install gcc"))
    sources = sorted(str(path) for path in (resources.folder("runtime_c") / "npu_model").glob("*.c"))
    with tempfile.TemporaryDirectory(prefix="codegen-npu-") as folder:
        built = Path(folder) / "npu_model.so"
        words = [
            compiler,
            *_FLAGS,
            f"-I{resources.folder('runtime_c') / 'include'}",
            "-o",
            str(built),
            *sources,
        ]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        if done.returncode:
            text = f"{compiler} cannot compile the functional model: {done.stderr.strip().splitlines()[-1:]}"
            raise CodegenError(Message(code="E502", text=text, help="install gcc, and libc6-dev"))
        library = ctypes.CDLL(str(built))
    library.npu_device_named.restype = ctypes.c_void_p
    library.npu_run.argtypes = (
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_void_p,
        _Work,
        ctypes.c_void_p,
    )
    return library
