"""Sequences of inferences: state begins at zero, and each inference finds it as the one before left it."""

from collections.abc import Iterator, Sequence

import numpy as np

from codegen.driver.inputs.cases import ArraySource, Case, pattern_case, uneven_rows
from codegen.driver.inputs.planned import Planned
from codegen.errors import CodegenError
from codegen.ir import TensorType
from codegen.ir.evaluate import evaluate
from codegen.program.program import Program

MADE_UP = 8
"""Inferences of a sequence that is made up."""


def state_inputs(program: Program) -> tuple[int, ...]:
    """Indexes of the inputs that are state, in the order of `Program.states`."""
    fields = [tensor.field for tensor in program.inputs]
    return tuple(fields.index(state.input) for state in program.states)


def state_outputs(program: Program) -> tuple[int, ...]:
    """Indexes of the outputs that become them, in the same order."""
    fields = [tensor.field for tensor in program.outputs]
    return tuple(fields.index(state.output) for state in program.states)


def sequence_cases(
    program: Program, given: ArraySource | None, expected: ArraySource | None, seed: int
) -> list[Case]:
    """The inferences of a sequence, in order: row by row of the arrays, or made up from the seed.

    Arrays of state may be left out: nothing is written there, and its outputs are compared with NumPy's.
    Raises CodegenError E220 to E222.
    """
    types = [tensor.type for tensor in program.inputs]
    if given is None:
        names = [f"seed {seed + number}" for number in range(MADE_UP)]
        rows = [pattern_case(types, seed + number).inputs for number in range(MADE_UP)]
    else:
        read = given.read_rows("x", types, "input", state_inputs(program))
        name = given.prefix or given.path.name
        names = [f"{name}, row {number}" for number in range(len(read))]
        rows = [tuple(_zero(t) if d is None else d for t, d in zip(types, r, strict=True)) for r in read]
    zeros = {index: _zero(types[index]) for index in state_inputs(program)}
    inputs = [tuple(zeros.get(index, data) for index, data in enumerate(row)) for row in rows]
    return [
        Case(name=name, inputs=own, expected=outputs)
        for name, own, outputs in zip(names, inputs, _outputs(program, expected, len(rows)), strict=True)
    ]


def _outputs(
    program: Program, expected: ArraySource | None, count: int
) -> Sequence[tuple[np.ndarray | None, ...] | None]:
    if expected is None:
        return [None] * count
    types = [tensor.type for tensor in program.outputs]
    rows = expected.read_rows("y", types, "output", state_outputs(program))
    if len(rows) != count:
        text = f"the sequence has {count} rows of inputs, {len(rows)} of outputs"
        raise CodegenError(uneven_rows(text, expected.path))
    return rows


def _zero(type_: TensorType) -> np.ndarray:
    return np.full(type_.shape, type_.zero_point, type_.dtype.numpy)


def sequence_references(planned: Planned, cases: Sequence[Case]) -> Iterator[tuple[np.ndarray, ...]]:
    """Expected outputs of each inference: the case's own, else the built-in NumPy evaluation, which hands its
    own state on."""
    program, reference = planned.program, planned.reference
    pairs = list(zip(state_inputs(program), state_outputs(program), strict=True))
    state: dict[int, np.ndarray] = {}
    known = all(case.known_outputs is not None for case in cases)
    for case in cases:
        inputs = tuple(state.get(index, data) for index, data in enumerate(case.inputs))
        expected = case.expected or (None,) * len(program.outputs)
        found = expected if known else tuple(evaluate(reference, reference.main, inputs))
        state = {into: data for into, out in pairs if (data := found[out]) is not None}
        yield tuple(
            each
            for own, theirs in zip(found, expected, strict=True)
            if (each := own if theirs is None else theirs) is not None
        )
