"""Example programs of packages: one inference of each model, printed as a class or as values."""

from collections.abc import Mapping, Sequence

from codegen.api import float32
from codegen.report_product import ProductTensor
from codegen.tools.packages.contents import Package
from codegen.tools.packages.package_templates import fill

_COLUMNS = 100


def example_files(
    package: Package, folder: str, main: str, *, template: str = "main.c.j2", entry: str = ""
) -> Mapping[str, str]:
    """The program `main` below `folder` and the numbers that it feeds. `entry`: a `main` of another name."""
    samples = [
        (tensor, model.name, rows_of(package, model.name, tensor))
        for model in package.models
        if model.is_plain
        for tensor in model.inputs
    ]
    return {
        f"{folder}/{main}": fill(template, package=package, entry=entry),
        f"{folder}/sample_input.h": fill("sample_input.h.j2", package=package, samples=samples),
    }


def rows_of(package: Package, model: str, tensor: ProductTensor) -> Sequence[str]:
    """Lines of C that hold the numbers which the examples feed into an input."""
    numbers = package.samples.get((model, tensor.field))
    if numbers is None:
        numbers = [float(tensor.zero_point or 0)] * tensor.elements
    rows, row = list[str](), "   "
    for number in numbers:
        word = f" {_spelled(number, tensor.c_type)},"
        if len(row) + len(word) > _COLUMNS:
            rows.append(row)
            row = "   "
        row += word
    return [*rows, row]


def _spelled(number: float, c_type: str) -> str:
    return float32(float(number)) if c_type in ("float", "double") else str(int(number))
