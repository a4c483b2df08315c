"""Inputs that are windows: the module that takes new rows alone."""

from collections.abc import Sequence
from dataclasses import replace

from codegen.driver.inputs.window_words import GivenWindow
from codegen.errors import CodegenError, Message, counted
from codegen.ir import Arg, Module, Var
from codegen.ir.c_names import identifier, unique
from codegen.ir.ops.layout import RESHAPE
from codegen.passes.pipeline import with_function
from codegen.passes.sliding import CannotSlide, Sliding, SlidingInput, slid


def with_window(
    module: Module,
    word: GivenWindow,
    *,
    has_ranges: bool = False,
    optimize: str = "balanced",
    most_state_bytes: int | None = None,
) -> Sliding:
    """Let an input of `module` slide, with the state that `optimize` says pays, no more than that many bytes
    where less is possible.

    Raises CodegenError E224 where input, axis or step do not fit, E279 where the model has state already,
    sizes are ranges, or an axis cannot slide.
    """
    where = f"--window {word}"
    module = module if word.axis is not None else unflattened(module, word.name)
    function = module.main
    if function.states:
        names = ", ".join(function.params[state.param].origin for state in function.states)
        text = f"the model keeps state already ({names}): what it computes depends on more than its window"
        raise CodegenError(
            Message(
                code="E279", where=where, text=text, help="hand over what the model takes: without --window"
            )
        )
    if has_ranges:
        help_ = "give --dim one size, or leave --window out"
        text = "sizes are known as ranges: which rows move is proved of one size"
        raise CodegenError(Message(code="E279", where=where, text=text, help=help_))
    return _best(module, _meant(function.params, word), where, optimize, most_state_bytes)


def no_such_input(word: GivenWindow, models: Sequence[str]) -> CodegenError:
    """E224 of several models none of which has the input."""
    text, help_ = f"no model has an input {word.name}", f"the models are {', '.join(models)}"
    return CodegenError(Message(code="E224", where=f"--window {word}", text=text, help=help_))


def has_input(module: Module, word: GivenWindow) -> bool:
    """True if `module` has the input that the word names."""
    return word.name in _fields(module.main.params)


def unflattened(module: Module, field: str) -> Module:
    """The module with an input that it only reshapes in the shape that it is read in: the bytes are the same.

    The file's flat shape has no axis of rows. Any other input is left alone.
    """
    function = module.main
    param = dict(zip(_fields(function.params), function.params, strict=True)).get(field)
    readers = [let for let in function.body if param is not None and param in let.call.args]
    if param is None or len(readers) != 1 or readers[0].call.op is not RESHAPE or param in function.results:
        return module
    [reader] = readers
    shaped = replace(param, type=replace(param.type, shape=reader.var.type.shape))

    def renamed(arg: Arg | None) -> Arg | None:
        return shaped if arg in (param, reader.var) else arg

    body = tuple(
        replace(let, call=replace(let.call, args=tuple(renamed(arg) for arg in let.call.args)))
        for let in function.body
        if let is not reader
    )
    params = tuple(shaped if other is param else other for other in function.params)
    results = tuple(shaped if result == reader.var else result for result in function.results)
    return with_function(module, replace(function, params=params, body=body, results=results))


def _fields(params: Sequence[Var]) -> list[str]:
    """Names of inputs as C and the command line have them."""
    return unique([identifier(param.origin or param.name, f"input{i}") for i, param in enumerate(params)])


def _meant(params: Sequence[Var], word: GivenWindow) -> list[SlidingInput]:
    """The windows that may be meant: that axis, or every one that is longer than the step."""
    where = f"--window {word}"
    fields = _fields(params)
    if word.name not in fields:
        text = f"the model has no input {word.name}"
        help_ = f"its inputs are {', '.join(fields)}"
        raise CodegenError(Message(code="E224", where=where, text=text, help=help_))
    param = params[fields.index(word.name)]
    shape = [int(extent) for extent in param.type.shape]
    if word.axis is not None and word.axis >= len(shape):
        text = f"{word.name} has no axis {word.axis}"
        help_ = f"its shape is {shape}: axes 0 to {len(shape) - 1}"
        raise CodegenError(Message(code="E224", where=where, text=text, help=help_))
    axes = range(len(shape)) if word.axis is None else (word.axis,)
    fitting = [axis for axis in axes if word.step < shape[axis]]
    if not fitting:
        moved = counted(word.step, "row")
        of = f"axis {word.axis} of {word.name} has {shape[word.axis]}" if word.axis is not None else ""
        text = f"a window that moves by {moved} a call has to be longer: {of or f'{word.name} is {shape}'}"
        raise CodegenError(Message(code="E224", where=where, text=text, help="give a smaller number of rows"))
    return [SlidingInput(name=param.name, axis=axis, step=word.step, rows=shape[axis]) for axis in fitting]


def _best(
    module: Module, windows: Sequence[SlidingInput], where: str, optimize: str, most_state_bytes: int | None
) -> Sliding:
    """The window that saves most; of those that save as much, the first."""
    possible: list[Sliding] = []
    reasons: list[str] = []
    for window in windows:
        try:
            possible.append(slid(module, window, optimize, most_state_bytes))
        except CannotSlide as refusal:
            reasons.append(str(refusal))
    if not possible:
        help_ = "name the axis along which time goes, or hand over whole windows: without --window"
        raise CodegenError(Message(code="E279", where=where, text="; ".join(reasons), help=help_))
    return min(possible, key=lambda sliding: (min(share for _, share in sliding.trades), sliding.macs))
