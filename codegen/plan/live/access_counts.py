"""How often the bytes of values are touched in one inference: what a pool's access costs are multiplied by.

A kernel states how often it loads each byte of its arguments (`PrimFunc.reads`); result bytes are stored
once. A graph input is written once, and an output read once, by the application. Views and arguments joined
in a result are not copied: they cost nothing.
"""

from collections.abc import Mapping, Sequence

from codegen.ir import Function, Var
from codegen.kernels.primfunc import PrimFunc

AccessCounts = Mapping[str, tuple[float, float]]
"""Root variable -> how often each of its bytes is (read, written), on average."""


def access_counts(
    prim_funcs: Sequence[PrimFunc], function: Function, anchors: Mapping[str, tuple[str, int]]
) -> AccessCounts:
    """Touches of every root; `anchors`: variable -> (root whose bytes it lies in, byte offset there)."""
    sizes = {var.name: var.type.size_bytes for var in function.variables()}
    read = dict.fromkeys((root for root, _ in anchors.values()), 0.0)
    written = dict(read)
    for param in function.params:
        written[anchors[param.name][0]] += sizes[param.name]
    for prim in prim_funcs:
        if not prim.is_call:
            continue
        for index, (arg, reads) in enumerate(zip(prim.let.call.args, prim.reads, strict=True)):
            if isinstance(arg, Var) and index not in prim.joined:
                read[anchors[arg.name][0]] += reads * sizes[arg.name]
        joined = sum(arg.type.size_bytes for arg, _ in prim.joins)
        written[anchors[prim.let.var.name][0]] += sizes[prim.let.var.name] - joined
    for result in function.results:
        if isinstance(result, Var):
            read[anchors[result.name][0]] += sizes[result.name]
    return {root: (read[root] / max(sizes[root], 1), written[root] / max(sizes[root], 1)) for root in read}
