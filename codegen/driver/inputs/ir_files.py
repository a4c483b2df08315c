"""`--dump-ir DIR`: the network after import and after every pass, a file each."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from codegen.driver.inputs.files import write_file
from codegen.errors import CodegenError, Message
from codegen.ir import Module
from codegen.ir.formulas import combinations
from codegen.ir.ranged import Unlike, merged_module
from codegen.ir.text import print_module
from codegen.ir.verify import verify
from codegen.search import Sizes

Stage = tuple[str, Module]
"""Name of a pass, or `import`; the module after it."""


def observer(folder: Path, imported: Module) -> Callable[[str, Module], None]:
    """Write the module as it is imported, then each that it is told of.

    Raises CodegenError E206 if the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        text, help_ = f"cannot be made: {error.strerror}", "name a folder in one that you may write to"
        raise CodegenError(
            Message(code="E206", where=f"--dump-ir {folder}", text=text, help=help_)
        ) from error
    written = [0]

    def observe(stage: str, module: Module) -> None:
        write_file(folder / f"{written[0]:02d}_{stage}.ir", print_module(module).encode())
        written[0] += 1

    observe("import", imported)
    return observe


def write_ranged(folder: Path, sizes: Sizes, stages: Callable[[Mapping[str, int]], Iterable[Stage]]) -> None:
    """Write the modules of `stages`, which are at certain sizes, for all sizes.

    Raises CodegenError E308 for a stage at which they differ in what no formula says.
    """
    values = combinations(sizes.symbols)
    every = [list(stages(sizes_)) for sizes_ in values]
    observe: Callable[[str, Module], None] | None = None
    for position, (stage, _) in enumerate(every[-1]):
        try:
            merged = merged_module(
                sizes.symbols, sizes.axes, values, [stages_[position][1] for stages_ in every]
            )
        except Unlike as unlike:
            text = f"{unlike} ({stage})"
            raise CodegenError(Message(code="E308", where=f"--dump-ir {folder}", text=text)) from unlike
        if observe is None:
            observe = observer(folder, verify(merged))
        else:
            observe(stage, verify(merged))
