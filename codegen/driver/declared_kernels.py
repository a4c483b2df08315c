"""Operators for which a project may declare a kernel."""

from codegen.importers.tflite.operators.translators import is_imported
from codegen.importers.tflite.problems import CONTROL_FLOW


def refused_kernel(op: str) -> tuple[str, str | None] | None:
    """The reason why no kernel may be declared for `op`, and advice if there is any; None where one may."""
    if is_imported(op):
        text = f"{op} has kernels already: declared ones are for operators that codegen lacks"
        return text, "`codegen ops` lists them; leave this kernel out"
    if op in CONTROL_FLOW:
        return f"{op} runs other subgraphs, which no kernel can", None
    return None
