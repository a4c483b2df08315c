"""Notes on stderr: what a command did otherwise than its words suggest."""

from collections.abc import Sequence

import click

from codegen.driver.inputs.models import ModelName
from codegen.program.program import Program


def show_names(names: Sequence[ModelName], quiet: bool) -> None:
    """Note on stderr which models are not called as their files, and why."""
    for model in names:
        if model.note and not quiet:
            click.echo(f"note: {model.note}", err=True)


def show_spilled(program: Program, quiet: bool) -> None:
    """A note, on stderr, where a limited pool is not all that is used: values went to another memory."""
    pools = program.memory.problem.pools
    limited = [pool for pool in pools if pool.room_bytes is not None and pool.limit_bytes < pool.room_bytes]
    other = [
        f"{program.memory.peaks[pool.name]:,} bytes of {pool.name}"
        for pool in pools
        if pool not in limited and program.memory.peaks.get(pool.name)
    ]
    if limited and other and not quiet:
        names = [pool.name for pool in limited]
        limits = " and ".join(f"{pool.name} is limited to {pool.limit_bytes:,} bytes" for pool in limited)
        click.echo(
            f"note: {limits}; the plan takes {' and '.join(other)} too. `--only {','.join(names)}` keeps "
            "values out of other memories.",
            err=True,
        )
