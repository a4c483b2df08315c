"""The verbs that tell: ops, planners, doctor."""

import click

from codegen import board as catalogue
from codegen import toolchain
from codegen.cli.console import table
from codegen.driver.report.single import to_json
from codegen.errors import ExitCode
from codegen.importers import imported_ops
from codegen.kernels import kernels_for
from codegen.plan.place import planners as plan_planners

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout and nothing else.")


@click.command()
@_JSON
def ops(as_json: bool) -> int:
    """List the operators that files may have and the kernels that run them."""
    imported = imported_ops()
    found = {name: [kernel.name for kernel in kernels_for(op or "")] for name, op in imported.items()}
    if as_json:
        click.echo(to_json({"schema": 1, "ops": found, "imported_as": dict(imported)}), nl=False)
    else:
        rows = [[name, _becomes(name, imported[name]) + ", ".join(found[name])] for name in found]
        table("", ["operator", "kernels"], rows)
    return ExitCode.OK


def _becomes(name: str, op: str | None) -> str:
    """What stands in front of an operator's kernels: whose they are, or why there are none."""
    if op is None:
        return "none: folded, where it follows from shapes and constants"
    return "" if op == name else f"as {op}: "


@click.command()
@_JSON
def planners(as_json: bool) -> int:
    """List the memory planners, those of other packages included."""
    names = plan_planners.names()
    if as_json:
        click.echo(to_json({"schema": 1, "planners": list(names)}), nl=False)
    else:
        for name in names:
            click.echo(name)
    return ExitCode.OK


@click.command()
@_JSON
def doctor(as_json: bool) -> int:
    """Say what is missing on this machine and the command that installs it. Exit 5 if builds cannot work."""
    findings = toolchain.doctor(catalogue.boards())
    if as_json:
        rows = [
            {
                "name": f.name,
                "ok": f.ok,
                "required_for": f.required_for,
                "detail": f.detail,
                "install": f.install,
            }
            for f in findings
        ]
        click.echo(to_json({"schema": 1, "findings": rows}), nl=False)
    else:
        for finding in findings:
            mark = "ok      " if finding.ok else "optional" if finding.optional else "MISSING "
            click.echo(f"{mark}  {finding.name}: {finding.detail}")
            if not finding.ok:
                click.echo(f"          for {finding.required_for}; install: {finding.install}")
    needed = [finding for finding in findings if not finding.ok and not finding.optional]
    return ExitCode.TOOLCHAIN if needed else ExitCode.OK
