"""The entry function: one commented call a step, copies of inputs and outputs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.emit.blocks import block_text, function_name
from codegen.emit.header import HeaderView, TensorView, dimensions
from codegen.emit.literals import POOL_TYPES, needs_math, scalar
from codegen.emit.names import Taken, c_name
from codegen.emit.places import CallerBytes, Places, PoolBytes
from codegen.emit.structs import constant_addresses, struct_text
from codegen.emit.text import (
    COLUMNS,
    assignment,
    block_comment,
    call_assignment,
    comment_text,
    hexadecimal,
    wrapped,
)
from codegen.ir import Var
from codegen.ir.ops.user import operator_name
from codegen.kernels.primfunc import (
    ArrayArg,
    CallArg,
    ConstantArg,
    LiteralArg,
    NullArg,
    PrimFunc,
    ResultArg,
    StructArg,
    ValueArg,
    WorkspaceArg,
)
from codegen.plan.program import EntryMode, Program


@dataclass(frozen=True, kw_only=True, slots=True)
class StepView:
    """One step of the entry function."""

    index: int
    comment: str
    lines: tuple[str, ...]
    """Declarations in front of the call."""
    call: str
    """The call; empty where no code runs."""
    after: tuple[str, ...]
    """Lines behind the end of the step."""
    function: str
    """The C function of this step alone, up to its brace; empty where the entry function has all steps."""
    case: str
    """The statement that runs that function."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryView:
    """The entry function and what it needs at file scope."""

    structs: tuple[str, ...]
    blocks: tuple[str, ...]
    """Functions of steps that run several layers together."""
    inputs: tuple[str, ...]
    """Declarations of the inputs that steps read."""
    copies_in: tuple[str, ...]
    """Copies of a caller's inputs to their places in the pools."""
    copies_out: tuple[str, ...]
    steps: tuple[StepView, ...]
    null_check: str
    """The condition under which a caller's pointer is missing."""
    steps_call: str
    """The entry function's call of `<model>_step`; empty where there is none."""
    needs_math: bool
    kernel_headers: tuple[str, ...]
    """The runtime's headers that declare the kernels called."""
    user_kernels: tuple[str, ...]
    """C functions that users wrote, by name."""


def entry_view(program: Program, places: Places, header: HeaderView) -> EntryView:
    """The entry function of a program."""
    return _Entry(program, places).view(header)


class _Entry:
    """Names and addresses while the function is put together."""

    def __init__(self, program: Program, places: Places) -> None:
        self.program = program
        self.places = places
        self.constants = constant_addresses(places.bundle, program)
        self.stepwise = program.interface.entry is EntryMode.STEPS
        structs = [f"{p.name}_{struct.suffix}" for p in program.prim_funcs for struct in p.structs]
        self.taken = Taken([*structs, "context", "status"] if program.streamed else structs)
        self.locals: Mapping[str, str] = {
            var.name: self.taken.take(c_name(var.name), f"{var.name}_value")
            for var in program.function.variables()
        }
        self.used = frozenset(_used(program))

    def view(self, header: HeaderView) -> EntryView:
        """All of it."""
        prims = self.program.prim_funcs
        structs = tuple(struct_text(prim, each, self.constants) for prim in prims for each in prim.structs)
        steps = tuple(self._step(index, prim) for index, prim in enumerate(prims))
        params = self.program.function.params
        declared = [] if self.stepwise else [self._declare(var) for var in params if var.name in self.used]
        return EntryView(
            structs=structs,
            blocks=tuple(
                block_text(self.program.name, prim, prim.block, self.constants)
                for prim in prims
                if prim.block
            ),
            inputs=tuple(declared),
            copies_in=self._copies(header.inputs, "inputs"),
            copies_out=self._copies(header.outputs, "outputs"),
            steps=steps,
            null_check=self._null_check(),
            steps_call=self._steps_call(header) if self.stepwise else "",
            needs_math=needs_math("\n".join((*structs, *(step.call for step in steps)))),
            kernel_headers=_kernel_headers(prims),
            user_kernels=tuple(sorted({prim.symbol for prim in prims if prim.user_source})),
        )

    def _copies(self, tensors: Sequence[TensorView], struct: str) -> tuple[str, ...]:
        """One copy a tensor that lives in a pool."""
        return tuple(
            wrapped("        copy_tensor(", [*_direction(tensor, struct), f"{tensor.macro}_SIZE"], ");")
            for tensor in tensors
            if tensor.pointer
        )

    def _null_check(self) -> str:
        whole = [tensor for tensor in self.program.inputs if tensor.value != self.program.streamed]
        pointers = ["inputs", *(f"inputs->{c_name(tensor.field)}" for tensor in whole)]
        pointers += ["outputs", *(f"outputs->{c_name(tensor.field)}" for tensor in self.program.outputs)]
        checks = [f"({pointer} == NULL)" for pointer in pointers]
        return wrapped("    if (", checks, ") {", separator=" || ")

    # ---- steps --------------------------------------------------------------------------

    def _step(self, index: int, prim: PrimFunc) -> StepView:
        lines = [self._declare(var) for var in self._declared(prim)]
        for space in prim.workspaces:
            if WorkspaceArg(name=space.name) in prim.call_args:
                name = self._workspace_name(prim, space.name)
                address = self.places.byte_address(self.places.workspace(prim.name, space.name))
                lines.append(assignment(f"    void *const {name}", address))
        call, after = "", ()
        if prim.symbol:
            arguments = [self._argument(prim, arg, lines) for arg in prim.call_args]
            name = function_name(self.program.name, prim) if prim.block else prim.symbol
            call = wrapped(f"    {name}(", arguments, ");")
            if prim.block and prim.block.streamed:
                call = call_assignment("    const cg_status status", name, ["context", *arguments])
                after = ("    if (status != CG_OK) {", "        return status;", "    }")
        name = f"step_{index}_{prim.name}"
        parameters = self._parameters(prim)
        call_back = f"{name}({', '.join(word.split('*')[-1] for word in parameters)});"
        streams = bool(after)
        head = "CG_CHECK_RESULT static cg_status" if streams else "static void"
        return StepView(
            index=index,
            comment=self._comment(index, prim),
            lines=tuple(lines),
            call=call,
            after=after,
            function=wrapped(f"{head} {name}(", parameters or ["void"], ")") if self.stepwise else "",
            case=f"        return {call_back}" if streams else f"        {call_back}\n        break;",
        )

    def _declared(self, prim: PrimFunc) -> list[Var]:
        """Values that get a local pointer in front of a call: of the entry function those that are new,
        of a function for one step all that it names."""
        result = prim.let.var
        if not self.stepwise:
            return [result] if result.name in self.used else []
        named = [*_named(prim), *([result] if ResultArg() in prim.call_args else [])]
        return list({var.name: var for var in named}.values())

    def _parameters(self, prim: PrimFunc) -> list[str]:
        """What the function of one step is called with: the caller's structs that it reaches into."""
        places = [self.places.value(var.name) for var in self._declared(prim)]
        structs = {place.struct for place in places if isinstance(place, CallerBytes)}
        name = self.program.name
        found = [f"const {name}_{struct} *{struct}" for struct in ("inputs", "outputs") if struct in structs]
        return found + (["void *context"] if prim.block and prim.block.streamed else [])

    def _steps_call(self, header: HeaderView) -> str:
        words = [parameter.split("*")[-1].split(" ")[-1] for parameter in header.step_parameters]
        return call_assignment("        const cg_status status", f"{self.program.name}_step", words)

    def _workspace_name(self, prim: PrimFunc, space: str) -> str:
        return c_name(f"{prim.name}_{space}".replace(".", "_"))

    def _declare(self, var: Var) -> str:
        """The local pointer to a value."""
        place, c_type = self.places.value(var.name), POOL_TYPES[var.type.dtype]
        if isinstance(place, PoolBytes):
            pointer = self.places.pointer(place, var.type.dtype)
            return assignment(f"    {c_type} *const {self.locals[var.name]}", pointer)
        const = "const " if place.struct == "inputs" else ""
        pointer = self.places.caller_pointer(place, var.type.dtype)
        return assignment(f"    {const}{c_type} *const {self.locals[var.name]}", pointer)

    def _argument(self, prim: PrimFunc, arg: CallArg, lines: list[str]) -> str:
        """C text of one argument; an array of addresses becomes a local before the call."""
        match arg:
            case StructArg(suffix=suffix):
                return f"&{prim.name}_{suffix}"
            case ValueArg(index=index):
                return self._value(prim, index)
            case ResultArg():
                return self.locals[prim.let.var.name]
            case WorkspaceArg(name=name):
                return self._workspace_name(prim, name)
            case ConstantArg(role=role):
                return self.constants[prim.name, role]
            case LiteralArg(value=value):
                return scalar(value)
            case NullArg():
                return "NULL"
            case ArrayArg(items=items):
                name = self.taken.take(f"{prim.name}_addresses")
                addresses = [self._argument(prim, item, lines) for item in items]
                lines.append(_array(name, addresses))
                return name
            case _:
                raise ValueError(f"{prim.name}: argument {arg!r} has no form in C")

    def _value(self, prim: PrimFunc, index: int) -> str:
        value = prim.let.call.args[index]
        if value is None:
            return "NULL"
        if not isinstance(value, Var):
            raise ValueError(f"{prim.name}: argument {index} is constant, a kernel passes it by its role")
        return self.locals[value.name]

    # ---- comments -----------------------------------------------------------------------

    def _comment(self, index: int, prim: PrimFunc) -> str:
        result = prim.let.var
        inputs = " + ".join(
            f"{self.locals[arg.name]} {dimensions(arg.type.shape)}"
            for arg in prim.let.call.args
            if isinstance(arg, Var)
        )
        arrow = f"{inputs} -> {self.locals[result.name]} {dimensions(result.type.shape)}"
        text = f"{index}: {operator_name(prim.let.call)} {arrow}; {self._where(prim)}"
        return block_comment(comment_text(text), "" if self.stepwise else "    ")

    def _where(self, prim: PrimFunc) -> str:
        place = self.places.value(prim.let.var.name)
        if isinstance(place, CallerBytes):
            return f"{'a view, no code; ' if prim.view else ''}at {place.struct}->{place.field}"
        first, last = self.places.alive_steps(place.buffer)
        steps = f"steps {first}..{last}" if first != last else f"step {first}"
        where = f"{place.pool} {hexadecimal(place.offset)}, {place.size_bytes} bytes, {steps}"
        if prim.view is not None:
            return f"a view, no code; {where}"
        if not prim.is_call:
            return f"its inputs side by side, no code; {where}"
        joined = [self.locals[arg.name] for arg, _ in prim.joins]
        under = [name for name, other in self._arguments(prim) if other.overlaps(place)]
        over = [name for name in under if name not in joined]
        where += f", over {', '.join(over)}" if over else ""
        return where + (f"; {', '.join(joined)} there already" if joined else "")

    def _arguments(self, prim: PrimFunc) -> Iterator[tuple[str, PoolBytes]]:
        for arg in prim.let.call.args:
            place = self.places.value(arg.name) if isinstance(arg, Var) else None
            if isinstance(arg, Var) and isinstance(place, PoolBytes):
                yield self.locals[arg.name], place


def _kernel_headers(prims: Sequence[PrimFunc]) -> tuple[str, ...]:
    headers = {header for prim in prims if prim.symbol for header in prim.headers}
    return tuple(sorted(headers))


def _direction(tensor: TensorView, struct: str) -> tuple[str, str]:
    """Where a copy goes to and comes from."""
    place, caller = f"{tensor.accessor}()", f"{struct}->{tensor.field}"
    return (place, caller) if struct == "inputs" else (caller, place)


def _array(name: str, addresses: list[str]) -> str:
    line = f"    const void *const {name}[] = {{{', '.join(addresses)}}};"
    if len(line) <= COLUMNS:
        return line
    rows = [f"        {address}," for address in addresses]
    return "\n".join(
        [
            "    /* clang-format off */",
            f"    const void *const {name}[] = {{",
            *rows,
            "    };",
            "    /* clang-format on */",
        ]
    )


def _used(program: Program) -> Iterator[str]:
    """Variables that a call names."""
    for prim in program.prim_funcs:
        if ResultArg() in prim.call_args:
            yield prim.let.var.name
        yield from (var.name for var in _named(prim))


def _named(prim: PrimFunc) -> Iterator[Var]:
    """Arguments that a call names."""
    arrays = [item for arg in prim.call_args if isinstance(arg, ArrayArg) for item in arg.items]
    for item in (*prim.call_args, *arrays):
        value = prim.let.call.args[item.index] if isinstance(item, ValueArg) else None
        if isinstance(value, Var):
            yield value
