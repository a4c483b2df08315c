"""Files that `codegen plan` writes on request: exports for other tools, a picture."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from codegen.driver.inputs.files import Named
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message, counted
from codegen.settings import PlanFormat

if TYPE_CHECKING:
    from codegen.driver.curve import Curve
    from codegen.problem.problem import MemoryPlan, Problem
    from codegen.program.program import Program

PEAKS = "the peaks over all sizes"
"""Title of a picture of sizes that are ranges."""

Verb = TypeVar("Verb", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanFiles:
    """Files to write: to `output` an `export` (a name of `plan_export.FORMATS`), without one the JSON
    document; a picture to `svg`."""

    export: str | None
    output: Path | None
    svg: Path | None
    pareto: bool = False
    """Not one plan but the curve of many."""

    def __post_init__(self) -> None:
        """Raises CodegenError E208 for --export without -o, E209 where there are many plans to export."""
        if self.pareto and self.export:
            text = "--pareto finds many plans, --export writes one"
            help_ = "export a plan of the curve with --pool NAME=BYTES and its bytes"
            raise CodegenError(Message(code="E209", text=text, help=help_))
        if self.export is not None and self.output is None:
            help_ = "for example --export tflm -o planned.tflite"
            raise CodegenError(Message(code="E208", text="--export needs -o FILE", help=help_))

    @property
    def written(self) -> list[Named]:
        """The files to write, by their flags."""
        named = (("-o", self.output), ("--svg", self.svg))
        return [(flag, path) for flag, path in named if path is not None]

    @property
    def folder(self) -> Path:
        """Folder of the page of --report: that of the file of -o; without one, the current folder."""
        return Path() if self.output is None else self.output.parent

    def of_document(self, document: Mapping[str, object]) -> list[str]:
        """Write what --json prints, where -o asks for it; return a line about it."""
        if self.output is None or self.export is not None:
            return []
        from codegen.documents import to_json
        from codegen.driver.plan_export import write_text

        write_text(self.output, to_json(document))
        return [f"written   {self.output}  (the plan as --json prints it)"]

    def of_problem(self, source: Path, problem: "Problem", plan: "MemoryPlan", options: Options) -> list[str]:
        """Write what a bare problem gives; return a line about each file."""
        from codegen.draw.plan_picture import picture
        from codegen.driver.plan_export import write_text

        if self.svg is not None:
            write_text(self.svg, picture(problem=problem, plan=plan, title=source.stem))
        return self._pictured() + self._exported(source, problem, options)

    def of_program(self, source: Path, program: "Program", options: Options) -> list[str]:
        """Write what a model gives; return a line about each file."""
        told = "memory over time"
        if self.svg is not None:
            from codegen.draw.plan_picture import program_picture
            from codegen.driver.plan_export import write_text
            from codegen.driver.report.size_gaps import peak_picture
            from codegen.program.size_ranges import has_curve

            if has_curve(program.ranges):
                write_text(self.svg, peak_picture(program, {}))
                told = PEAKS
            else:
                write_text(self.svg, program_picture(program))
        return self._pictured(told) + self._exported(source, program.memory.problem, options)

    def of_curve(self, curve: "Curve") -> list[str]:
        """Write what a curve gives; return a line about each file."""
        if self.svg is None:
            return []
        from codegen.draw.curve_picture import curve_picture
        from codegen.driver.plan_export import write_text

        write_text(self.svg, curve_picture(curve.programs[0].name, curve.points))
        return [f"written   {self.svg}  (RAM against instructions)"]

    def _pictured(self, told: str = "memory over time") -> list[str]:
        return [f"written   {self.svg}  ({told})"] if self.svg is not None else []

    def _exported(self, source: Path, problem: "Problem", options: Options) -> list[str]:
        if self.output is None or self.export is None:
            return []
        from codegen.driver import plan_export

        if self.export == "minimalloc":
            plan_export.write_problem(problem, self.output)
            buffers = counted(len(problem.buffers), "buffer")
            return [f"written   {self.output}  ({buffers}, permitted overlaps left out)"]
        arena = plan_export.write_tflm(source, self.output, options)
        return [f"written   {self.output}  (TFLite Micro's arena head: {arena:,} bytes)"]


def plan_files(verb: Verb) -> Verb:
    """Decorator: adds --export, -o and --svg; the verb gets `outputs: PlanFiles`."""

    @wraps(verb)
    def wrapped(
        export: str | None, output: Path | None, svg: Path | None, pareto: bool, **values: Any
    ) -> Any:
        return verb(outputs=PlanFiles(export=export, output=output, svg=svg, pareto=pareto), **values)

    flags = (
        click.option(
            "--export",
            type=click.Choice(get_args(PlanFormat)),
            help="Write the problem as MiniMalloc's CSV, or MODEL with a plan for TFLite Micro in it.",
        ),
        click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="File of --export; without it, the JSON document.",
        ),
        click.option(
            "--svg",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Draw which bytes are used when; with --pareto the curve, with --dim the peak over sizes.",
        ),
        click.option(
            "--pareto",
            is_flag=True,
            help="Not one plan but the curve of RAM against predicted instructions: the plans that a limit "
            "(--pool) leads to, whatever --optimize is.",
        ),
    )
    for flag in reversed(flags):
        wrapped = flag(wrapped)
    return wrapped  # pyright: ignore[reportReturnType]
