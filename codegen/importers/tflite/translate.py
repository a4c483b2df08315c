"""Translates the records of a TFLite file to a module: one function in the file's order of operators."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from tflite.AddOptions import AddOptions
from tflite.MulOptions import MulOptions
from tflite.SubOptions import SubOptions

from codegen.importers.names import identifiers
from codegen.importers.tflite import declared, elementwise, shaping, slicing, windows
from codegen.importers.tflite.reader import read
from codegen.importers.tflite.records import FileModel, FileOperator
from codegen.importers.tflite.report import AlreadyReported, Refused, Report
from codegen.importers.tflite.site import Site, Translated, Values, source
from codegen.importers.tflite.tensors import Tensors
from codegen.ir import Call, Function, Let, Module, TensorType, Var
from codegen.ir.ops import OPS, USER, Op, UserKernel, find_op

TRANSLATORS: Mapping[str, Callable[[Site], Translated]] = MappingProxyType(
    {
        "ADD": elementwise.binary(AddOptions),
        "AVERAGE_POOL_2D": windows.pool_2d,
        "CONCATENATION": shaping.concatenation,
        "CONV_2D": windows.conv_2d,
        "DEPTHWISE_CONV_2D": windows.depthwise_conv_2d,
        "DEQUANTIZE": elementwise.unary,
        "EXPAND_DIMS": shaping.expand_dims,
        "FULLY_CONNECTED": windows.fully_connected,
        "LEAKY_RELU": elementwise.leaky_relu,
        "LOGISTIC": elementwise.unary,
        "MAX_POOL_2D": windows.pool_2d,
        "MEAN": shaping.mean,
        "MUL": elementwise.binary(MulOptions),
        "PAD": shaping.pad,
        "PADV2": shaping.pad_v2,
        "QUANTIZE": elementwise.unary,
        "RELU": elementwise.unary,
        "RELU6": elementwise.unary,
        "RESHAPE": shaping.reshape,
        "SOFTMAX": elementwise.softmax,
        "SQUEEZE": shaping.squeeze,
        "STRIDED_SLICE": slicing.strided_slice,
        "SUB": elementwise.binary(SubOptions),
        "TANH": elementwise.unary,
        "TRANSPOSE": shaping.transpose,
    }
)
"""Operators of a file that are imported, by TFLite's name."""

SPLITTERS: Mapping[str, Callable[[Site], tuple[Translated, ...]]] = MappingProxyType(
    {"SPLIT": slicing.split, "SPLIT_V": slicing.split_v}
)
"""Those with several outputs: one step each."""

CONTROL_FLOW = ("CALL", "CALL_ONCE", "IF", "WHILE")
"""Operators that run other subgraphs."""

_OPS_HELP = "`codegen ops` lists the supported operators"
_KERNEL_HELP = f"{_OPS_HELP}; a kernel of your own can be declared in codegen.toml (docs/user_kernels.md)"


def _op(found: Translated) -> Op:
    op = find_op(found.op)
    assert op is not None, found.op
    return op


def import_tflite(data: bytes, file_name: str, kernels: Sequence[UserKernel] = ()) -> Module:
    """Import the bytes of a TFLite file; `file_name` serves messages and the module's metadata.

    An operator that is not translated becomes a call of the one of `kernels` that is declared for it.

    Raises CodegenError E302..E306 (see `codegen.importers`): a damaged file at once, otherwise everything
    that is wrong or unsupported together.
    """
    translation = _Translation(read(data, file_name), kernels)
    function = translation.run()
    return Module(
        functions={function.name: function},
        constants=translation.tensors.used_constants,
        metadata={"format": "tflite", "sha256": hashlib.sha256(data).hexdigest(), "file": file_name},
    )


class _Translation:
    """State of one import: values defined so far, steps so far, problems so far."""

    def __init__(self, model: FileModel, kernels: Sequence[UserKernel]) -> None:
        self._model = model
        self._kernels = {kernel.op: kernel for kernel in kernels}
        self._report = Report(model.file_name)
        self.tensors = Tensors(model)
        producers: dict[int, int] = {}
        for operator in model.operators:
            for index in operator.outputs:
                producers.setdefault(index, operator.index)
        self._values = Values(self.tensors, producers)
        self._body: list[Let] = []

    def run(self) -> Function:
        """The file's function; raises CodegenError with every problem found."""
        self._check_entry_points()
        params = self._params()
        for operator in self._model.operators:
            self._step(operator)
        results = self._results()
        self._report.raise_if_any()
        return Function(name="main", params=params, body=tuple(self._body), results=results)

    def _check_entry_points(self) -> None:
        others = sorted({index for index in self._model.entry_subgraphs if index != 0})
        if others:
            self._report.add(
                "E301",
                f"the file has several entry points (also subgraph {others[0]}), supported is one",
                advice="convert a single signature",
            )

    def _params(self) -> tuple[Var, ...]:
        inputs = self._model.inputs
        if not inputs:
            self._report.add("E301", "the model has no inputs, so its outputs are constants")
        origins = [self._tensor_name(index) for index in inputs]
        names = identifiers(origins, [op.short for op in (*OPS.values(), USER)])
        params: list[Var] = []
        for position, (index, name, origin) in enumerate(zip(inputs, names, origins, strict=True)):
            where = f"graph input {position}"
            kind = self._new_value(index, where)
            if kind is not None:
                self._check_extents(index, where)
                params.append(Var(name=name, type=kind, origin=origin))
            self._values.define(index, params[-1] if kind is not None else None, from_inputs=True)
        return tuple(params)

    def _tensor_name(self, index: int) -> str:
        try:
            return self.tensors.tensor(index).name
        except Refused:
            return ""

    def _check_extents(self, index: int, where: str) -> None:
        """Only the batch may be unknown: the file fills other unknown extents with 1, which nobody means."""
        tensor = self.tensors.tensor(index)
        if -1 in tensor.signature[1:]:
            self._report.add(
                "E301",
                f"{tensor} has shape {list(tensor.signature)}: only the first extent may be unknown (-1)",
                where=where,
                advice="convert the model with a fixed input shape",
            )

    def _new_value(self, index: int, where: str) -> TensorType | None:
        """Type of a tensor that gets its value here; None if that was reported as impossible."""
        try:
            tensor = self.tensors.tensor(index)
            if self._values.is_computed(index):
                raise Refused("E303", f"{tensor} gets a value twice")
            if self.tensors.has_data(index):
                raise Refused("E303", f"{tensor} is computed, yet the file holds data for it")
            return self.tensors.type(index)
        except Refused as refused:
            code, text, advice = refused.message
            self._report.add(code, text, where=where, advice=advice)
        except AlreadyReported:
            pass
        return None

    def _step(self, operator: FileOperator) -> None:
        """Translate one operator; whatever comes of it, its results are defined for those that follow."""
        origin = source(operator, self.tensors)
        known = self._is_known(operator)
        if not known:
            self._unsupported(operator, str(origin))
        elif operator.name in TRANSLATORS and len(operator.outputs) != 1:
            text = f"has {len(operator.outputs)} outputs, needs 1"
            self._report.add("E303", text, where=str(origin))
            known = False
        kinds = [self._new_value(index, str(origin)) for index in operator.outputs]
        lets = self._translated(Site(operator, self._values, self._report, kinds)) if known else None
        self._define(operator, kinds, lets)

    def _is_known(self, operator: FileOperator) -> bool:
        return operator.name in TRANSLATORS or operator.name in SPLITTERS or bool(self._declared(operator))

    def _declared(self, operator: FileOperator) -> UserKernel | None:
        return self._kernels.get(operator.custom_name or operator.name)

    def _define(self, operator: FileOperator, kinds: list[TensorType | None], lets: list[Let] | None) -> None:
        from_inputs = any(self._values.depends_on_inputs(index) for index in operator.inputs)
        self._body.extend(lets or ())
        for position, (index, kind) in enumerate(zip(operator.outputs, kinds, strict=True)):
            if self._values.is_computed(index):
                continue
            value = None if kind is None else Var(name=f"refused{operator.index}_{index}", type=kind)
            self._values.define(index, lets[position].var if lets else value, from_inputs=from_inputs)

    def _unsupported(self, operator: FileOperator, where: str) -> None:
        if operator.custom_name or operator.name == "CUSTOM":
            advice, text = _KERNEL_HELP, f'custom operator "{operator.custom_name}" is not supported'
        elif operator.name in CONTROL_FLOW:
            advice, text = (
                _OPS_HELP,
                f"control flow ({operator.name} calls another subgraph) is not supported",
            )
        else:
            advice, text = _KERNEL_HELP, f"operator {operator.name} is not supported"
        self._report.add("E301", text, where=where, advice=advice)

    def _translated(self, site: Site) -> list[Let] | None:
        """The operator's steps, one an output; None if it was refused (and that reported)."""
        try:
            found = self._parts(site)
            results = site.results
        except Refused as refused:
            site.complain(*refused.message)
            return None
        except AlreadyReported:
            return None
        for part, result in zip(found, results, strict=True):
            types = [None if arg is None else arg.type for arg in part.args]
            try:
                _op(part).check(part.attrs, types, result)
            except ValueError as error:
                site.complain("E306", str(error))
        if site.complained:
            return None
        return [self._let(site, i, part, results[i]) for i, part in enumerate(found)]

    def _parts(self, site: Site) -> tuple[Translated, ...]:
        name = site.operator.name
        if name in SPLITTERS:
            return SPLITTERS[name](site)
        if name in TRANSLATORS:
            return (TRANSLATORS[name](site),)
        kernel = self._declared(site.operator)
        assert kernel is not None, "asked for known operators only"
        return (declared.call(site, kernel),)

    def _let(self, site: Site, position: int, found: Translated, result: TensorType) -> Let:
        origin = source(site.operator, self.tensors, position)
        op, operator = _op(found), site.operator
        name = f"{op.short}{operator.index}" + (f"_{position}" if operator.name in SPLITTERS else "")
        var = Var(name=name, type=result, origin=origin.tensor_name)
        return Let(var=var, call=Call(op=op, args=found.args, attrs=found.attrs), source=origin)

    def _results(self) -> tuple[Var, ...]:
        """Graph outputs: computed from the inputs, each its own tensor."""
        outputs = self._model.outputs
        if not outputs:
            self._report.add("E303", "the model has no outputs")
        results: list[Var] = []
        for position, index in enumerate(outputs):
            try:
                results.append(self._result(position, index))
            except Refused as refused:
                code, text, advice = refused.message
                self._report.add(code, text, where=f"graph output {position}", advice=advice)
            except AlreadyReported:
                pass
        return tuple(results)

    def _result(self, position: int, index: int) -> Var:
        tensor = self.tensors.tensor(index)
        if index in self._model.inputs:
            raise Refused(
                "E301",
                f"{tensor} is also a graph input: nothing computes it",
                "remove this output from the model, the caller has its value already",
            )
        first = self._model.outputs.index(index)
        if first != position:
            raise Refused(
                "E301",
                f"{tensor} is also graph output {first}",
                "list each output once when converting the model",
            )
        value = self._values.read(index)
        if len(self._report):
            raise AlreadyReported  # what the value depends on is not known after an operator was refused
        if not isinstance(value, Var) or not self._values.depends_on_inputs(index):
            raise Refused(
                "E301",
                f"{tensor} does not depend on the model's inputs: it is a constant",
                "remove this output from the model",
            )
        return value
