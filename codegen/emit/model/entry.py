"""Steps that <model>.c runs: a commented call each, on core 0 or core 1, in the entry function or apart."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.emit.c.c_text import statement
from codegen.emit.c.spelling import POOL_TYPES, TakenNames, c_name, local_names, needs_math, scalar
from codegen.emit.model.blocks import Around, function_name, needs_sizes
from codegen.emit.model.header import HeaderView
from codegen.emit.model.loops import functions_of
from codegen.emit.model.step_calls import calls_reader, may_fail, named_values, silent_values, used_values
from codegen.emit.model.structs import (
    LocalStruct,
    borrowed_structs,
    constant_addresses,
    late_constants,
    local_structs,
    local_text,
    shared_structs,
    struct_name,
)
from codegen.emit.values.copies import (
    GroupCalls,
    LastingBytes,
    calls_by_groups,
    is_split,
    lasting_bytes,
    staged_addresses,
    stagings,
    state_copies,
)
from codegen.emit.values.locations import CallerBytes, Places, PoolBytes
from codegen.emit.values.model_data import image_tag
from codegen.emit.values.step_notes import step_note
from codegen.ir import Runner, Var
from codegen.ir.numbers import varies
from codegen.kernels.call import (
    ArrayArg,
    CallArg,
    ConstantArg,
    LiteralArg,
    NullArg,
    ResultArg,
    StructArg,
    ValueArg,
    WorkspaceArg,
)
from codegen.kernels.primfunc import PrimFunc
from codegen.program.interface import Interface, IoMode
from codegen.program.program import Program, core_of, second_core_steps, uses_second_core

_CALL, _CORE1 = "c/steps/call.c.j2", "c/steps/core1.c.j2"
"""Templates of the statements of one call, and of those around a step on core 1."""

_OWN_WORDS = ("context", "status", "ready", "pools", "constants", "step", "check_call")
_ALONE = ("run_alone", "step_alone")
_CORE1_WORDS = ("call", "given")
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
    status: str
    """Local that holds the status it leaves; empty where it leaves none."""
    core1: str
    """The C function that the call posts to core 1; empty where core 0 does the step itself."""
    name: str
    """The C function of this step alone, where steps have one."""
    parameters: tuple[str, ...]
    """Parameters of that function (templates/c/parameters.c.j2)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentChecks:
    """Checks of the arguments that an entry function is called with."""

    pointers: tuple[str, ...]
    """Pointers of the caller's that must not be NULL."""
    are_apart: bool
    """True if a function of its own checks, as several functions need that, or there is more than NULL to
    look for; else the entry function does."""
    parameters: tuple[str, ...]
    """Parameters of that function."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryView:
    """The entry function and what it needs at file scope."""

    structs: tuple[str, ...]
    blocks: tuple[str, ...]
    """Functions of steps that run several layers together, or again and again."""
    sizes: tuple[str, ...]
    """Declarations of the sizes that steps name."""
    tables: tuple[str, ...]
    """Tables that formulas of sizes read."""
    inputs: tuple[str, ...]
    """Declarations of the inputs that steps read."""
    steps: tuple[StepView, ...]
    checks: ArgumentChecks
    needs_math: bool
    needs_string: bool
    core1_given: str
    """The type of what steps on core 1 get of the caller's; empty if they need nothing."""
    user_kernels: tuple[str, ...]
    """C functions that users wrote, by name."""
    lasting: LastingBytes


def core1_functions(program: Program) -> tuple[str, ...]:
    """Names of the C functions that core 1 runs."""
    prims = program.steps.prim_funcs
    return tuple(_core1_function(program.name, index, prims[index]) for index in second_core_steps(program))


def _core1_function(model: str, index: int, prim: PrimFunc) -> str:
    return f"{model}_core1_{index}_{prim.name}"


def entry_view(program: Program, places: Places, header: HeaderView) -> EntryView:
    """The entry function of a program."""
    return _Entry(program, places).view(header)


class _Entry:
    """Names of structs and addresses of constants that the parts of an entry function share."""

    def __init__(self, program: Program, places: Places) -> None:
        self.program = program
        self.places = places
        self.stepwise = program.interface.is_stepwise
        self.external = program.interface.external
        owned = program.interface.caller_pools
        self._base = "" if not self.external else "pools->constants" if owned else "constants"
        self.linked = constant_addresses(places.bundle, program, self._base)
        self.constants = {**self.linked, **staged_addresses(program, places)}
        prims = program.steps.prim_funcs
        local = {
            (prim.name, struct.struct.suffix): struct
            for prim in prims
            for struct in self._local_structs(prim)
        }
        structs = [f"{prim.name}_{struct.suffix}" for prim in prims for struct in prim.structs]
        structs += [f"{name}_{struct.copied.suffix}" for (name, _), struct in local.items() if struct.copied]
        entry_words = ["context", "status"] if program.edge.streamed or any(map(may_fail, prims)) else []
        entry_words += [f"status_{index}" for index, prim in enumerate(prims) if may_fail(prim)]
        entry_words += _CORE1_WORDS if uses_second_core([program]) else ()
        entry_words += [] if places.sizes is None else ["dims", *places.sizes.names]
        words = () if program.interface == Interface() else (*_OWN_WORDS, *_ALONE)
        self.taken = TakenNames([*structs, *entry_words, *words])
        self.locals: Mapping[str, str] = {
            var.name: self.taken.take(*local_names(program.name, var.name, "_value"))
            for var in program.steps.function.variables()
        }
        failing = [index for index, prim in enumerate(prims) if may_fail(prim)]
        self._statuses = {
            index: f"status_{index}" if number and not self.stepwise else "status"
            for number, index in enumerate(failing)
        }
        self._status_of = {prims[index].name: name for index, name in self._statuses.items()}
        self.used = frozenset(used_values(program))
        self.silent = program.silent_steps
        self._views = silent_values(program)
        copies = program.board.runner is Runner.HOST
        self._structs, self._struct_names = shared_structs(prims, self.constants, local, copies=copies)

    def view(self, header: HeaderView) -> EntryView:
        """All of it."""
        prims = self.program.steps.prim_funcs
        pools = ("pools",) if header.memory.caller_pools else ()
        pointers = tuple(self._pointers()) if self.program.edge.is_callers else ()
        params = self.program.steps.function.params
        declared = [] if self.stepwise else [self._declare(var) for var in params if var.name in self.used]
        steps = tuple(self._step(index, prim) for index, prim in enumerate(prims))
        core1_names = dict.fromkeys(
            name for prim in prims if core_of(prim) == 1 for name in self._parameters(prim)
        )
        sized, sizes = self.places.sizes is not None, self.places.sizes
        is_plain = self.program.interface == Interface() and not sized
        whole = [] if self.stepwise else [*declared, *(text for s in steps for text in (*s.lines, s.call))]
        if self.program.edge.io is IoMode.POOL:
            whole += [tensor.size for tensor in (*header.inputs, *header.outputs)]
        return EntryView(
            structs=self._structs,
            blocks=self._functions(prims),
            sizes=() if sizes is None else tuple(sizes.declarations(whole)),
            tables=() if sizes is None else sizes.tables,
            inputs=tuple(declared),
            steps=steps,
            checks=ArgumentChecks(
                pointers=pointers,
                are_apart=not is_plain and bool(pointers or pools or self.external or sized),
                parameters=(
                    *pools,
                    *(struct for struct in ("inputs", "outputs") if struct in pointers),
                    *(("dims",) if sized else ()),
                ),
            ),
            needs_math=needs_math("\n".join((*self._structs, *(step.call for step in steps)))),
            needs_string=header.io == "pool" or any(prim.loop for prim in prims),
            core1_given=statement(_CORE1, "given", self.program.name, list(core1_names))
            if core1_names
            else "",
            user_kernels=tuple(sorted({prim.symbol for prim in prims if prim.user_source})),
            lasting=lasting_bytes(self.program, self.places, self.linked),
        )

    def _pointers(self) -> Iterator[str]:
        """Pointers that must not be NULL where the caller owns inputs and outputs."""
        if self.program.signature.written_inputs:
            yield "inputs"
        for tensor in self.program.signature.inputs:
            if tensor.value != self.program.edge.streamed:
                yield f"inputs->{c_name(tensor.field)}"
        yield "outputs"
        yield from (f"outputs->{c_name(tensor.field)}" for tensor in self.program.signature.outputs)

    def _local_structs(self, prim: PrimFunc) -> tuple[LocalStruct, ...]:
        """Parameters that are known at run time only, so that they live on the stack."""
        return local_structs(prim, late_constants(prim, self.constants, self.places.sizes, self.external))

    def _functions(self, prims: Sequence[PrimFunc]) -> tuple[str, ...]:
        """Functions that are rendered for steps: a block or loop, and layers that run without it in a part
        of a range of sizes.
        External constants reach them as a parameter or the model's pointer.
        """
        name, sizes = self.program.name, self.places.sizes
        around = Around(model=name, constants=self.constants, structs=self._struct_names, sizes=sizes)
        if self.external:
            owned = self.program.interface.caller_pools
            image_parameter = ((f"const struct {image_tag(name)} *", "constants"),) if owned else ()
            constants = constant_addresses(self.places.bundle, self.program, "constants")
            around = replace(around, constants=constants, image_parameter=image_parameter)
        return functions_of(prims, around)

    # ---- steps --------------------------------------------------------------------------

    def _step(self, index: int, prim: PrimFunc) -> StepView:
        apart = self.stepwise or core_of(prim) == 1  # a function of its own, that declares all it names
        lines = [self._declare(var) for var in (named_values(prim) if apart else self._declared(index, prim))]
        for space in prim.workspaces:
            if WorkspaceArg(name=space.name) in prim.call_args:
                name = self._workspace_name(prim, space.name)
                address = self.places.byte_address(self.places.workspace(prim.name, space.name))
                lines.append(statement(_CALL, "pointer", "void", name, address))
        call = self._call(prim, lines, apart=apart) if prim.symbol else ""
        last = state_copies(self.program, self.places) if prim is self.program.steps.prim_funcs[-1] else []
        parameters, core1 = self._parameters(prim), ""
        if apart:
            sizes = self._sizes([*lines, call, *last])
            lines = [*sizes, *lines]
            told = sizes or needs_sizes(prim, self.constants, self.places.sizes)
            parameters += ["dims"] if told else []
        if core_of(prim) == 1:
            function = _core1_function(self.program.name, index, prim)
            core1 = statement(_CORE1, "function", self.program.name, function, parameters, lines, call)
            local = self.taken.take(f"{prim.name}_given")
            call = statement(_CORE1, "post", self.program.name, function, parameters, local)
            lines = [] if self.stepwise else [self._declare(var) for var in self._declared(index, prim)]
        before = stagings(self.program, self.places, self.linked, index)
        call = "\n".join([*before, *([call] if call else []), *last])
        if bool(call) == (index in self.silent):
            raise ValueError(f"step {index} {prim.name}: the program says otherwise whether code runs")
        borrowed = borrowed_structs(prim, self._struct_names)
        note = step_note(self.places, self.locals, prim, is_silent=index in self.silent, borrowed=borrowed)
        indent = "" if self.stepwise else "    "
        return StepView(
            index=index,
            comment=statement("c/steps/comment.c.j2", "comment", index, note, indent),
            lines=tuple(lines),
            call=call,
            status=self._statuses.get(index, ""),
            core1=core1,
            name=f"step_{index}_{prim.name}",
            parameters=tuple(parameters),
        )

    def _call(self, prim: PrimFunc, lines: list[str], *, apart: bool) -> str:
        """The call of a step; declarations for it go to `lines`. `apart`: in a function of its own."""
        structs = () if prim.is_rendered else self._local_structs(prim)
        inner = "" if apart or not structs else "    "
        called, arguments = self._called(prim, lines)
        texts = [
            local_text(prim, struct, self.constants, self._struct_names, f"    {inner}", self.places.sizes)
            for struct in structs
        ]
        if inner:
            call = statement(_CALL, "call_with", texts, called, arguments)
        elif may_fail(prim):
            context = ["context"] if calls_reader(prim) else []
            status = self._status_of[prim.name]
            call = statement(_CALL, "call_that_may_fail", called, [*context, *arguments], status)
        else:
            call = statement(_CALL, "call", called, arguments)
            lines += texts
        return self._by_groups(prim, call, lines)

    def _called(self, prim: PrimFunc, lines: list[str]) -> tuple[str, list[str]]:
        """The C function of a step, and what it is called with."""
        arguments = [self._argument(prim, arg, lines) for arg in prim.call_args]
        if not prim.is_rendered:
            return prim.symbol, arguments
        base = [self._base] if self.external and self.program.interface.caller_pools else []
        dims = ["dims"] if needs_sizes(prim, self.constants, self.places.sizes) else []
        return function_name(self.program.name, prim), [*base, *arguments, *dims]

    def _sizes(self, texts: Sequence[str]) -> list[str]:
        """Declarations of the sizes that C text names."""
        return [] if self.places.sizes is None else self.places.sizes.declarations(texts)

    def _declared(self, index: int, prim: PrimFunc) -> list[Var]:
        """Values that get a local pointer in front of a step of the entry function: those that are new."""
        result = prim.let.var
        new = [result] if result.name in self.used and index not in self.silent else []
        return [*self._views.get(index, ()), *new]

    def _parameters(self, prim: PrimFunc) -> list[str]:
        """Parameters of the function of one step: the caller's structs that it reaches into."""
        places = [self.places.value(var.name) for var in named_values(prim)]
        structs = {place.struct for place in places if isinstance(place, CallerBytes)}
        parameters = [struct for struct in ("inputs", "outputs") if struct in structs]
        if self.program.interface.caller_pools and (
            any(isinstance(place, PoolBytes) for place in places)
            or any(WorkspaceArg(name=space.name) in prim.call_args for space in prim.workspaces)
            or (self.external and prim.constants)
            or (self.program.copied_states and prim is self.program.steps.prim_funcs[-1])
        ):
            parameters.insert(0, "pools")
        return [*parameters, "context"] if calls_reader(prim) else parameters

    def _by_groups(self, prim: PrimFunc, call: str, lines: list[str]) -> str:
        """`call`, or calls by groups of outputs where a constant is decoded in pieces."""
        copies = [
            copy for copy in self.program.constants.unpacked if copy.user[0] == prim.name and is_split(copy)
        ]
        if not copies or prim.split is None:
            return call
        stream, done = (self.taken.take(f"{prim.name}_{word}") for word in ("packed", "done"))
        further = [self._argument(prim, arg, lines) for arg in prim.split.next_args]
        result = self.locals[prim.let.var.name]
        further = [f"&{result}[{done}]" if argument == result else argument for argument in further]
        source = self.linked[copies[0].user]
        calls = GroupCalls(call=call, further=further, stream=stream, done=done)
        return calls_by_groups(copies[0], self.places, source, prim.split, calls)

    def _workspace_name(self, prim: PrimFunc, space: str) -> str:
        return c_name(f"{prim.name}_{space}".replace(".", "_"))

    def _declare(self, var: Var) -> str:
        """The local pointer to a value."""
        place, c_type = self.places.value(var.name), POOL_TYPES[var.type.dtype]
        if isinstance(place, PoolBytes):
            pointer = self.places.pointer(place, var.type.dtype)
            return statement(_CALL, "pointer", c_type, self.locals[var.name], pointer)
        const = "const " if place.struct == "inputs" else ""
        pointer = self.places.caller_pointer(place, var.type.dtype)
        return statement(_CALL, "pointer", const + c_type, self.locals[var.name], pointer)

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
            case LiteralArg(value=bool() | int() | float() as value):
                return scalar(value)
            case LiteralArg(value=value) if varies(value) and self.places.sizes is not None:
                return self.places.sizes.spelled(value)
            case NullArg():
                return "NULL"
            case ArrayArg(items=items):
                name = self.taken.take(f"{prim.name}_addresses")
                addresses = [self._argument(prim, item, lines) for item in items]
                lines.append(statement(_CALL, "addresses", name, addresses))
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
