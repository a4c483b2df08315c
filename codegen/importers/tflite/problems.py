"""Collects what is wrong with a file while translation goes on.

`advice` says what to try when an operator or a type of the file is not supported: the words fit the case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from codegen.errors import CodegenError, Message
from codegen.importers.limits import MAX_MESSAGES


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Something that is wrong, as it is said of one place, and what it has in common with others."""

    code: str
    text: str
    advice: str | None = None
    reason: str | None = None
    """What is said of all places of this kind together; None: `text`, which names nothing of one place."""
    subject: str = ""
    """The tensor that `text` names; empty: the place itself is what is wrong."""


class Refused(Exception):
    """Ends the translation of one operator; never leaves the importer."""

    def __init__(
        self, code: str, text: str, advice: str | None = None, *, reason: str | None = None, subject: str = ""
    ) -> None:
        super().__init__(text)
        self.problem = Problem(code=code, text=text, advice=advice, reason=reason, subject=subject)


class AlreadyReported(Exception):
    """Ends the translation of one operator whose operand was reported before; never leaves the importer."""


@dataclass(kw_only=True, slots=True)
class _Group:
    """One reason and its places, in order of discovery."""

    rank: int
    where: str
    first: Problem
    places: dict[str, None] = field(default_factory=dict[str, None])

    def message(self, file_name: str) -> Message:
        """The problem at its place or, of several, what they have in common."""
        code, advice = self.first.code, self.first.advice
        if len(self.places) == 1:
            return Message(code=code, text=self.first.text, where=self.where, help=advice)
        text = f"{self.first.reason or self.first.text} ({len(self.places):,} times)"
        return Message(code=code, text=text, where=file_name, help=advice, places=tuple(self.places))


class Report:
    """Problems by reason: operators that are missing, then what is wrong with others, then with tensors.

    Every place is there once; beyond a limit reasons are only counted.
    """

    def __init__(self, file_name: str) -> None:
        self._file_name = file_name
        self._groups: dict[tuple[str, str, str | None], _Group] = {}
        self._dropped = 0

    def __len__(self) -> int:
        return len(self._groups) + self._dropped

    def add(self, problem: Problem, *, where: str | None = None, missing: bool = False) -> None:
        """Record a problem of the file or, with `where`, of one place; `missing`: a whole operator is."""
        key = problem.code, problem.reason or problem.text, problem.advice
        place = where or self._file_name
        if key not in self._groups:
            if len(self._groups) == MAX_MESSAGES:
                self._dropped += 1
                return
            rank = 0 if missing else 2 if problem.subject else 1
            self._groups[key] = _Group(rank=rank, where=place, first=problem)
        self._groups[key].places[f"{place}: {problem.subject}" if problem.subject else place] = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything recorded, a message for each reason."""
        groups = sorted(self._groups.values(), key=lambda group: group.rank)
        found = tuple(group.message(self._file_name) for group in groups)
        if not self._dropped:
            return found
        text = f"and {self._dropped} more problems"
        return (*found, Message(code="E301", where=self._file_name, text=text))

    def raise_if_any(self) -> None:
        """Raise CodegenError with everything recorded."""
        if self._groups:
            raise CodegenError(self.messages)


_OPS = "`codegen ops` lists the supported operators"
_KERNEL = f"{_OPS}; a kernel of your own can be declared in codegen.toml (docs/user_kernels.md)"

_VENDORS: Mapping[str, str] = MappingProxyType(
    {
        "ethos-u": "Vela, for an Arm Ethos-U",
        "edgetpu-custom-op": "the compiler for Google's Edge TPU",
        "NeutronGraph": "NXP's converter for the Neutron",
        "DISPATCH_OP": "LiteRT's compiler for an NPU",
        "XC_": "XMOS's optimiser for the xcore",
    }
)
"""Custom operators that hold layers as a vendor's compiler left them: start of the name, which compiler."""

_VENDOR_ADVICE = (
    "use the file from before the vendor's compiler; a kernel that drives the device can be declared in "
    "codegen.toml (docs/user_kernels.md)"
)

_HANDLE_ADVICE = (
    "export the model with its state as inputs and outputs; [[state]] in codegen.toml keeps it "
    "(docs/configuration.md)"
)

CONTROL_FLOW: Mapping[str, str] = MappingProxyType(
    {
        "CALL": "convert the model as one function",
        "IF": "convert the model without the branch: one model for each way",
        "WHILE": "unroll the loop before converting (Keras: LSTM, GRU and RNN with unroll=True)",
    }
)
"""Operators that run other subgraphs, and what to try."""

_CUSTOM: Mapping[str, str] = MappingProxyType(
    {
        "Flex": "a TensorFlow operator: convert without SELECT_TF_OPS, with operators that TFLite has",
        "Signal": "end the model behind it, and compute these features in code of your own, or "
        "declare a kernel in codegen.toml (docs/user_kernels.md)",
        "TFLite_Detection_PostProcess": "end the model in front of it, and decode the boxes in your own code",
    }
)
"""Custom operators of TensorFlow's own by the start of their names."""

_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "uint8": "convert it again as int8: target_spec.supported_ops = [TFLITE_BUILTINS_INT8], "
        "inference_input_type = inference_output_type = tf.int8",
        "float16": "convert it again without float16 in target_spec.supported_types: as int8 or float32",
        "string": "leave text outside: give the model the numbers that it stands for",
        "complex64": "leave the Fourier transform outside: give the model real numbers",
        "complex128": "leave the Fourier transform outside: give the model real numbers",
        "float64": "build the model with float32 (Keras: set_floatx), and convert it again",
        "int4": "convert it again with weights of 8 bits",
        "resource": _HANDLE_ADVICE,
        "variant": _HANDLE_ADVICE,
    }
)
_ANY_TYPE = "convert it again with int8 or float32 values"


def advice_for_type(name: str) -> str:
    """What to try about a tensor of the element type `name`."""
    return _TYPES.get(name, _ANY_TYPE)


def unsupported(name: str, custom_name: str, outputs: int) -> tuple[str, str]:
    """What is wrong with an operator of so many outputs that is not imported, and what to try."""
    if custom_name or name == "CUSTOM":
        return _unsupported_custom(custom_name, outputs)
    if name in CONTROL_FLOW:
        return f"control flow ({name} calls another subgraph) is not supported", CONTROL_FLOW[name]
    return f"operator {name} is not supported", _kernel(outputs)


def _unsupported_custom(name: str, outputs: int) -> tuple[str, str]:
    text = f'custom operator "{name}" is not supported'
    vendor = _by_start(_VENDORS, name)
    if vendor is not None:
        return f"{text}: it is what {vendor} made of layers", _VENDOR_ADVICE
    return text, _by_start(_CUSTOM, name) or _kernel(outputs)


def _by_start(found: Mapping[str, str], name: str) -> str | None:
    return next((words for start, words in found.items() if name.startswith(start)), None)


def _kernel(outputs: int) -> str:
    """A kernel can be declared for an operator of one output only."""
    return _KERNEL if outputs == 1 else _OPS
