"""References of a sequence: each inference begins with the state that the one before left.

Where an input slides, results from the first full window on are those of the network that computes it whole.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from codegen.driver.inputs.cases import Case, state_inputs, state_outputs
from codegen.driver.inputs.planned import Planned
from codegen.ir.evaluate import evaluate
from codegen.passes.sliding import Sliding


def sequence_references(planned: Planned, cases: Sequence[Case]) -> Iterator[tuple[np.ndarray, ...]]:
    """Expected outputs of each inference: the case's own, else the built-in NumPy evaluation, which hands its
    own state on."""
    program, reference = planned.program, planned.reference
    pairs = list(zip(state_inputs(program), state_outputs(program), strict=True))
    state: dict[int, np.ndarray] = {}
    windows = None if planned.sliding is None else _WholeWindows(planned.sliding)
    known = all(case.known_outputs is not None for case in cases)
    for case in cases:
        inputs = tuple(state.get(index, data) for index, data in enumerate(case.inputs))
        expected = case.expected or (None,) * len(program.signature.outputs)
        computed = expected if known else tuple(evaluate(reference, reference.main, inputs))
        state = {into: data for into, out in pairs if (data := computed[out]) is not None}
        if windows is not None and not known:
            computed = windows.results(inputs, computed)
        outputs = (
            ours if stated is None else stated for ours, stated in zip(computed, expected, strict=True)
        )
        yield tuple(output for output in outputs if output is not None)


class _WholeWindows:
    """The stream so far, and what its last window gives when it is computed whole."""

    def __init__(self, sliding: Sliding) -> None:
        self._sliding = sliding
        params = sliding.module.main.params
        self._index = next(i for i, param in enumerate(params) if param.name == sliding.window.name)
        self._rows: list[np.ndarray] = []

    def results(
        self, inputs: Sequence[np.ndarray], sliding: Sequence[np.ndarray | None]
    ) -> tuple[np.ndarray | None, ...]:
        """`sliding`, the results of this call, with those of a full window in place of its own."""
        window = self._sliding.window
        self._rows.append(inputs[self._index])
        if len(self._rows) < self._sliding.calls:
            return tuple(sliding)
        del self._rows[: -self._sliding.calls]
        stream = np.concatenate(self._rows, axis=window.axis)
        extent = stream.shape[window.axis]
        whole = stream.take(range(extent - window.rows, extent), axis=window.axis)
        main = self._sliding.whole.main
        arguments = (*inputs[: self._index], whole, *inputs[self._index + 1 :])[: len(main.params)]
        results = evaluate(self._sliding.whole, main, arguments)
        return (*results, *sliding[len(results) :])
