"""The verb `export`: a built folder as a package of another build system."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from codegen.api import (
    DATA,
    CodegenError,
    ExitCode,
    Message,
    changed_meanwhile,
    progress,
    read_report,
    show_warnings,
    staged,
    to_json,
    write_bill,
)
from codegen.report_file import Report, typed
from codegen.report_product import ProductModel
from codegen.tools.packages import TOOL
from codegen.tools.packages.contents import read_package
from codegen.tools.packages.package_forms import FORMS


@click.command(name="export", help=TOOL.verbs["export"].help)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option(
    "--as",
    "form",
    type=click.Choice(list(FORMS)),
    required=True,
    help="Layout of the package: " + "; ".join(f"{name}: {form.title}" for name, form in FORMS.items()) + ".",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Folder to write; without it out/NAME-FORM. A later export replaces what codegen wrote there.",
)
@click.option("--name", metavar="NAME", help="Name of the package.  [default: the model's]")
@click.option("--version", default="1.0.0", show_default=True, metavar="X.Y.Z", help="Its version.")
@click.option("--vendor", default="codegen", show_default=True, metavar="NAME", help="Who publishes it.")
@click.option(
    "--url",
    default="https://example.com/",
    show_default=True,
    metavar="URL",
    help="Where it is to be had: registries demand it.",
)
@click.option(
    "--input",
    "arrays",
    metavar="X.npz[:PREFIX]",
    help="What the example feeds: arrays x0, x1, ... (of several models MODEL_x0, ...). Without it zeros.",
)
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@click.option("--json", "as_json", is_flag=True, help="Print the package's folder and files as JSON.")
def export(
    folder: Path,
    form: str,
    output: Path | None,
    name: str | None,
    version: str,
    vendor: str,
    url: str,
    arrays: str | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """`codegen export`."""
    if not folder.is_dir():
        help_ = "give a folder of `codegen build`"
        raise CodegenError(Message(code="E204", text=f"no folder {folder}", help=help_))
    with progress(quiet or as_json) as stage:
        stage("read the build")
        report = typed(read_report(folder))
        package = read_package(folder, report, name=name, version=version, vendor=vendor, url=url)
        package = replace(package, samples=_samples(report, package.models, arrays))
        target = output or Path("out") / f"{package.name}-{form}"
        _check_target(target, folder)
        chosen = FORMS[form]
        changed: list[Message] = []
        with staged(chosen.files(package), target, changed_meanwhile(target, changed)) as staging:
            stage("write the package")
            models = [part.model for part in report.models or (report,) if part.model is not None]
            write_bill(
                staging,
                (package.name, package.version),
                {model.name: (model.format, model.sha256) for model in models},
                {"build": "" if report.build is None else report.build.sha256},
            )
    show_warnings(tuple(changed))
    if as_json:
        files = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
        document = {"schema": 1, "form": form, "name": package.name, "version": package.version}
        click.echo(to_json({**document, "folder": str(target), "files": files}), nl=False)
    elif not quiet:
        click.echo(f"package   {package.name} {package.version}: {package.sentence}")
        click.echo(f"written   {target}/  ({chosen.title})")
        for index, step in enumerate(chosen.next_steps(package, target)):
            click.echo(f"{'' if index else 'next':<10}{step}")
    return ExitCode.OK


def _samples(
    report: Report, models: Sequence[ProductModel], source_word: str | None
) -> dict[tuple[str, str], Sequence[float]]:
    """(model, input) -> the numbers that the examples feed: of `--input`, or of the shipped example's images.

    Raises CodegenError E220 to E222 for arrays that cannot be read, are missing or do not fit.
    """
    from codegen.api import ArraySource, DType, IoTensor, TensorType, example_inputs

    samples: dict[tuple[str, str], Sequence[float]] = {}
    parts = report.models or (report,)
    for model, part in zip(models, parts, strict=True):
        tensors = [
            IoTensor(
                field=tensor.field,
                origin=tensor.field,
                value=tensor.field,
                type=TensorType(shape=tensor.shape, dtype=DType(tensor.dtype)),
            )
            for tensor in model.inputs
        ]
        if source_word is not None:
            source = ArraySource.parse(source_word)
            words = [source.prefix or "", model.name if len(models) > 1 else ""]
            source = replace(source, prefix="_".join(filter(None, words)) or None)
            arrays = source.read("x", tensors, "input")
        else:
            arrays = example_inputs("" if part.model is None else part.model.sha256)
        for tensor, array in zip(model.inputs, arrays, strict=False):
            if array is not None:
                samples[model.name, tensor.field] = array.ravel().tolist()
    return samples


def _check_target(target: Path, folder: Path) -> None:
    """Raise CodegenError E218 for the folder that is read, E295 for one of another build."""
    help_ = "name another folder with -o"
    if target.resolve() == folder.resolve():
        text = "is DIR, which would be lost"
        raise CodegenError(Message(code="E218", text=text, where=f"-o {target}", help=help_))
    if (target / DATA).exists():
        text = "is a folder of `codegen build`, which a package would replace"
        raise CodegenError(Message(code="E295", text=text, where=f"-o {target}", help=help_))
