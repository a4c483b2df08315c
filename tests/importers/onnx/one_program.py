"""Many ONNX models as one program on a board, and what each computes there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen import board as boards
from codegen import emit, toolchain
from codegen.driver.build import Planned, Share, plan_model
from codegen.driver.inputs.cases import Case
from codegen.driver.options import Options
from codegen.driver.report.output_check import array
from codegen.driver.run import request
from codegen.errors import CodegenError
from codegen.joint import together
from codegen.program.interface import ConstantsMode, Interface, Signature
from codegen.settings import Optimize
from tests.joining import joined


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Ran:
    """A model's interface in C, and its outputs."""

    signature: Signature
    outputs: tuple[np.ndarray, ...]


def run_together(
    models: Sequence[bytes],
    inputs: Sequence[Sequence[np.ndarray]],
    folder: Path,
    board_name: str = "host",
    model_limit: int | None = None,
    optimize: Optimize = "size",
) -> Iterator[Ran | CodegenError]:
    """What each model gives for its inputs, or why it has no plan.

    `folder` must not exist. With `model_limit` (`--model-limit`) constants are in an image of their own.
    """
    board = boards.load_board(board_name)
    constants = ConstantsMode.LINKED if model_limit is None else ConstantsMode.EXTERNAL
    interface = Interface(constants=constants)
    options = Options(board=board_name, optimize=optimize, model_limit=model_limit, interface=interface)
    folder.mkdir()
    planned: list[Planned | CodegenError] = []
    for number, data in enumerate(models):
        path = folder / f"m{number}.onnx"
        path.write_bytes(data)
        try:
            planned.append(plan_model(path, board, options, share=Share(name=f"m{number}"), emulated=True))
        except CodegenError as error:
            planned.append(error)
    plans = {number: plan for number, plan in enumerate(planned) if isinstance(plan, Planned)}
    sources = joined(emit.render(together([plan.program for plan in plans.values()])))
    emit.write(sources, folder / "build")
    image = toolchain.build(sources, folder / "build", board, optimize=optimize)
    with boards.session(image, board) as target:
        places = {number: place for place, number in enumerate(plans)}
        for number, plan in enumerate(planned):
            if isinstance(plan, CodegenError):
                yield plan
                continue
            case = Case(name=f"m{number}", inputs=tuple(inputs[number]))
            result = target.run(request(plan.program, [case], model=places[number]))
            signature = plan.program.signature
            kinds = [output.type for output in signature.outputs]
            pairs = zip(result.cases[0].outputs, kinds, strict=True)
            yield Ran(signature=signature, outputs=tuple(array(data, kind) for data, kind in pairs))
