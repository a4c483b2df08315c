"""Translates the graph of an ONNX file to a function in the file's order of nodes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from codegen.importers.file_tensors import NamedTensor
from codegen.importers.graph_inputs import Extents, open_extents
from codegen.importers.limits import ByteLimits
from codegen.importers.onnx.composed import REPEATED, SEQUENCES
from codegen.importers.onnx.file.node_order import names_read
from codegen.importers.onnx.file.records import FileBody, FileGraph, FileNode, FileValue
from codegen.importers.onnx.held_types import other_float, other_sign
from codegen.importers.onnx.integer import (
    HELD,
    Group,
    LeftInFloat,
    fused,
    groups_of,
    left_alone,
    target_of,
    with_quantization,
)
from codegen.importers.onnx.layouts import (
    Computed,
    Given,
    Known,
    Listed,
    StepList,
    Stored,
    Value,
    identity,
)
from codegen.importers.onnx.no_elements import without_elements
from codegen.importers.onnx.node_site import SEQUENCE_ADVICE, Site, value_type
from codegen.importers.onnx.node_types import REAL, TRANSLATORS, full_name, is_missing, missing
from codegen.importers.onnx.rewriting.contributed import contributed
from codegen.importers.onnx.rewriting.folding import folded
from codegen.importers.onnx.rewriting.functions import MAX_DEPTH, Inliner, caller_names, defined
from codegen.importers.onnx.rewriting.older import as_of_seven
from codegen.importers.printable_names import identifiers, printable
from codegen.importers.reporting import AlreadyReported, ImportProblem, ImportReport, Refused
from codegen.ir import DType, Function, Source, TensorType, Var
from codegen.ir.ops import OPS, USER, ReshapeAttrs
from codegen.ir.ops.plain import TYPES
from codegen.passes.stored_halves import STORED_AS


class GraphTranslation:
    """State of one import: values defined so far, problems so far."""

    def __init__(self, graph: FileGraph, file_name: str, extents: Extents, limits: ByteLimits) -> None:
        self._graph, self._extents = graph, extents
        self._report = ImportReport(file_name)
        self.steps = StepList(limits)
        self._values: dict[str, Given | None] = {
            name: Known(data=data) for name, data in graph.constants.items()
        }
        self._uses = Counter(names_read(graph.nodes))
        self._uses.update(output.name for output in graph.outputs)
        groups = groups_of(graph, self._uses)
        self._groups = {group.last.index: group for group in groups}
        self._inner = {node.index for group in groups for node in group.inner}
        whole = {*self._inner, *self._groups}
        self.steps.left_in_float.extend(
            f'op {node.index} {node.op} "{printable(node.outputs[0])}": no QuantizeLinear is right behind it'
            for node in left_alone(graph, whole)
            if node.outputs
        )
        self._inliner, self._opset, self._depth, self._turns = Inliner(), graph.opset, 0, 0

    def run(self) -> Function:
        """The file's function; raises CodegenError with every problem found."""
        params = self._params()
        for node in self._graph.nodes:
            if node.index in self._groups:
                self._translate_group(self._groups[node.index])
            elif node.index not in self._inner:
                self._translate(node)
        results = self._results({param.name for param in params})
        if not self._report:
            self._need_types(params)
        self._report.raise_if_any(params, self.steps.body)
        return Function(name="main", params=params, body=tuple(self.steps.body), results=results)

    def tensors(self) -> tuple[NamedTensor, ...]:
        """The tensors of the file that are values of the function, in the order of their definition."""
        return tuple(
            NamedTensor(name=printable(name), var=value.var.name, axes=value.axes)
            for name, value in self._values.items()
            if isinstance(value, Computed)
        )

    def notes(self) -> dict[str, str]:
        """Lines of the report about the import: layers left in float, graph inputs and outputs without
        elements."""
        lines = {
            "left_in_float": self.steps.left_in_float,
            "may_differ": self.steps.may_differ,
            "without_elements": self.steps.without_elements,
        }
        notes = {name: "\n".join(texts) for name, texts in lines.items() if texts}
        return notes | ({STORED_AS: DType.FLOAT16.value} if self._graph.has_halves else {})

    def _params(self) -> tuple[Var, ...]:
        inputs = self._graph.inputs
        names = identifiers([value.name for value in inputs], [op.short for op in (*OPS.values(), USER)])
        params: list[Var] = []
        for position, (value, name) in enumerate(zip(inputs, names, strict=True)):
            try:
                if value.name in self._values:
                    raise Refused("E303", "another input is called so")
                kind = self._input_type(position, value)
                if 0 in kind.shape:
                    self._values[value.name] = Known(data=without_elements(kind.shape, kind.dtype.value))
                    self._leave_out(f'input {position} "{printable(value.name)}"', kind)
                    continue
                self.steps.budget.value(kind)
                param = Var(name=name, type=kind, origin=printable(value.name))
                params.append(param)
                self._values[value.name] = self._input(param)
            except Refused as refused:
                where = f'graph input {position} "{printable(value.name)}"'
                self._report.add(refused.problem, where=where)
                self._values[value.name] = None
        return tuple(params)

    def _input(self, param: Var) -> Computed:
        value = Computed(var=param, axes=identity(len(param.type.shape)))
        if param.type.dtype is DType.FLOAT16:
            return other_float(self.steps, value, DType.FLOAT32)
        _, less = HELD.get(param.type.dtype.value, (None, 0))
        if not less or param.type.quantization is None:
            return value
        return replace(other_sign(self.steps, value), less=less)

    def _input_type(self, position: int, value: FileValue) -> TensorType:
        if value.shape is None:
            raise Refused("E301", "has no shape", "export the model with a fixed input shape")
        shape = list(value.shape)
        for axis, extent in enumerate(shape):
            said = self._extents.get((position, axis))
            if said is not None:
                shape[axis] = said
            elif extent == -1 and (axis == 0 or self._extents):
                shape[axis] = 1
            elif extent == -1:
                raise Refused("E301", *open_extents(value.name, value.shape, value.symbols))
        try:
            kind = TensorType(shape=tuple(shape), dtype=DType(value.dtype))
        except ValueError:
            raise _is_of(value.dtype, "inputs") from None
        return with_quantization(self._graph, value.name, kind)

    def _leave_out(self, where: str, kind: TensorType) -> None:
        self.steps.without_elements.append(f"{where}: {kind}")

    def _need_types(self, params: Sequence[Var]) -> None:
        """Report inputs of types that C callers have no numbers for, where no node that reads them does."""
        inputs = enumerate(self._graph.inputs)
        present = [pair for pair in inputs if isinstance(self._values[pair[1].name], Computed)]
        for (position, value), param in zip(present, params, strict=True):
            if param.type.dtype not in TYPES:
                where = f'graph input {position} "{printable(value.name)}"'
                self._report.add(_is_of(param.type.dtype.value, "inputs").problem, where=where)

    def _translate_group(self, group: Group) -> None:
        """One integer step; where there is none, the nodes one by one, and the reason for the report."""
        node, last = group.node, group.last
        self._is_at(node, printable(last.outputs[0]) if last.outputs else "")
        counted = self.steps.budget.counted
        try:
            site, activation = self._site(node), group.activation and self._site(group.activation)
            if any(
                name in self._values for member in (*group.inner, last) for name in member.outputs if name
            ):
                raise LeftInFloat("a value is computed twice")
            if not any(last.outputs[:1]):
                raise LeftInFloat("its result has no name")
            final = self._site(last)
            target = target_of(final)
            made = target.held(fused(group, site, activation, target, REAL))
            for user in (site, activation, final):
                if user is not None:
                    user.need_no_more()
            self._values[last.outputs[0]] = made
        except (LeftInFloat, Refused, AlreadyReported) as reason:
            self.steps.budget.back_to(counted)
            if not isinstance(reason, AlreadyReported):
                self.steps.left_in_float.append(f"{self.steps.source}: {reason}")
            for user in (*group.inner, last):
                self._translate(user)

    def _is_at(self, node: FileNode, tensor: str) -> None:
        self.steps.source = Source(op_index=node.index, op_name=node.op, tensor_name=tensor)

    def _site(self, node: FileNode) -> Site:
        return Site(node, self._opset, self._values, self._uses, self.steps)

    def _translate(self, node: FileNode) -> None:
        """Translate one node; whatever comes of it, its results are defined for those that follow."""
        self._is_at(node, printable(node.outputs[0]) if node.outputs else "")
        results: tuple[Given | None, ...] = ()
        try:
            results = self._outputs(node)
        except Refused as refused:
            known = [self._values.get(name) for name in node.inputs]
            reads = [value.var.name for value in known if isinstance(value, Computed)]
            where = str(self.steps.source)
            self._report.add(refused.problem, where=where, missing=is_missing(node), reads=reads)
        except AlreadyReported:
            pass
        except (ArithmeticError, IndexError, ValueError):
            if all(_has_elements(self._values.get(name)) for name in node.inputs):
                raise
            problem = ImportProblem(code="E301", text="is not supported of a value without elements")
            self._report.add(problem, where=str(self.steps.source))
        for position, name in enumerate(node.outputs):
            if name:
                self._values[name] = results[position] if position < len(results) else None

    def _outputs(self, node: FileNode) -> tuple[Given | None, ...]:
        if any(name in self._values for name in node.outputs if name):
            raise Refused("E303", "computes a value that has one already")
        site = self._site(node)
        if node.op in SEQUENCES and not node.domain:
            return self._made(site, (SEQUENCES[node.op](site),))
        known = folded(site, is_translated=not is_missing(node))
        if known is not None:
            return known
        if node.op in REPEATED and not node.domain:
            made = REPEATED[node.op](site, lambda body, values: self._repeat(node, body, values))
            return self._made(site, made)
        body = self._body(site)
        if body is not None:
            return self._inline(node, *body)
        if is_missing(node):
            raise Refused("E301", *missing(node, self._opset))
        made = TRANSLATORS[full_name(node)](as_of_seven(site))
        return self._made(site, made if isinstance(made, tuple) else (made,))

    def _made(self, site: Site, results: tuple[Given, ...]) -> tuple[Given, ...]:
        """Check a node's results: no attribute is unread, and no further output is used."""
        site.need_no_more()
        if results and site.less and isinstance(results[0], Computed):
            results = (replace(results[0], less=site.less), *results[1:])
        for position in range(len(results), len(site.node.outputs)):
            if site.is_used(position):
                raise Refused("E301", f"output {position} is used, which is not supported")
        self._share(site.node, results)
        return results

    def _body(self, site: Site) -> tuple[FileBody, dict[str, str], str] | None:
        """The graph that a node stands for: a branch, a function of the file or ONNX's own.

        With it come the names of the values it reads, and its name in messages.
        """
        node = site.node
        if node.op == "If" and not node.domain:
            holds = bool(site.known(0, "the condition").all())
            return site.branch("then_branch" if holds else "else_branch"), {}, "a branch of If"
        body = self._graph.functions.get((node.domain, node.op))
        if body is None:
            body = contributed(node, full_name(node), self._opset, site.every_value)
        if body is None and is_missing(node):
            body = defined(node, self._opset, site.every_value)
        return None if body is None else (body, caller_names(node, body), f"the function {full_name(node)}")

    def _inline(
        self, node: FileNode, body: FileBody, names: dict[str, str], what: str
    ) -> tuple[Given | None, ...]:
        if self._depth == MAX_DEPTH:
            raise Refused("E305", f"functions are more than {MAX_DEPTH} deep inside each other")
        made = self._inliner.inlined(node, body, names, what)
        self._uses.update(names_read(made.nodes))
        self._values.update({name: Known(data=data) for name, data in made.constants.items()})
        opset, source, self._opset = self._opset, self.steps.source, made.opset
        self._depth += 1
        for inner in made.nodes:
            self._translate(inner)
        self._depth -= 1
        self._opset, self.steps.source = opset, source
        self._need_results(node, made.outputs, what)
        results = tuple(self._values.get(name) for name in made.outputs)
        self._share(node, tuple(value for value in results if value is not None))
        return results

    def _need_results(self, node: FileNode, names: Sequence[str], what: str) -> None:
        """A body may leave out results that the node has no name for; a turn of a loop, which has none, may
        leave out nothing."""
        needed = node.outputs or names
        pairs = zip(needed, (*names, *[""] * len(needed)), strict=False)
        if any(outer and inner not in self._values for outer, inner in pairs):
            raise Refused("E303", f"{what} does not compute every output of the node")

    def _repeat(self, node: FileNode, body: FileBody, values: Sequence[Given]) -> tuple[Given, ...]:
        """One turn of a loop: its body, reading these values; AlreadyReported if a part of it was refused."""
        self._turns += 1
        names = {inner: f"{node.op}/{inner}.{self._turns}" for inner in body.inputs}
        self._values.update({names[inner]: value for inner, value in zip(body.inputs, values, strict=True)})
        self.steps.share(value for value in values if isinstance(value, Computed))
        results = self._inline(replace(node, outputs=()), body, names, node.op)
        present = tuple(result for result in results if result is not None)
        if len(present) != len(results):
            raise AlreadyReported
        return present

    def _share(self, node: FileNode, results: tuple[Given, ...]) -> None:
        """Tell of results that are an input under a second name, while others read the first one."""
        others = [self._values.get(name) for name in node.inputs if self._uses[name] > 1]
        read = {value.var.name for value in others if isinstance(value, Computed)}
        self.steps.share(value for value in results if isinstance(value, Computed) and value.var.name in read)

    def _results(self, taken: set[str]) -> tuple[Var, ...]:
        """Graph outputs in the model's order of axes, each its own value (`taken`: those of the inputs)."""
        if not self._graph.outputs:
            self._report.add(ImportProblem(code="E303", text="the model has no outputs"))
        outputs: list[Var] = []
        for position, output in enumerate(self._graph.outputs):
            self.steps.source = Source(
                op_index=len(self._graph.nodes), op_name="output", tensor_name=printable(output.name)
            )
            where = f'graph output {position} "{printable(output.name)}"'
            try:
                value = self._given_out(output)
                if isinstance(value, Known) and 0 in value.shape:
                    self._leave_out(where.removeprefix("graph "), self._checked(output, value))
                    continue
                result = self._result(output, value, taken)
                outputs.append(replace(result, origin=printable(output.name)))
                taken.add(result.name)
            except Refused as refused:
                self._report.add(refused.problem, where=where)
            except AlreadyReported:
                pass
        self.steps.rename(outputs)
        return tuple(outputs)

    def _given_out(self, output: FileValue) -> Value:
        """The value that a graph output asks for."""
        if output.name not in self._values:
            raise Refused("E303", "no node computes it")
        value = self._values[output.name]
        if value is None:
            raise AlreadyReported
        if isinstance(value, Listed):
            raise Refused("E301", "is a sequence of tensors, supported are tensors", SEQUENCE_ADVICE)
        return self.steps.real(value) if isinstance(value, Stored) else value

    def _result(self, output: FileValue, value: Value, taken: set[str]) -> Var:
        if isinstance(value, Known):
            value = self.steps.copied(value)
        if value.less:
            value = other_sign(self.steps, value)
        if output.dtype == DType.FLOAT16.value and value.var.type.dtype is DType.FLOAT32:
            value = other_float(self.steps, value, DType.FLOAT16)
        self._checked(output, value)
        var = self.steps.dense(value)
        assert isinstance(var, Var), "it is computed"
        if var.name not in taken:
            return var
        copy = self.steps.step("RESHAPE", [var], ReshapeAttrs(shape=var.type.shape))
        assert isinstance(copy, Computed), "its argument is computed"
        return copy.var

    def _checked(self, output: FileValue, value: Value) -> TensorType:
        """The type of a graph output, which C callers have numbers for and the file declares."""
        dtype, shape, declared = value_type(value), list(value.shape), output.shape
        if dtype not in {type_.value for type_ in TYPES}:
            raise _is_of(dtype, "outputs")
        fits = declared is None or (
            len(declared) == len(shape)
            and all(said in (-1, extent) for said, extent in zip(declared, shape, strict=True))
            and output.dtype == dtype
        )
        if not fits and not self._extents:
            assert declared is not None, "what is not declared fits"
            text = f"is declared as {output.dtype}{list(declared)}, the nodes give {dtype}{shape}"
            raise Refused("E303", text)
        return TensorType(shape=value.shape, dtype=DType(dtype))


def _is_of(dtype: str, what: str) -> Refused:
    """Refuse inputs or outputs of a type that is not supported."""
    text = f"is {dtype}, supported are float16, float32, float64, bool and integers of 8 to 64 bits"
    return Refused("E301", text, f"export the model with float32 {what}")


def _has_elements(value: Given | None) -> bool:
    """True if a value that a node reads has elements. A refused value or a sequence counts as if it did."""
    return not isinstance(value, Known | Computed) or 0 not in value.shape
