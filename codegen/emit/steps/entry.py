"""The entry function: one commented call a step, copies of inputs and outputs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.emit.c.c_text import (
    block_comment,
    call_assignment,
    comment_text,
    hexadecimal,
    wrapped,
)
from codegen.emit.c.environment import statement
from codegen.emit.c.literals import POOL_TYPES, needs_math, scalar
from codegen.emit.c.program_names import Taken, c_name, local_names
from codegen.emit.interface.header import HeaderView
from codegen.emit.steps.arguments import CALL, address_array, named, silent_values, used
from codegen.emit.steps.blocks import block_text, function_name
from codegen.emit.steps.core1 import CORE1_WORDS, core1_function, core1_given, core1_post, core1_text, name_of
from codegen.emit.steps.runtime import kernel_headers
from codegen.emit.steps.structs import (
    constant_addresses,
    local_structs,
    shared_structs,
    struct_name,
    struct_text,
)
from codegen.emit.values.io_tensors import TensorView, dimensions, direction
from codegen.emit.values.locations import CallerBytes, Places, PoolBytes
from codegen.emit.values.ownership import (
    Check,
    constant_checks,
    constants_base,
    image_tag,
    pool_checks,
    pools_type,
)
from codegen.emit.values.staging import staged_addresses, stagings, start_text
from codegen.emit.values.state import state_copies
from codegen.emit.values.unpacking import calls_by_groups, decoded_text, is_split
from codegen.ir import Var
from codegen.ir.ops.user import operator_name
from codegen.kernels.block import Block
from codegen.kernels.call import (
    ArrayArg,
    CallArg,
    ConstantArg,
    CStruct,
    LiteralArg,
    NullArg,
    ResultArg,
    StructArg,
    ValueArg,
    WorkspaceArg,
)
from codegen.kernels.primfunc import PrimFunc
from codegen.program.interface import Interface, IoMode
from codegen.program.program import Program, core_of, uses_second_core

_OWN_WORDS = ("context", "status", "ready", "pools", "constants", "step", "check_call")
"""Names that the functions of a model use themselves."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepView:
    """One step of the entry function."""

    index: int
    comment: str
    lines: tuple[str, ...]
    """Declarations in front of the call."""
    call: str
    """The call; empty where no code runs: then a comment is all that there is of the step."""
    after: tuple[str, ...]
    """Lines behind the end of the step."""
    core1: str
    """The C function that the call posts to core 1; empty where core 0 does the step itself."""
    function: str
    """The C function of this step alone, up to its brace; empty where the entry function has all steps, or no
    code runs."""
    case: str
    """The statements that run that function."""


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
    checks: tuple[Check, ...]
    """What is looked at before anything is touched."""
    check_prototype: str
    """The function that does so, where more than one function needs it or there is more than NULL; else
    empty, and the entry function does it itself."""
    check_call: str
    steps_call: str
    """The entry function's call of `<model>_step`; empty where there is none."""
    needs_math: bool
    kernel_headers: tuple[str, ...]
    """The runtime's headers that declare the kernels called."""
    core1_given: str
    """The type of what steps on core 1 get of the caller's; empty if they need nothing."""
    user_kernels: tuple[str, ...]
    """C functions that users wrote, by name."""
    start: str
    """The function that copies constants at start-up, and its state; empty if there are none."""


def entry_view(program: Program, places: Places, header: HeaderView) -> EntryView:
    """The entry function of a program."""
    return _Entry(program, places).view(header)


class _Entry:
    """Names and addresses while the function is put together."""

    def __init__(self, program: Program, places: Places) -> None:
        self.program = program
        self.places = places
        self.stepwise = program.interface.is_stepwise
        self.external = program.interface.external
        self._base = constants_base(program) if self.external else ""
        self.linked = constant_addresses(places.bundle, program, self._base)
        self.constants = {**self.linked, **staged_addresses(program, places)}
        structs = [f"{p.name}_{struct.suffix}" for p in program.prim_funcs for struct in p.structs]
        own = ["context", "status"] if program.streamed else []
        own += CORE1_WORDS if uses_second_core([program]) else ()
        self.taken = Taken([*structs, *own, *(() if program.interface == Interface() else _OWN_WORDS)])
        self.locals: Mapping[str, str] = {
            var.name: self.taken.take(*local_names(program.name, var.name, "_value"))
            for var in program.function.variables()
        }
        self.used = frozenset(used(program))
        self.silent = program.silent_steps
        self._views = silent_values(program)
        prims = program.prim_funcs
        local = {(prim.name, each.suffix) for prim in prims for each in self._local_structs(prim)}
        self._structs, self._struct_names = shared_structs(prims, self.constants, local)

    def view(self, header: HeaderView) -> EntryView:
        """All of it."""
        prims = self.program.prim_funcs
        checks = self._checks()
        plain = self.program.interface == Interface()
        parameters = list(header.pool_parameters)
        if self.program.io is IoMode.CALLER:
            parameters += header.io_parameters
        steps = tuple(self._step(index, prim) for index, prim in enumerate(prims))
        params = self.program.function.params
        declared = [] if self.stepwise else [self._declare(var) for var in params if var.name in self.used]
        return EntryView(
            structs=self._structs,
            blocks=tuple(self._block(prim, prim.block) for prim in prims if prim.block),
            inputs=tuple(declared),
            copies_in=self._copies(header.inputs, "inputs"),
            copies_out=self._copies(header.outputs, "outputs"),
            steps=steps,
            checks=checks,
            check_prototype=""
            if plain or not checks
            else wrapped("static cg_status check_call(", parameters, ")"),
            check_call=call_assignment(
                "    const cg_status ready", "check_call", [name_of(each) for each in parameters]
            ),
            steps_call=self._steps_call(header) if self.stepwise else "",
            needs_math=needs_math("\n".join((*self._structs, *(step.call for step in steps)))),
            kernel_headers=kernel_headers(self.program),
            core1_given=core1_given(
                self.program.name, [self._parameters(prim) for prim in prims if core_of(prim) == 1]
            ),
            start=start_text(self.program, self.places, self.linked),
            user_kernels=tuple(sorted({prim.symbol for prim in prims if prim.user_source})),
        )

    def _copies(self, tensors: Sequence[TensorView], struct: str) -> tuple[str, ...]:
        """One copy a tensor that lives in a pool."""
        pools = "pools" if self.program.interface.caller_pools else ""
        return tuple(
            wrapped("        copy_tensor(", [*direction(tensor, struct, pools), f"{tensor.macro}_SIZE"], ");")
            for tensor in tensors
            if tensor.pointer
        )

    def _checks(self) -> tuple[Check, ...]:
        """What a call is refused for, before anything is touched."""
        whole = [tensor for tensor in self.program.inputs if tensor.value != self.program.streamed]
        pointers = ["inputs", *(f"inputs->{c_name(tensor.field)}" for tensor in whole)]
        pointers += ["outputs", *(f"outputs->{c_name(tensor.field)}" for tensor in self.program.outputs)]
        nulls = tuple(f"{pointer} == NULL" for pointer in pointers)
        missing = Check(conditions=nulls, status="CG_ERR_NULL_POINTER")
        callers = [missing] if self.program.io is IoMode.CALLER else []
        return (*pool_checks(self.program), *callers, *constant_checks(self.program))

    def _local_structs(self, prim: PrimFunc) -> tuple[CStruct, ...]:
        """Parameters that are known at run time only, so that they live on the stack."""
        return local_structs(prim) if self.external else ()

    def _block(self, prim: PrimFunc, block: Block) -> str:
        """The function of a block; external constants reach it as a parameter or the model's pointer."""
        name = self.program.name
        if not self.external:
            return block_text(name, prim, block, self.constants, self._struct_names)
        given = [f"const struct {image_tag(name)} *constants"] if self.program.interface.caller_pools else []
        constants = constant_addresses(self.places.bundle, self.program, "constants")
        return block_text(name, prim, block, constants, self._struct_names, given)

    # ---- steps --------------------------------------------------------------------------

    def _step(self, index: int, prim: PrimFunc) -> StepView:
        apart = self.stepwise or core_of(prim) == 1  # a function of its own, that declares all it names
        lines = [self._declare(var) for var in (named(prim) if apart else self._declared(index, prim))]
        for space in prim.workspaces:
            if WorkspaceArg(name=space.name) in prim.call_args:
                name = self._workspace_name(prim, space.name)
                address = self.places.byte_address(self.places.workspace(prim.name, space.name))
                lines.append(statement(CALL, "pointer", "void", name, address))
        call, after, core1 = "", (), ""
        if prim.symbol:
            structs = () if prim.block else self._local_structs(prim)
            inner = "" if apart or not structs else "    "
            arguments = [self._argument(prim, arg, lines) for arg in prim.call_args]
            if prim.block and self.external and self.program.interface.caller_pools:
                arguments.insert(0, self._base)
            called = function_name(self.program.name, prim) if prim.block else prim.symbol
            texts = [
                struct_text(prim, struct, self.constants, self._struct_names, f"    {inner}")
                for struct in structs
            ]
            if inner:
                call = statement(CALL, "call_with", texts, called, arguments)
            elif prim.block and prim.block.streamed:
                call = statement(CALL, "call_that_may_fail", called, ["context", *arguments])
                after = (statement(CALL, "leave_if_failed"),)
            else:
                call = statement(CALL, "call", called, arguments)
                lines += texts
            call = self._by_groups(prim, call, lines)
        if core_of(prim) == 1:
            model, given = self.program.name, self._parameters(prim)
            function = core1_function(model, index, prim)
            core1 = core1_text(model, function, given, lines, call)
            call = core1_post(model, function, given, self.taken.take(f"{prim.name}_given"))
            lines = [] if self.stepwise else [self._declare(var) for var in self._declared(index, prim)]
        last = state_copies(self.program, self.places) if index == len(self.program.prim_funcs) - 1 else []
        before = stagings(self.program, self.places, self.linked, index)
        call = "\n".join([*before, *([call] if call else []), *last])
        if bool(call) == (index in self.silent):
            raise ValueError(f"step {index} {prim.name}: the program says otherwise whether code runs")
        name = f"step_{index}_{prim.name}"
        parameters = self._parameters(prim)
        call_back = f"        {name}({', '.join(map(name_of, parameters))});\n" if call else ""
        streams = bool(after)
        head = "CG_CHECK_RESULT static cg_status" if streams else "static void"
        return StepView(
            index=index,
            comment=self._comment(index, prim),
            lines=tuple(lines),
            call=call,
            after=after,
            core1=core1,
            function=wrapped(f"{head} {name}(", parameters or ["void"], ")")
            if self.stepwise and call
            else "",
            case=f"        return {call_back.strip()}" if streams else f"{call_back}        break;",
        )

    def _declared(self, index: int, prim: PrimFunc) -> list[Var]:
        """Values that get a local pointer in front of a step of the entry function: those that are new."""
        result = prim.let.var
        new = [result] if result.name in self.used and index not in self.silent else []
        return [*self._views.get(index, ()), *new]

    def _parameters(self, prim: PrimFunc) -> list[str]:
        """What the function of one step is called with: the caller's structs that it reaches into."""
        places = [self.places.value(var.name) for var in named(prim)]
        structs = {place.struct for place in places if isinstance(place, CallerBytes)}
        name = self.program.name
        found = [f"const {name}_{struct} *{struct}" for struct in ("inputs", "outputs") if struct in structs]
        if self.program.interface.caller_pools and (
            any(isinstance(place, PoolBytes) for place in places)
            or any(WorkspaceArg(name=space.name) in prim.call_args for space in prim.workspaces)
            or (self.external and prim.constants)
            or (self.program.states and prim is self.program.prim_funcs[-1])
        ):
            found.insert(0, f"const {pools_type(self.program)} *pools")
        return found + (["void *context"] if prim.block and prim.block.streamed else [])

    def _steps_call(self, header: HeaderView) -> str:
        words = [name_of(parameter) for parameter in header.step_parameters]
        return call_assignment("        const cg_status status", f"{self.program.name}_step", words)

    def _by_groups(self, prim: PrimFunc, call: str, lines: list[str]) -> str:
        """`call`, or calls by groups of outputs where a constant is decoded in pieces."""
        copies = [copy for copy in self.program.unpacked if copy.user[0] == prim.name and is_split(copy)]
        if not copies or prim.split is None:
            return call
        names = [self.taken.take(f"{prim.name}_{word}") for word in ("packed", "done")]
        further = [self._argument(prim, arg, lines) for arg in prim.split.next_args]
        result = self.locals[prim.let.var.name]
        further = [f"&{result}[{names[1]}]" if each == result else each for each in further]
        source = self.linked[copies[0].user]
        return calls_by_groups(copies[0], self.places, source, prim.split, call, further, names)

    def _workspace_name(self, prim: PrimFunc, space: str) -> str:
        return c_name(f"{prim.name}_{space}".replace(".", "_"))

    def _declare(self, var: Var) -> str:
        """The local pointer to a value."""
        place, c_type = self.places.value(var.name), POOL_TYPES[var.type.dtype]
        if isinstance(place, PoolBytes):
            pointer = self.places.pointer(place, var.type.dtype)
            return statement(CALL, "pointer", c_type, self.locals[var.name], pointer)
        const = "const " if place.struct == "inputs" else ""
        pointer = self.places.caller_pointer(place, var.type.dtype)
        return statement(CALL, "pointer", const + c_type, self.locals[var.name], pointer)

    def _argument(self, prim: PrimFunc, arg: CallArg, lines: list[str]) -> str:
        """C text of one argument; an array of addresses becomes a local before the call."""
        match arg:
            case StructArg(suffix=suffix):
                return f"&{struct_name(prim, suffix, self._struct_names)}"
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
                lines.append(address_array(name, addresses))
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
        text = f"{index}: {operator_name(prim.let.call)} {arrow}; {self._where(index, prim)}"
        text += decoded_text(self.program, prim)
        return block_comment(comment_text(text), "" if self.stepwise else "    ")

    def _where(self, index: int, prim: PrimFunc) -> str:
        no_code = ", no code" if index in self.silent else ""
        place = self.places.value(prim.let.var.name)
        if isinstance(place, CallerBytes):
            return f"{f'a view{no_code}; ' if prim.view else ''}at {place.struct}->{place.field}"
        first, last = self.places.alive_steps(place.buffer)
        steps = f"steps {first}..{last}" if first != last else f"step {first}"
        where = f"{place.pool} {hexadecimal(place.offset)}, {place.size_bytes} bytes, {steps}"
        if prim.view is not None:
            return f"a view{no_code}; {where}"
        if not prim.is_call:
            return f"its inputs side by side{no_code}; {where}"
        joined = [self.locals[arg.name] for arg, _ in prim.joins]
        under = [name for name, other in self._arguments(prim) if other.overlaps(place)]
        over = [name for name in under if name not in joined]
        where += f", over {', '.join(over)}" if over else ""
        where += "; on core 1" if core_of(prim) == 1 else ""
        return where + (f"; {', '.join(joined)} there already" if joined else "")

    def _arguments(self, prim: PrimFunc) -> Iterator[tuple[str, PoolBytes]]:
        for arg in prim.let.call.args:
            place = self.places.value(arg.name) if isinstance(arg, Var) else None
            if isinstance(arg, Var) and isinstance(place, PoolBytes):
                yield self.locals[arg.name], place
