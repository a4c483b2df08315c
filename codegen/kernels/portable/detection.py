"""The kernel of DETECTION_POST_PROCESS."""

from codegen.ir import DType, Let, TensorType
from codegen.ir.ops import DetectionAttrs
from codegen.ir.ops.base.operands import narrow
from codegen.kernels.base.c_kernel import ConstantData, Parts, PortableKernel, arg_type, value_argument
from codegen.kernels.base.registry import register
from codegen.kernels.base.walk import Fields, params
from codegen.kernels.call import PARAMS, RESULT, CStruct, WorkspaceArg
from codegen.kernels.contract import Workspace

_SPACE = "boxes"
_BYTES_A_BOX = 24
"""Workspace of a box: its four sides, its best score, and its number while it is in question."""
_ROLES = ("encoded", "scores", "anchors")


class Detections(PortableKernel):
    """DETECTION_POST_PROCESS on arguments of int8 or float32, each on its own."""

    op, stem, name = "DETECTION_POST_PROCESS", "detections", "detections_portable"

    @property
    def header(self) -> str:
        return "cg_kernels_detection.h"

    def parts(self, let: Let, constants: ConstantData) -> Parts:
        passed = [value_argument(let, index, role, constants) for index, role in enumerate(_ROLES)]
        space = Workspace(name=_SPACE, size_bytes=_BYTES_A_BOX * arg_type(let, 0).shape[1])
        return Parts(
            structs=(_struct(let),),
            call_args=(PARAMS, *(argument for argument, _ in passed), WorkspaceArg(name=_SPACE), RESULT),
            constants=tuple(linked for _, more in passed for linked in more),
            workspaces=(space,),
        )


def _struct(let: Let) -> CStruct:
    attrs, encoded, scores = narrow(let.call.attrs, DetectionAttrs), arg_type(let, 0), arg_type(let, 1)
    return params(
        "cg_detection_params",
        ("boxes", encoded.shape[1]),
        ("coordinates", encoded.shape[2]),
        ("classes", attrs.classes),
        ("background", scores.shape[2] - attrs.classes),
        ("rows", attrs.rows),
        ("most", attrs.most),
        ("most_of_class", attrs.most_of_class),
        ("classes_of_box", attrs.classes_of_box),
        ("by_class", int(attrs.by_class)),
        ("score", attrs.score),
        ("overlap", attrs.overlap),
        ("scales", tuple((f"[{place}]", scale) for place, scale in enumerate(attrs.scales))),
        *((role, _meaning(arg_type(let, index))) for index, role in enumerate(_ROLES)),
    )


def _meaning(type_: TensorType) -> Fields:
    if type_.dtype is DType.FLOAT32:
        return (("scale", 0.0), ("zero_point", 0))
    return (("scale", type_.scale), ("zero_point", type_.zero_point))


register(Detections())
