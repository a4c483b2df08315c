"""The official node tests of the installed `onnx` package, and what this project makes of each of them.

Every one is a model of one operator (or of its function, expanded) with inputs and outputs. Whatever an
operator reads is a graph input there, also a shape or a list of axes. Files of exporters state those as
constants; so does `outcome` for an input that has to be known, and for no other one: the table names them.
"""

import fcntl
import hashlib
import importlib
import pickle
import pkgutil
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from codegen.errors import CodegenError
from codegen.importers.limits import byte_limits
from codegen.importers.onnx import import_onnx
from codegen.ir import Module
from codegen.ir.evaluate import evaluate
from codegen.ir.verify import verify
from tests.checkout import ROOT
from tests.importers.onnx.one_program import run_together

onnx: Any = importlib.import_module("onnx")

PACKAGE = "onnx.backend.test.case.node"
_RUNNING = re.compile(r'"(?P<name>[^"]*)" \([^)]*\) is computed while the model runs')
TOLERANCES = {"float32": 1e-5, "float16": 1e-3}
"""Largest difference of floats, as a part of the largest expected number. Those of float16 are expected as
computed in eleven bits, each step rounded; they are compared with one rounding of what float32 gives."""

FOUR_DIGITS = frozenset(
    {
        "test_averagepool_2d_ceil_last_window_starts_on_pad",
        "test_roialign_aligned_false",
        "test_roialign_aligned_true",
    }
)
"""Tests whose expected outputs are written in decimals, four of them."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class NodeTest:
    """One test: a model, its inputs by name, its outputs."""

    name: str
    operator: str
    model: Any
    inputs: Mapping[str, np.ndarray]
    outputs: tuple[np.ndarray, ...]
    relative: float
    """What the test itself permits each number to differ, as a part of it."""
    absolute: float
    """The same, beside that part."""
    bound: tuple[str, ...] = ()
    """Inputs that became constants of the file."""
    model_limit: int | None = None
    """What `--model-limit` says; such a model is built alone, its constants in an image of their own."""

    @property
    def given(self) -> list[np.ndarray]:
        """The inputs that a caller gives: those with elements."""
        return [data for data in self.inputs.values() if data.size]

    @property
    def taken(self) -> tuple[np.ndarray, ...]:
        """The outputs with elements."""
        return tuple(data for data in self.outputs if np.size(data))

    def without_elements(self) -> list[str]:
        """What a module has to say of the others."""
        both = (("input", list(self.inputs.items())), ("output", self._named_outputs()))
        return [
            f'{what} {number} "{name}": {data.dtype}[{",".join(map(str, data.shape))}]'
            for what, arrays in both
            for number, (name, data) in enumerate(arrays)
            if not np.size(data)
        ]

    def _named_outputs(self) -> list[tuple[str, np.ndarray]]:
        return [(value.name, data) for value, data in zip(self.model.graph.output, self.outputs, strict=True)]

    @property
    def is_static(self) -> bool:
        """Whether inputs and outputs are tensors of fixed shapes, of types of C."""
        graph = self.model.graph
        return all(_is_static(value) for value in (*graph.input, *graph.output))


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Outcome:
    """What became of a test, at first of NumPy's results."""

    test: NodeTest
    module: Module | None = None
    """Where it is imported."""
    reason: str = ""
    """Why it is not."""
    is_right: bool = False


_TYPES = ("FLOAT", "BOOL", *(f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)))


def _is_static(value: Any) -> bool:
    if value.type.WhichOneof("value") != "tensor_type":
        return False
    tensor = value.type.tensor_type
    dims = tensor.shape.dim
    name: str = onnx.TensorProto.DataType.Name(tensor.elem_type)
    return name in _TYPES and all(each.WhichOneof("value") == "dim_value" for each in dims)


def all_modules() -> tuple[str, ...]:
    """Modules of the package that hold tests."""
    package: Any = importlib.import_module(PACKAGE)
    found = pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")
    return tuple(each.name.removeprefix(f"{PACKAGE}.") for each in found)


def all_collected() -> list[NodeTest]:
    """Tests of all modules. The package computes what they expect for five seconds: one process does for all,
    also of later runs. It has imported none before, so that the order is always the same."""
    folder = ROOT / "build" / "onnx_tests"
    folder.mkdir(parents=True, exist_ok=True)
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    path = folder / f"onnx-{onnx.__version__}-numpy-{np.__version__}-{code}.pickle"
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            partial = path.with_suffix(".new")
            words = f"from {__name__} import store; store({str(partial)!r})"
            subprocess.run([sys.executable, "-c", words], cwd=ROOT, check=True)
            partial.replace(path)
    stored: list[NodeTest] = pickle.loads(path.read_bytes())
    return stored


def store(path: str) -> None:
    """Write the tests of all modules."""
    Path(path).write_bytes(pickle.dumps(collected(*all_modules())))


def collected(*modules: str) -> list[NodeTest]:
    """Tests of these modules of the package (a module an operator, about), of all without any."""
    package: Any = importlib.import_module(PACKAGE)
    names = modules or all_modules()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # expected outputs overflow and divide by zero where tests mean it
        for name in names:
            importlib.import_module(f"{PACKAGE}.{name}")
    return [_test(each) for each in package._NodeTestCases]


def _test(case: Any) -> NodeTest:
    [(inputs, outputs)] = case.data_sets
    names = [each.name for each in case.model.graph.input]
    name = str(case.name)
    nodes = case.model.graph.node
    operator = nodes[0].op_type if len(nodes) == 1 else "function"
    return NodeTest(
        name=name,
        operator=operator,
        model=case.model,
        inputs={key: _array(each) for key, each in zip(names, inputs, strict=True)},
        outputs=tuple(_array(each) for each in outputs),
        relative=float(case.rtol),
        absolute=float(case.atol),
    )


def _array(data: Any) -> np.ndarray:
    return onnx.numpy_helper.to_array(data) if isinstance(data, onnx.TensorProto) else data


def bound(test: NodeTest, names: Iterable[str]) -> NodeTest:
    """The test with these inputs as constants of its file."""
    model: Any = onnx.ModelProto()
    model.CopyFrom(test.model)
    chosen = [name for name in test.inputs if name in set(names)]
    rest: list[Any] = [each for each in model.graph.input if each.name not in chosen]
    del model.graph.input[:]
    model.graph.input.extend(rest)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(test.inputs[name], name) for name in chosen)
    inputs = {name: data for name, data in test.inputs.items() if name not in chosen}
    return replace(test, model=model, inputs=inputs, bound=(*test.bound, *chosen))


def outcome(test: NodeTest) -> Outcome:
    """Import, with constants where the importer asks for them, and evaluate in NumPy."""
    while True:
        try:
            data, limits = test.model.SerializeToString(), byte_limits(test.model_limit)
            module = verify(import_onnx(data, f"{test.name}.onnx", limits=limits))
            break
        except CodegenError as error:
            asked = {found["name"] for each in error.messages for found in _RUNNING.finditer(each.text)}
            asked &= set(test.inputs)
            if not asked and any(
                "computed while the model runs" in each.text for each in error.messages
            ):  # what follows from a shape, a length or a list of axes
                asked = {name for name, data in test.inputs.items() if _is_list(data)}
                asked = asked or {name for name, data in test.inputs.items() if np.ndim(data) == 0}
            if not asked:
                return Outcome(test=test, reason="; ".join(each.text for each in error.messages))
            test = bound(test, asked)
    found = evaluate(module, module.main, test.given)
    is_told = module.metadata.get("without_elements", "").splitlines() == test.without_elements()
    return Outcome(test=test, module=module, is_right=is_told and is_right(test, found))


def _is_list(data: np.ndarray) -> bool:
    return np.issubdtype(data.dtype, np.integer) and data.ndim <= 1


def is_right(test: NodeTest, found: Iterable[np.ndarray]) -> bool:
    """Whether results are the expected ones: integers and float64 alike, float32 within the tolerance."""
    results = list(found)
    return len(results) == len(test.taken) and all(
        _is_near(test, result, wanted) for result, wanted in zip(results, test.taken, strict=True)
    )


def _is_near(test: NodeTest, found: np.ndarray, wanted: np.ndarray) -> bool:
    wanted = np.asarray(wanted)
    if (found.shape, found.dtype) != (wanted.shape, wanted.dtype):
        return False
    if found.dtype.name not in TOLERANCES:
        return np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f")
    finite = np.isfinite(wanted)
    if not np.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return False
    exact = wanted[finite].astype(np.float64)
    limit = TOLERANCES[found.dtype.name] * np.abs(exact).max(initial=0)
    if found.dtype == np.float32:
        limit = np.minimum(limit, test.absolute + test.relative * np.abs(exact))
    if test.name in FOUR_DIGITS:
        limit = np.array(1e-4)
    return bool(np.all(np.abs(found[finite] - exact) <= limit))


BATCH = 60
"""Models of one program."""


def on_board(outcomes: Sequence[Outcome], folder: Path, name: str = "host") -> Iterator[Outcome]:
    """The outcomes of those that are imported, as C on a board gives them; many share a program."""
    small = [each for each in outcomes if each.test.model_limit is None]
    batches = [small[start : start + BATCH] for start in range(0, len(small), BATCH)]
    batches += [[each] for each in outcomes if each.test.model_limit is not None]
    for number, batch in enumerate(batches):
        yield from _on_board(batch, folder / f"b{number}", name)


def _on_board(outcomes: Sequence[Outcome], folder: Path, name: str) -> Iterator[Outcome]:
    models = [each.test.model.SerializeToString() for each in outcomes]
    inputs = [each.test.given for each in outcomes]
    ran = run_together(models, inputs, folder, name, outcomes[0].test.model_limit)
    for each, result in zip(outcomes, ran, strict=True):
        if isinstance(result, CodegenError):
            yield replace(each, is_right=False, reason="no program: " + result.messages[0].text)
        else:
            yield replace(each, is_right=each.is_right and is_right(each.test, result.outputs))
