"""Input cases and expected outputs: from .npz files, from the shipped example, or made up.

In a sequence state begins at zero, and each inference finds it as the one before left it.
"""

import re
import zipfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codegen.driver.inputs.array_shapes import fits_in_rows, fitted, layout_advice, surplus, uneven_rows
from codegen.errors import CodegenError, Message, Messages, counted
from codegen.ir import DType, TensorType, Var
from codegen.ir.operator import Arrays
from codegen.program.interface import IoTensor
from codegen.program.program import Program

_NUMBERED = re.compile(r"(?:\A|_)[xy][0-9]+\Z")
"""Names of arrays that go by numbers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Inputs of one inference and, if known from elsewhere, its outputs."""

    name: str
    inputs: tuple[np.ndarray, ...]
    expected: tuple[np.ndarray | None, ...] | None = None
    """By output; None where the file has no array of a state's output."""

    @property
    def known_outputs(self) -> tuple[np.ndarray, ...] | None:
        """Every expected output; None where one is not known from elsewhere."""
        known = tuple(output for output in self.expected or () if output is not None)
        return known if self.expected is not None and len(known) == len(self.expected) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class ArraySource:
    """`FILE.npz` or `FILE.npz:PREFIX`: arrays `x0` (`y0`), or of the tensors' names, behind `PREFIX_`."""

    path: Path
    prefix: str | None = None

    @classmethod
    def parse(cls, text: str) -> "ArraySource":
        """Split a command-line word; a prefix follows the last colon after `.npz`."""
        path, separator, prefix = text.rpartition(":")
        if separator and path.endswith(".npz"):
            return cls(path=Path(path), prefix=prefix)
        return cls(path=Path(text))

    def read(
        self, letter: str, tensors: Sequence[IoTensor], what: str, optional: Collection[int] = ()
    ) -> tuple[np.ndarray | None, ...]:
        """Arrays `letter`0.. or of the tensors' names, in the tensors' shapes and dtypes.

        Those of `optional` indexes may be left out (None).

        Raises CodegenError E220..E222 listing everything that is missing or does not fit.
        """
        messages = Messages()
        arrays = self.load()
        arrays_read: list[np.ndarray | None] = []
        for index, tensor in enumerate(tensors):
            key, type_ = self._key(arrays, letter, index, tensor), tensor.type
            data = arrays.get(key)
            if data is not None:
                whose = f"{what} {index}"
                fit = fitted(data, type_, key, whose, str(self.path), sequence=letter == "x")
                arrays_read.append(_or_complain(messages, fit))
                continue
            if index not in optional:
                self._add_missing(arrays, key, f"{what} {index}", messages, tensor.origin)
            arrays_read.append(None)
        self._add_surplus(arrays, letter, tensors, what, messages)
        messages.raise_if_any()
        return tuple(arrays_read)

    def check(self, letter: str, what: str) -> None:
        """Raise CodegenError E220 if the file cannot be read, E221 if it has no array of the case: what
        can be told before any work."""
        arrays = self.load()
        first = self._behind_prefix(f"{letter}0")
        if not any(re.fullmatch(rf"{re.escape(first[:-1])}[0-9]+", name) for name in arrays):
            if any(not _NUMBERED.search(name) for name in arrays):
                return  # names of tensors, perhaps: the model says
            messages = Messages()
            self._add_missing(arrays, first, f"{what} 0", messages)
            messages.raise_if_any()

    def read_rows(
        self, letter: str, tensors: Sequence[IoTensor], what: str, optional: Collection[int]
    ) -> list[tuple[np.ndarray | None, ...]]:
        """Arrays of a sequence, row by row: row k of each is for the k-th inference. Those of `optional`
        indexes may be left out (None).

        Raises CodegenError E220 to E222 listing everything that is missing or does not fit.
        """
        messages = Messages()
        arrays = self.load()
        columns: list[np.ndarray | None] = []
        for index, tensor in enumerate(tensors):
            key, type_ = self._key(arrays, letter, index, tensor), tensor.type
            data = arrays.get(key)
            if data is None:
                if index not in optional:
                    self._add_missing(arrays, key, f"{what} {index}", messages, tensor.origin)
                columns.append(None)
                continue
            if fits_in_rows(data, type_):
                columns.append(data.reshape(len(data), *type_.shape))
                continue
            text = f"array {key} is {data.dtype}{list(data.shape)}, not rows of {what} {index}, {type_}"
            help_ = "row k of an array is what the k-th inference of the sequence takes or gives"
            if guess := layout_advice(data.shape, type_.shape, key):
                help_ += f"; {guess}"
            messages.add("E222", text, where=str(self.path), help=help_)
        self._add_surplus(arrays, letter, tensors, what, messages)
        counts = {len(column) for column in columns if column is not None}
        if len(counts) > 1:
            rows = " and ".join(map(str, sorted(counts)))
            messages.take(uneven_rows(f"{what}s have {rows} rows", self.path))
        messages.raise_if_any()
        return [
            tuple(None if column is None else column[row] for column in columns)
            for row in range(max(counts, default=0))
        ]

    def _key(self, arrays: Mapping[str, np.ndarray], letter: str, index: int, tensor: IoTensor) -> str:
        """Name of a tensor's array in the file: by its number, else its name in the model file or in C.

        A tensor that is called like a number (`y0`) is found by its own number alone.
        """
        key = self._behind_prefix(f"{letter}{index}")
        spoken = [n for n in (tensor.origin, tensor.field) if not n.removeprefix(letter).isdecimal()]
        names = map(self._behind_prefix, spoken)
        return next((name for name in (key, *names) if name in arrays), key)

    def _behind_prefix(self, name: str) -> str:
        return f"{self.prefix}_{name}" if self.prefix else name

    def _add_missing(
        self, arrays: Mapping[str, np.ndarray], key: str, what: str, messages: Messages, name: str = ""
    ) -> None:
        names = ", ".join(sorted(arrays)[:12]) or "no array"
        help_ = f"it holds {names}"
        if name:
            help_ += f"; the array may be called as the model's tensor too: {self._behind_prefix(name)}"
        messages.add("E221", f"no array {key} for {what}", where=str(self.path), help=help_)

    def _add_surplus(
        self, arrays: Collection[str], letter: str, tensors: Sequence[IoTensor], what: str, messages: Messages
    ) -> None:
        names = [self._behind_prefix(name) for tensor in tensors for name in (tensor.origin, tensor.field)]
        stem = self._behind_prefix(letter)
        for message in surplus(arrays, stem, len(tensors), names, what, str(self.path)):
            messages.take(message)

    def _one_array(self) -> Message:
        """E220 for an .npy file, which holds one array without a name."""
        help_ = "give an .npz file: numpy.savez('x.npz', x0=numpy.load('" + self.path.name + "')) writes one"
        text = "cannot read arrays: this is one array without a name (.npy)"
        return Message(code="E220", where=str(self.path), text=text, help=help_)

    def load(self) -> dict[str, np.ndarray]:
        """Every array of the file. Raises CodegenError E220 if it cannot be read."""
        try:
            archive = np.load(self.path, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise CodegenError(self._one_array())
            with archive:
                return {name: archive[name] for name in archive.files}
        except (OSError, ValueError, EOFError, AttributeError, zipfile.BadZipFile) as error:
            reason = (
                error.strerror if isinstance(error, OSError) and error.strerror else "not an .npz archive"
            )
            raise CodegenError(
                Message(
                    code="E220",
                    where=str(self.path),
                    text=f"cannot read arrays: {reason}",
                    help="give the path of an .npz file: numpy.savez('x.npz', x0=array) writes one",
                )
            ) from None


def fitting(
    case: Case, inputs: Sequence[TensorType], outputs: Sequence[TensorType], messages: Messages
) -> Case:
    """`case` with its arrays in the shapes of the model's `inputs` and `outputs`; without what does not fit,
    which goes to `messages` (E221: arrays that are missing, E222: others)."""
    where = f"case {case.name}"
    read = _all_fitted(case.inputs, inputs, "input", where, messages)
    expected = None
    if case.expected is not None:
        expected = _all_fitted(case.expected, outputs, "output", where, messages)
    return Case(
        name=case.name, inputs=tuple(array_ for array_ in read if array_ is not None), expected=expected
    )


def _or_complain(messages: Messages, fit: np.ndarray | Message) -> np.ndarray | None:
    """An array that fits; None for one that does not, which is added to the messages."""
    if isinstance(fit, np.ndarray):
        return fit
    messages.take(fit)
    return None


def _all_fitted(
    arrays: Arrays, types: Sequence[TensorType], what: str, where: str, messages: Messages
) -> tuple[np.ndarray | None, ...]:
    """Arrays in the shapes of `types`; None stays None."""
    if len(arrays) != len(types):
        code = "E221" if len(arrays) < len(types) else "E222"
        text = f"has {counted(len(arrays), f'{what} array')}, the model {counted(len(types), what)}"
        messages.add(code, text, where=where, help=f"give one array for each {what}, in the model's order")
        return ()
    return tuple(
        None if data is None else _or_complain(messages, fitted(data, type_, "", f"{what} {index}", where))
        for index, (data, type_) in enumerate(zip(arrays, types, strict=True))
    )


def pattern_case(types: Sequence[TensorType], seed: int) -> Case:
    """Random inputs over the whole range of each type (floats: standard normal), the same for a seed."""
    generator = np.random.default_rng(seed % (1 << 64))  # NumPy takes none below 0
    return Case(name=f"seed {seed}", inputs=tuple(_random(generator, type_) for type_ in types))


def _random(generator: "np.random.Generator", type_: TensorType) -> np.ndarray:
    if type_.dtype in (DType.FLOAT16, DType.FLOAT32, DType.FLOAT64):
        return generator.standard_normal(type_.shape).astype(type_.dtype.numpy)
    if type_.dtype is DType.BOOL:
        return generator.integers(0, 2, type_.shape).astype(np.bool_)
    low, high = type_.dtype.limits
    return generator.integers(low, high, type_.shape, dtype=type_.dtype.numpy, endpoint=True)


def made_up_case(program: Program, seed: int) -> Case:
    """`pattern_case` of a model's inputs, within the domain of the operators that read them; variables of its
    file are as at the beginning."""
    case = pattern_case([tensor.type for tensor in program.signature.inputs], seed)
    domains = _domains(program)
    firsts = _firsts(program)
    places = zip(state_inputs(program), program.signature.states, strict=True)
    files = {place for place, state in places if state.is_files}
    inputs = [
        firsts[index] if index in files else _within(data, domains.get(tensor.value, ()))
        for index, (data, tensor) in enumerate(zip(case.inputs, program.signature.inputs, strict=True))
    ]
    return Case(name=case.name, inputs=tuple(inputs))


def _domains(program: Program) -> dict[str, list[tuple[float, float]]]:
    """Value -> the domains of the steps that read it."""
    domains: dict[str, list[tuple[float, float]]] = {}
    for call in (let.call for let in program.steps.function.body):
        for position, arg in enumerate(call.args):
            bounds = call.op.domain(call.attrs, call.types, position) if isinstance(arg, Var) else None
            if bounds is not None and isinstance(arg, Var):
                domains.setdefault(arg.name, []).append(bounds)
    return domains


def _within(data: np.ndarray, domains: Sequence[tuple[float, float]]) -> np.ndarray:
    """Made-up values brought within these bounds: reals by their sign, integers by their remainder."""
    if not domains:
        return data
    low, high = max(low for low, _ in domains), min(high for _, high in domains)
    if data.dtype.kind == "f":
        return np.abs(data) if low >= 0 else data
    least, count = int(low), int(high) - int(low) + 1
    return (least + data.astype(np.int64) % count).astype(data.dtype)


MADE_UP = 8
"""Inferences of a sequence that is made up, behind those until a window that slides is full."""


def state_inputs(program: Program) -> tuple[int, ...]:
    """Indexes of the inputs that are state, in the order of the states."""
    fields = [tensor.field for tensor in program.signature.inputs]
    return tuple(fields.index(state.input) for state in program.signature.states)


def array_inputs(program: Program, source: ArraySource) -> tuple[np.ndarray, ...]:
    """Inputs of one inference. Variables of the model's file may be left out: they are as at the beginning.
    Raises CodegenError E220 to E222, as `array_outputs` does."""
    optional = {
        index
        for index, state in zip(state_inputs(program), program.signature.states, strict=True)
        if state.is_files
    }
    read = source.read("x", program.signature.inputs, "input", optional)
    firsts = _firsts(program)
    return tuple(firsts[index] if data is None else data for index, data in enumerate(read))


def array_outputs(program: Program, expected: ArraySource) -> tuple[np.ndarray | None, ...]:
    """Expected outputs of one inference; those of variables of the model's file may be left out."""
    optional = {
        index
        for index, state in zip(state_outputs(program), program.signature.states, strict=True)
        if state.is_files
    }
    return expected.read("y", program.signature.outputs, "output", optional)


def with_variables(program: Program, case: Case) -> Case:
    """`case` with arrays of variables of the model's file where it has none: they are as at the beginning,
    and what becomes of them is compared with NumPy's."""
    states = program.signature.states
    firsts = _firsts(program)
    old = [index for index, state in zip(state_inputs(program), states, strict=True) if state.is_files]
    new = [index for index, state in zip(state_outputs(program), states, strict=True) if state.is_files]
    inputs = list(case.inputs)
    if old and len(inputs) + len(old) == len(program.signature.inputs):
        for index in sorted(old):
            inputs.insert(index, firsts[index])
    outputs = None if case.expected is None else list(case.expected)
    if new and outputs is not None and len(outputs) + len(new) == len(program.signature.outputs):
        for index in sorted(new):
            outputs.insert(index, None)
    expected = None if outputs is None else tuple(outputs)
    return Case(name=case.name, inputs=tuple(inputs), expected=expected)


def _firsts(program: Program) -> dict[int, np.ndarray]:
    """Initial bytes of each input that is state, by the input's index."""
    initial: dict[int, np.ndarray] = {}
    for index, state in zip(state_inputs(program), program.signature.states, strict=True):
        type_ = program.signature.inputs[index].type
        initial[index] = np.frombuffer(state.initial, type_.dtype.numpy).reshape(type_.shape)
    return initial


def state_outputs(program: Program) -> tuple[int, ...]:
    """Indexes of the outputs that become them, in the same order."""
    fields = [tensor.field for tensor in program.signature.outputs]
    return tuple(fields.index(state.output) for state in program.signature.states)


def sequence_cases(
    program: Program, source: ArraySource | None, expected: ArraySource | None, seed: int
) -> list[Case]:
    """The inferences of a sequence, in order: row by row of the arrays, or made up from the seed.

    Arrays of state may be left out: nothing is written there, and its outputs are compared with NumPy's.
    Raises CodegenError E220 to E222.
    """
    types = [tensor.type for tensor in program.signature.inputs]
    if source is None:
        numbers = range(seed, seed + MADE_UP + int(program.metadata.get("ready_calls", 0)))
        names = [f"seed {number}" for number in numbers]
        rows = [pattern_case(types, number).inputs for number in numbers]
    else:
        read = source.read_rows("x", program.signature.inputs, "input", state_inputs(program))
        name = source.prefix or source.path.name
        names = [f"{name}, row {number}" for number in range(len(read))]
        rows = [tuple(_zero(t) if d is None else d for t, d in zip(types, r, strict=True)) for r in read]
    firsts = _firsts(program)
    inputs = [tuple(firsts.get(index, data) for index, data in enumerate(row)) for row in rows]
    return [
        Case(name=name, inputs=arrays, expected=outputs)
        for name, arrays, outputs in zip(names, inputs, _outputs(program, expected, len(rows)), strict=True)
    ]


def _outputs(
    program: Program, expected: ArraySource | None, count: int
) -> Sequence[tuple[np.ndarray | None, ...] | None]:
    if expected is None:
        return [None] * count
    rows = expected.read_rows("y", program.signature.outputs, "output", state_outputs(program))
    if len(rows) != count:
        text = f"the sequence has {count} rows of inputs, {len(rows)} of outputs"
        raise CodegenError(uneven_rows(text, expected.path))
    return rows


def _zero(type_: TensorType) -> np.ndarray:
    return np.full(type_.shape, type_.zero_point, type_.dtype.numpy)
