"""Rules of users about single values: `[[place]]`, `[[state]]`, `[[constant]]` of codegen.toml.

Where a user wants values: `[[place]]` of codegen.toml as a plain value.

Which output becomes which input of the next inference: `[[state]]` of codegen.toml as a plain value.

Where constants lie: `[[constant]]` of codegen.toml as a plain value.
"""

from dataclasses import dataclass

from codegen.ir.types import VirtualDevice


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Values that get `device`: one of `tensor`, `op`, `inputs`, `outputs` says which.

    Raises ValueError where none or several do, or where it gives nothing to them.
    """

    who: str
    """How messages name it, e.g. `codegen.toml, place 2`."""
    device: VirtualDevice
    tensor: str | None = None
    """A tensor by the file's name, or a value by its own."""
    op: int | str | None = None
    """Results of the file's operator of this index, or of all operators of this name."""
    inputs: bool = False
    outputs: bool = False
    reads: str | None = None
    """Memory scope in which the operators `op` find their run-time arguments."""
    model: str | None = None
    """C prefix of the only model that it is for."""

    def __post_init__(self) -> None:
        chosen = [self.tensor is not None, self.op is not None, self.inputs, self.outputs]
        if sum(chosen) != 1 or (self.device.is_free and self.reads is None):
            raise ValueError(f"{self.who}: a place is of one thing, on some device")
        if self.reads is not None and self.op is None:
            raise ValueError(f"{self.who}: only operators read")

    @property
    def spelled(self) -> str:
        """It as one word, e.g. `place:op=CONV_2D:memory=dtcm`."""
        edge = "inputs" if self.inputs else "outputs"
        named = f"tensor={self.tensor}" if self.tensor is not None else edge
        of = named if self.op is None else f"op={self.op}"
        device = self.device
        parts = (("memory", device.memory_scope), ("target", device.target), ("device_id", device.device_id))
        parts += (("reads", self.reads),)
        mine = [] if self.model is None else [f"model={self.model}"]
        return ":".join(["place", *mine, of, *(f"{key}={part}" for key, part in parts if part is not None)])


@dataclass(frozen=True, kw_only=True, slots=True)
class StateRule:
    """Output `output` of one inference is input `input` of the next; names are the file's, or of C fields.
    Without names it says where all state of a model lies for which no other rule says that."""

    who: str
    """How messages name it, e.g. `codegen.toml, state 2`."""
    input: str = ""
    output: str = ""
    memory: str | None = None
    """The pool that it lies in, and nothing but state."""
    model: str | None = None
    """C prefix of the only model that it is for."""

    @property
    def spelled(self) -> str:
        """It as one word, e.g. `state:input=window:output=window_out`."""
        mine = [] if self.model is None else [f"model={self.model}"]
        names = [f"input={self.input}", f"output={self.output}"] if self.is_pair else []
        where = [] if self.memory is None else [f"memory={self.memory}"]
        return ":".join(["state", *mine, *names, *where])

    @property
    def is_pair(self) -> bool:
        """True if the rule names an input and an output."""
        return bool(self.input)


@dataclass(frozen=True, kw_only=True, slots=True)
class ConstantRule:
    """Constants of steps of `op`, of the step called `name`, and larger than `larger_than` bytes lie in
    `memory`; what is not given permits any. Of several rules the first that applies counts."""

    memory: str
    op: str | None = None
    name: str | None = None
    """Name of the step in reports, or of its tensor in the file."""
    larger_than: int = 0
    where: str = "constants"
    """How messages call the rule."""

    def __str__(self) -> str:
        words = [f"{key} = {value!r}" for key, value in (("op", self.op), ("name", self.name)) if value]
        words += [f"larger_than = {self.larger_than}"] if self.larger_than else []
        return ", ".join(words) or "all constants"
