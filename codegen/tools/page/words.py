"""Sentences about a plan: why a buffer lies where it does, what is known of a pool."""

from collections.abc import Mapping, Sequence

from codegen.api import counted
from codegen.report_file import Buffer, Layer, Pool, Step

KINDS: Mapping[str, str] = {
    "activation": "activation",
    "io": "input or output",
    "workspace": "workspace",
    "constant": "constant",
}
"""Kinds of buffers, as people read them."""
RUNNERS: Mapping[str, str] = {"qemu": "QEMU", "host": "this machine", "serial": "a real board"}
"""Places of a run, as people read them."""


COUNTED: Mapping[str, str] = {
    "cycles": "measured cycles of the board's counter",
    "cycles_estimate": "estimated cycles",
    "instructions": "an estimate: measured instructions times the core's mean cycles of one",
    "instructions_predicted": "an estimate: predicted instructions times the core's mean cycles of one",
}
"""Counts that a time follows from, as people read them."""


def shape_words(shape: Sequence[int]) -> str:
    """A shape as people write it: 1x8x8x16."""
    return "x".join(map(str, shape)) or "scalar"


def window_words(layer: Layer) -> str:
    """A layer's window and stride: 3x3, 3x3 by 2x2; nothing where it has none."""
    if layer.window is None or layer.stride is None:
        return ""
    by = "" if set(layer.stride) == {1} else f" by {shape_words(layer.stride)}"
    return shape_words(layer.window) + by


def layer_words(layers: Sequence[Layer]) -> str:
    """Layers of a step in words: its window, or name and window of each layer of a block."""
    if len(layers) == 1:
        return window_words(layers[0])
    return ", ".join(f"{layer.name} {window_words(layer)}".strip() for layer in layers)


def flow_words(layers: Sequence[Layer]) -> str:
    """Shapes of a step: of its first argument, of its result."""
    if not layers:
        return ""
    shapes = [*layers[0].arguments[:1], layers[-1].result]
    return " → ".join(shape_words(shape) for shape in shapes)


def curve_words(plans: int) -> str:
    """How many plans there are to choose from, where too few for a chart."""
    if plans == 1:
        return "One plan only: nothing that was tried needs less memory, however much work it does again."
    return "Two plans only: too few for a chart."


def name_of(buffer: Buffer) -> str:
    """Names of the values that lie in a buffer."""
    return ", ".join(buffer.values) or buffer.id


def writer(buffer: Buffer, steps: Sequence[Step]) -> str:
    """Who writes a buffer first: the operator in whose step it begins, or the application an input."""
    if buffer.first_step is None:
        return ""
    if buffer.kind == "io" and buffer.values[0] not in {step.name for step in steps}:
        return "the application"
    step = steps[buffer.first_step]
    return f"{step.op} {step.name}"


class Reasons:
    """Why each buffer of a pool lies where it does."""

    def __init__(self, buffers: Sequence[Buffer], peaks: Mapping[str, int]) -> None:
        self._names = {buffer.id: name_of(buffer) for buffer in buffers}
        self._peaks = peaks
        self._covered: dict[str, list[tuple[str, int]]] = {}
        for buffer in buffers:
            for shared in buffer.over:
                self._covered.setdefault(shared.id, []).append((buffer.id, shared.bytes))

    def why(self, buffer: Buffer) -> str:
        """Place, then overlaps, in sentences."""
        sentences = [self._place(buffer)]
        if buffer.offset + buffer.size_bytes == self._peaks[buffer.pool]:
            sentences.append("Its end is the peak of the pool.")
        sentences += [
            f"Written over {counted(shared.bytes, 'byte')} of {self._names[shared.id]}, "
            "which the kernel has read by then."
            for shared in buffer.over
        ]
        sentences += [
            f"{self._names[id_]} is written over {counted(bytes_, 'byte')} of it."
            for id_, bytes_ in self._covered.get(buffer.id, ())
        ]
        return " ".join(sentences)

    def _place(self, buffer: Buffer) -> str:
        if buffer.offset == 0:
            return "Lies at the bottom of the pool."
        if not buffer.rests_on:
            return "Nothing holds it up: it could lie lower, the peak would stay."
        names = [self._names[id_] for id_ in buffer.rests_on]
        listed = " and ".join(names if len(names) < 4 else [*names[:2], f"{len(names) - 2} more"])
        return f"Cannot lie lower: {listed} {'is' if len(names) == 1 else 'are'} in use at the same time."


def bound_words(pool: Pool) -> str:
    """Words for the room below a pool's peak: how far it is above the lower bound."""
    if pool.peak_bytes == pool.lower_bound_bytes:
        return "no plan of these buffers needs less"
    return f"{counted(pool.peak_bytes - pool.lower_bound_bytes, 'byte')} above the lower bound"


FIXED: Mapping[str, str] = {
    "kernels": "which kernel runs each step",
    "traversal": "which layers run together row by row",
    "tiling": "how these are cut into stripes",
    "order": "the order of the steps",
    "plans of the models": "the plan of each model",
}
"""Words for things that a proof can take as given."""

OPTIMISED: Mapping[str, str] = {
    "placement": "where every buffer lies",
    "order": "the order of the steps",
    "bases": "where each model begins in the pools",
}
"""Words for things that a proof can be about."""
