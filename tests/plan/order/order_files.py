"""Order graphs in JSON, the format of public instances: tensors with their bytes, operators that name them.

`{"tensors": {"0": 37632, ...}, "ops": [{"inp": [0], "out": [1], "ws": 0}, ...],
  "inputs": [0], "outputs": [85]}`
"""

from collections.abc import Sequence

import msgspec

from codegen.errors import CodegenError, Message
from codegen.plan.order.order_graph import OrderGraph, OrderNode, OrderValue, Phase, StepMasks, run


class _Operator(msgspec.Struct):
    inp: list[int]
    out: list[int]
    ws: int = 0


class _Graph(msgspec.Struct):
    tensors: dict[int, int]
    ops: list[_Operator]
    inputs: list[int]
    outputs: list[int]


def read_order_graph(text: str, where: str) -> OrderGraph:
    """The graph in `text`; inputs die with their last reader, outputs live to the end.

    Raises CodegenError (E212) if it is not one; `where` names the file in the message.
    """
    try:
        read = msgspec.json.decode(text, type=_Graph, strict=False)
        index = {tensor: position for position, tensor in enumerate(read.tensors)}
        return OrderGraph(
            values=tuple(
                OrderValue(size_bytes=size, given=tensor in read.inputs, kept=tensor in read.outputs)
                for tensor, size in read.tensors.items()
            ),
            nodes=tuple(
                OrderNode(
                    reads=tuple(index[tensor] for tensor in operator.inp),
                    writes=tuple(index[tensor] for tensor in operator.out),
                    phases=(Phase(workspace_bytes=operator.ws),),
                )
                for operator in read.ops
            ),
        )
    except KeyError as error:
        problem = f"operator names tensor {error}, which has no size"
    except (msgspec.DecodeError, ValueError) as error:
        problem = str(error)
    raise CodegenError(
        Message(
            code="E212",
            where=where,
            text=f"not a graph whose order can be chosen: {problem}",
            help="give tensors, ops (inp, out, ws), inputs and outputs",
        )
    )


def order_peak(graph: OrderGraph, order: Sequence[int]) -> int:
    """Largest live-bytes bound over the steps done in `order`; raises ValueError if that is not valid."""
    steps = StepMasks(graph)
    if sorted(order) != list(range(steps.count)):
        raise ValueError("the order is not a permutation of the steps")
    peak, _ = run(steps, order, steps.all, steps.start_live_bytes)
    return max(peak, steps.given_bytes)
