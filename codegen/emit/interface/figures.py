"""What a model's headers say of it for logs and for sizing: <model>.h what is known before it is compiled,
<model>_figures.h, which it includes, what the linked image was measured at."""

from collections.abc import Mapping, Sequence

from codegen.emit.c.c_text import COLUMNS, macros, quoted
from codegen.emit.c.environment import fill
from codegen.emit.values.state import reset_function
from codegen.program.image import ElfSizes
from codegen.program.program import Bundle, Program

_LARGEST = (1 << 32) - 1


def entry_function(program: Program) -> str:
    """The function that runs an inference."""
    return f"{program.name}_run"


def other_functions(program: Program) -> tuple[str, ...]:
    """Further functions that an application calls and the entry function does not."""
    constants = (f"{program.name}_set_constants",) if program.interface.external else ()
    return (*constants, *((reset_function(program),) if program.states else ()))


def stack_bytes(program: Program, sizes: ElfSizes) -> int | None:
    """Static bound of the stack that any call of a model takes; None where nothing is known (`host`)."""
    called = (entry_function(program), *other_functions(program))
    known = [sizes.stack_bounds[name] for name in called if name in sizes.stack_bounds]
    return max(known, default=None)


def macs(program: Program) -> int:
    """Multiply-accumulates of one inference, as they run."""
    return sum(prim.macs for prim in program.prim_funcs)


def figures_file(program: Program) -> str:
    """Path of the header with what was measured."""
    return f"{program.name}_figures.h"


def figures(bundle: Bundle, build_sha256: str, sizes: ElfSizes | None = None) -> Mapping[str, str]:
    """Path -> text of the headers with what was measured; without `sizes` nothing was yet.

    They hold macros only, which no code of the models reads: nothing that is compiled depends on them.
    """
    return {figures_file(each): _figures(each, build_sha256, sizes) for each in bundle.programs}


def _figures(program: Program, build_sha256: str, sizes: ElfSizes | None) -> str:
    macro = program.name.upper()
    own = None if sizes is None else stack_bytes(program, sizes)
    stacks = [] if own is None else [(f"{macro}_STACK_BYTES", f"{own}u")]
    if sizes is not None and sizes.core1_stack_bound_bytes is not None:
        stacks.append((f"{macro}_CORE1_STACK_BYTES", f"{sizes.core1_stack_bound_bytes}u"))
    return fill(
        "c/model_figures.h.j2",
        name=program.name,
        macro=macro,
        build=_text_macro(f"{macro}_BUILD_SHA256", build_sha256),
        stacks=macros(stacks),
    )


def identity_macros(program: Program, version: str) -> str:
    """Definitions of what <model>.h says of its model; `version` is the generator's."""
    macro, work = program.name.upper(), macs(program)
    rows = [
        (f"{macro}_NAME", quoted(program.name)),
        (f"{macro}_GENERATOR", quoted(f"codegen {version}")),
        (f"{macro}_MACS", f"{work}u" if work <= _LARGEST else f"{work}ull"),
        (f"{macro}_STEPS", f"{len(program.prim_funcs)}u"),
    ]
    return macros(rows)


def sha256_macro(program: Program) -> str:
    """Definition of the hash of the model's file."""
    return _text_macro(f"{program.name.upper()}_SHA256", program.metadata["sha256"])


def step_names(program: Program) -> str:
    """Definition of the list of the steps' names."""
    names = [quoted(prim.name) for prim in program.prim_funcs]
    head = f"#define {program.name.upper()}_STEP_NAMES"
    line = f"{head} {', '.join(names)}"
    return line if len(line) <= COLUMNS else _continued([head, *_rows(names)])


def _rows(names: Sequence[str]) -> list[str]:
    """Names in lines that leave room for a backslash."""
    rows, row = [], "   "
    for name in names:
        if len(row) + len(name) + 2 > COLUMNS - 2 and row.strip():
            rows.append(row)
            row = "   "
        row += f" {name},"
    return [*rows, row.rstrip(",")]


def _text_macro(name: str, text: str) -> str:
    line = f"#define {name} {quoted(text)}"
    return line if len(line) <= COLUMNS else _continued([f"#define {name}", f"    {quoted(text)}"])


def _continued(lines: Sequence[str]) -> str:
    """A definition of several lines, out of clang-format's reach."""
    return "\n".join(["/* clang-format off */", " \\\n".join(lines), "/* clang-format on */"])
