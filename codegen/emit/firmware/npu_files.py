"""The NPU of test firmware: the functional model of the device, and memory for it."""

from collections.abc import Mapping, Sequence

from codegen import resources
from codegen.emit.c.c_text import fill
from codegen.ethos_u import payload
from codegen.ethos_u.register_commands import operations
from codegen.kernels.primfunc import PrimFunc
from codegen.program.program import Program

_FOLDERS = ("npu_model", "npu_port")
"""Below runtime_c."""
_CURVES = "cg_sigmoid_s16.h"
"""Sigmoid and tanh, which the model shares with the kernels."""
_STREAM = "command_stream"
"""Role of the constant that holds a step's command stream."""


def npu_files(programs: Sequence[Program]) -> Mapping[str, str]:
    """Path -> text of what stands for the NPU in test firmware; none where no step needs it."""
    prims = [prim for program in programs for prim in program.steps.prim_funcs if prim.inlets]
    if not prims:
        return {}
    runtime = resources.folder("runtime_c")
    copied = {
        f"firmware/{folder}/{path.name}": path.read_text(encoding="utf-8")
        for folder in _FOLDERS
        for path in sorted((runtime / folder).glob("*.[ch]"))
    }
    copied[f"firmware/npu_model/{_CURVES}"] = (runtime / "include" / _CURVES).read_text(encoding="utf-8")
    weights = max(map(_most_weights, prims))
    return {**copied, "firmware/npu_port/npu_weights_memory.c": fill("c/npu_memory.c.j2", weights=weights)}


def _most_weights(prim: PrimFunc) -> int:
    """Weights of the largest command of a step, at least 1."""
    stream = payload.split(prim.constant(_STREAM).data.tobytes()).stream
    return max((operation.weights for operation in operations(stream)), default=1) or 1
