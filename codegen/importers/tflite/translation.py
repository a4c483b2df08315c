"""Translates the records of one subgraph of a TFLite file to a function, in the file's order of operators."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from codegen.importers.budget import Budget
from codegen.importers.graph_inputs import Extents, open_advice
from codegen.importers.limits import ByteLimits
from codegen.importers.printable_names import identifiers, printable
from codegen.importers.reporting import AlreadyReported, ImportProblem, ImportReport, Refused
from codegen.importers.tflite.control import InlinedGraph
from codegen.importers.tflite.file.reader import FileModel, FileOperator
from codegen.importers.tflite.graph_outputs import graph_output
from codegen.importers.tflite.held_state import held_state
from codegen.importers.tflite.operators import translators
from codegen.importers.tflite.operators.site import FOLDED, Site, Translated, Values, is_folded, source
from codegen.importers.tflite.operators.steps import Chain, Parts, chain, check_types, evaluated, result_shape
from codegen.importers.tflite.operators.translators import (
    ASSIGN,
    HOLDERS,
    ONCE,
    READ,
    SPLITTERS,
    STATE_OPS,
    TRANSLATORS,
    imported_ops,
    is_imported,
)
from codegen.importers.tflite.problems import unsupported
from codegen.importers.tflite.tensors import STATIC_TYPES, Tensors, unknown_extent
from codegen.importers.tflite.unsigned import Edges, need_known
from codegen.importers.tflite.variables import Variables
from codegen.ir import Function, Let, StateValue, TensorType, Var
from codegen.ir.ops import OPS, USER, UserKernel


class Translation:
    """State of the import of one subgraph: values defined so far, steps so far, problems so far."""

    _is_inner = False
    """The inputs are values of another subgraph, held already as they are here."""

    def __init__(
        self,
        flat: InlinedGraph,
        kernels: Sequence[UserKernel],
        subgraph: Callable[[int], FileModel],
        extents: Extents,
        limits: ByteLimits,
    ) -> None:
        """`subgraph`: any one of the file, by its number."""
        self._model, self._subgraph, self._refusals = flat.model, subgraph, flat.refusals
        model = flat.model
        self._extents = extents
        self._is_unsized = False
        """A graph input has unknown extents, so shapes in the file mean nothing."""
        self._inputs = frozenset(model.inputs)
        self._kernels = {kernel.op: kernel for kernel in kernels}
        self._report = ImportReport(model.file_name)
        self.tensors = Tensors(model, limits)
        if extents:
            self.tensors.declare_open()
        producers: dict[int, int] = {}
        for operator in model.operators:
            for index in operator.outputs:
                producers.setdefault(index, operator.index)
        self._values = Values(self.tensors, producers)
        self._body: list[Let] = []
        self._edges = Edges(len(model.operators))
        self._budget = Budget(limits)
        self._variables = Variables(model.operators)
        self._identifiers: Mapping[str, str] = {}
        """C identifiers of variables."""

    def run(self) -> Function:
        """The file's function; raises CodegenError with every problem found."""
        self._check_entry_points()
        params = self._params()
        for operator in self._model.operators:
            self._step(operator)
        results = self._results()
        further, states = self._states(len(params), len(results))
        self._report.raise_if_any(params, self._body)
        return Function(
            name="main",
            params=(*params, *self._variables.params),
            body=self._edges.around(self._body, further),
            results=(*results, *further),
            states=states,
        )

    def _states(self, params: int, results: int) -> tuple[tuple[Var, ...], tuple[StateValue, ...]]:
        try:
            return self._variables.states(params, results)
        except Refused as refused:
            self._report.add(refused.problem)
        except AlreadyReported:
            pass
        return (), ()

    def _check_entry_points(self) -> None:
        others = sorted({index for index in self._model.entry_subgraphs if index != 0})
        if others:
            text = f"the file has several entry points (also subgraph {others[0]}), supported is one"
            self._report.add(ImportProblem(code="E301", text=text, advice="convert a single signature"))

    def _params(self) -> tuple[Var, ...]:
        inputs = self._model.inputs
        if not inputs:
            text = "the model has no inputs, so its outputs are constants"
            self._report.add(ImportProblem(code="E301", text=text))
        origins, variables = [self._tensor_name(index) for index in inputs], self._variables.names
        names = identifiers([*origins, *variables], [op.short for op in (*OPS.values(), USER)])
        self._identifiers = dict(zip(variables, names[len(inputs) :], strict=True))
        params: list[Var] = []
        for position, (index, name, origin) in enumerate(zip(inputs, names, origins, strict=False)):
            where = f"graph input {position}"
            kind = self._sized(position, index, self._new_value(index, where))
            value = None if kind is None else Var(name=name, type=kind, origin=origin)
            if value is not None and self._is_sized(position, index, where):
                param = value
                if self.tensors.is_unsigned(index) and not self._is_inner:
                    param, value = self._edges.input(value)
                params.append(param)
            else:
                value = None
            self._values.define(index, value, from_inputs=True)
        return tuple(params)

    def _tensor_name(self, index: int) -> str:
        try:
            return printable(self.tensors.tensor(index).name)
        except Refused:
            return ""

    def _sized(self, position: int, index: int, kind: TensorType | None) -> TensorType | None:
        """The type of graph input `position` with the extents that are said of it."""
        if kind is None or not self._extents:
            return kind
        shape = tuple(self._extents.get((position, axis), extent) for axis, extent in enumerate(kind.shape))
        self.tensors.resize(index, shape)
        return self.tensors.type(index)

    def _is_sized(self, position: int, index: int, where: str) -> bool:
        """Only the batch may be unknown: the file fills other unknown extents with 1, which nobody means, and
        what would follow from them is not told."""
        tensor = self.tensors.tensor(index)
        unknown = (axis for axis, extent in enumerate(tensor.signature) if extent == -1)
        if all(not axis or (position, axis) in self._extents for axis in unknown):
            return True
        self._is_unsized = True
        advice = open_advice(tensor.name, tensor.signature)
        self._report.add(unknown_extent(tensor, tensor.signature, advice).problem, where=where)
        return False

    def _new_value(self, index: int, where: str) -> TensorType | None:
        """Type of a tensor that gets its value here; None if that was reported as impossible."""
        try:
            tensor = self.tensors.tensor(index)
            if self._values.is_computed(index) or self.tensors.is_folded(index):
                raise Refused("E303", f"{tensor} gets a value twice")
            if self.tensors.has_data(index):
                raise Refused("E303", f"{tensor} is computed, yet the file holds data for it")
            kind = self.tensors.type(index)
            self._budget.value(kind)
            return kind
        except Refused as refused:
            self._report.add(refused.problem, where=where)
        except AlreadyReported:
            pass
        return None

    def _step(self, operator: FileOperator) -> None:
        """Translate one operator; whatever comes of it, its results are defined for those that follow."""
        origin = source(operator, self.tensors)
        if operator.name in STATE_OPS:
            self._on_variable(operator, str(origin))
            return
        if self._is_done_otherwise(operator, str(origin)):
            return
        folded = self._is_folded(operator)
        known = folded or self._is_known(operator)
        if not known:
            missing = unsupported(operator.name, operator.custom_name, outputs=len(operator.outputs))
            self._report.add(self._refusals.get(operator.index, missing), where=str(origin), missing=True)
        elif operator.kind in {*TRANSLATORS, *(FOLDED if folded else ())} and len(operator.outputs) != 1:
            text = f"has {len(operator.outputs)} outputs, needs 1"
            self._report.add(ImportProblem(code="E303", text=text), where=str(origin))
            known = False
        kinds = [
            None if not known and self._is_handle(index) else self._new_value(index, str(origin))
            for index in operator.outputs
        ]
        site = Site(operator, self._values, self._report, kinds)
        if operator.kind in HOLDERS and known:
            self._on_holder(site, kinds)
            return
        if known and folded and self._fold(site):
            return
        chains = self._translated(site) if known and not folded else None
        self._define(operator, kinds, chains)

    def _is_done_otherwise(self, operator: FileOperator, where: str) -> bool:
        """Hook: translate an operator in another way; False if it has none."""
        del operator, where
        return False

    def _on_holder(self, site: Site, kinds: list[TensorType | None]) -> None:
        """Translate an operator that keeps state of its own."""
        chains: list[Chain] | None = None
        done: Parts = {}
        try:
            held = held_state(site.operator, self._values, self._variables, self._identifiers)
            chains = self._translated(site, held.translate, done)
            if chains:
                chains.extend(held.kept(chains, done))
        except Refused as refused:
            site.refuse(refused.problem)
        except AlreadyReported:
            pass
        self._define(site.operator, kinds, chains)

    def _on_variable(self, operator: FileOperator, where: str) -> None:
        """Follow an operator on variables; what a READ_VARIABLE gives is defined whatever comes of it."""
        kinds = [self._new_value(index, where) for index in operator.outputs] if operator.name == READ else []
        held: Var | bytes | None = None
        try:
            if operator.name == ONCE:
                self._variables.call_once(operator, self._subgraph)
            elif operator.name == ASSIGN:
                self._variables.assign(operator, self._values.read)
            elif kinds and kinds[0] is not None:
                held = self._variables.read(operator, kinds[0], self._identifiers)
        except Refused as refused:
            self._report.add(refused.problem, where=where)
        except AlreadyReported:
            pass
        for index, kind in zip(operator.outputs, kinds, strict=False):
            if isinstance(held, bytes) and kind is not None:
                self.tensors.fold(index, np.frombuffer(held, kind.dtype.numpy).reshape(kind.shape))
            elif not self._values.is_computed(index):
                value = held if isinstance(held, Var) else None
                self._values.define(index, value, from_inputs=True)

    def _is_folded(self, operator: FileOperator) -> bool:
        """True if the operator's results are known before the model runs."""
        if operator.kind not in imported_ops():
            return False
        try:
            return is_folded(operator, self.tensors)
        except Refused:
            return False

    def _fold(self, site: Site) -> bool:
        """Let the operator's results be constants; False if it was refused (and that reported)."""
        try:
            numbers = self._numbers(site)
            for index, data, result in zip(site.operator.outputs, numbers, site.results, strict=True):
                if self._is_given(result):
                    self.tensors.resize(index, data.shape)
            results = tuple(self.tensors.type(index) for index in site.operator.outputs)
        except Refused as refused:
            site.refuse(refused.problem)
            return False
        except AlreadyReported:
            return False
        for index, data, result in zip(site.operator.outputs, numbers, results, strict=True):
            if data.shape != result.shape or data.dtype != result.dtype.numpy:
                text = f"result is {result}, the operator gives {data.dtype}{list(data.shape)}"
                site.complain("E306", text)
                return False
            self.tensors.fold(index, data)
        return True

    def _numbers(self, site: Site) -> list[np.ndarray]:
        """The results of an operator whose arguments are known."""
        need_known(site.operator, self.tensors)
        if site.operator.name in FOLDED:
            return [FOLDED[site.operator.name](site)]
        chains = self._translated(site)
        if chains is None:
            raise AlreadyReported
        constants = self.tensors.used_constants
        return [evaluated(constants, made) for made in chains]

    def _is_handle(self, index: int) -> bool:
        return 0 <= index < len(self._model.tensors) and self.tensors.is_handle(index)

    def _is_known(self, operator: FileOperator) -> bool:
        return is_imported(operator.kind) or bool(self._declared(operator))

    def _declared(self, operator: FileOperator) -> UserKernel | None:
        return self._kernels.get(operator.custom_name or operator.name)

    def _define(
        self, operator: FileOperator, kinds: list[TensorType | None], chains: list[Chain] | None
    ) -> None:
        from_inputs = any(self._values.depends_on_inputs(index) for index in operator.inputs)
        self._body.extend(let for made in chains or () for let in made)
        for position, (index, kind) in enumerate(zip(operator.outputs, kinds, strict=True)):
            if self._values.is_computed(index):
                continue
            value = None  # of what may be a shape nothing is said: the refusal is why it is not known
            if kind is not None and not self._is_unsized and kind.dtype not in STATIC_TYPES:
                value = Var(name=f"refused{operator.index}_{index}", type=kind)
            self._values.define(index, chains[position][-1].var if chains else value, from_inputs=from_inputs)

    def _translated(
        self,
        site: Site,
        translate: Callable[[Site], tuple[Translated, ...]] | None = None,
        done: Parts | None = None,
    ) -> list[Chain] | None:
        """The operator's steps for each output, and in `done` what they have computed; None if it was
        refused (and that reported)."""
        done = {} if done is None else done
        try:
            need_known(site.operator, self.tensors)
            parts = (self._parts if translate is None else translate)(site)
            results = self._resized(site, parts)
            chains = [self._chain(site, i, part, results[i], done) for i, part in enumerate(parts)]
        except Refused as refused:
            site.refuse(refused.problem)
            return None
        except AlreadyReported:
            return None
        check_types(site, chains)
        if site.complained:
            return None
        return chains if site.depends_on_inputs else self._foldable(site, chains)

    def _resized(self, site: Site, parts: Sequence[Translated]) -> tuple[TensorType, ...]:
        """Types of the results; as the operators give them where that is another extent than the file's, or
        where the file leaves the shape out: TFLite gives a tensor its shape when it makes room for it."""
        for index, part, result in zip(site.operator.outputs, parts, site.results, strict=True):
            if self._is_given(result):
                self.tensors.resize(index, result_shape(part, result))
                self._budget.value(self.tensors.type(index))
        return tuple(self.tensors.type(index) for index in site.operator.outputs)

    def _is_given(self, result: TensorType) -> bool:
        """True if the operator says which shape a result has; else the file does."""
        return bool(self._extents) or not result.shape

    def _foldable(self, site: Site, chains: list[Chain]) -> list[Chain] | None:
        """Steps on constants alone; None, and that reported, where folding them is beyond the budget."""
        try:
            for let in (let for made in chains for let in made):
                self._budget.folded(let.call, let.var.type)
        except Refused as refused:
            site.refuse(refused.problem)
            return None
        except AlreadyReported:
            return None
        return chains

    def _parts(self, site: Site) -> tuple[Translated, ...]:
        name = site.operator.kind
        if name in SPLITTERS:
            return SPLITTERS[name](site)
        if name in TRANSLATORS:
            return (TRANSLATORS[name](site),)
        kernel = self._declared(site.operator)
        if kernel is None:
            raise Refused("E301", "works on shapes here that are not known, or have more than 64 numbers")
        return (translators.call(site, kernel),)

    def _chain(
        self, site: Site, position: int, translated: Translated, result: TensorType, done: Parts
    ) -> Chain:
        """The steps of output `position`; values between them count for the budget too."""
        origin = source(site.operator, self.tensors, position)
        ending = f"_{position}" if len(site.operator.outputs) > 1 or site.operator.kind in SPLITTERS else ""
        made = chain(translated, result, origin, ending, done)
        for let in made[:-1]:
            self._budget.value(let.var.type)
        return made

    def _results(self) -> tuple[Var, ...]:
        """Graph outputs: computed from the inputs, each its own tensor."""
        outputs = self._model.outputs
        if not outputs:
            self._report.add(ImportProblem(code="E303", text="the model has no outputs"))
        results: list[Var] = []
        firsts: dict[int, int] = {}
        for position, index in enumerate(outputs):
            try:
                places = position, firsts.setdefault(index, position)
                value = graph_output(self._values, self._report, self._inputs, index, places)
                results.append(self._edges.output(value) if self.tensors.is_unsigned(index) else value)
            except Refused as refused:
                self._report.add(refused.problem, where=f"graph output {position}")
            except AlreadyReported:
                pass
        return tuple(results)
