"""Several models into one firmware: bases in the shared pools, models planned again where they do not fit."""

from collections.abc import Callable, Mapping, Sequence

from codegen.driver.options import Options
from codegen.driver.planned import Planned
from codegen.errors import CodegenError, Message, Messages
from codegen.plan import planners
from codegen.plan.bundle import Bundle
from codegen.plan.joint import Groups, heaviest_group, join
from codegen.plan.problem import Limits, peak_bytes
from codegen.plan.program import Program
from codegen.plan.shortage import DoesNotFit, Shortage

PlanAgain = Callable[[str, Mapping[str, int]], Planned]
"""Plans the model of a name again within limits in bytes, by pool. Raises DoesNotFit."""


def check_groups(concurrent: Groups, names: Sequence[str]) -> None:
    """Raise CodegenError E255 for a set of `--concurrent` that names no model of the build, E256 for one that
    says nothing: fewer than two models."""
    messages = Messages()
    for group in concurrent:
        where = f"--concurrent {','.join(group)}"
        for name in sorted(set(group) - set(names)):
            help_ = f"its models are {', '.join(names)}"
            messages.add("E255", f"the build has no model {name}", where=where, help=help_)
        if len(set(group)) < 2:
            help_ = "name two or more models, apart by commas"
            messages.add("E256", "one model by itself is not concurrent to anything", where=where, help=help_)
    messages.raise_if_any()


def joined(
    models: Sequence[Planned], options: Options, plan_again: PlanAgain
) -> tuple[tuple[Planned, ...], Bundle]:
    """The models, some planned again within less, and the bundle they make.

    Where concurrent models do not fit together, those of the set that needs most are planned again, the
    largest first, within what is left, or else within the smallest budget that a plan is found for. Raises
    CodegenError E401 that names the set if that is not enough.
    """
    found = {model.program.name: model for model in models}
    pools = models[0].program.problem.pools
    limits = Limits(seed=options.seed, deadline_seconds=options.deadline_seconds)
    planner = planners.find(options.planner)
    tried: set[tuple[str, str]] = set()
    while True:
        programs = [model.program for model in found.values()]
        try:
            bundle = join(programs, options.concurrent, planner=planner, pools=pools, limits=limits)
        except DoesNotFit as missed:
            _squeeze(found, options.concurrent, missed.shortages[0], tried, plan_again)
        else:
            return tuple(found.values()), bundle


def _squeeze(
    found: dict[str, Planned],
    concurrent: Groups,
    short: Shortage,
    tried: set[tuple[str, str]],
    plan_again: PlanAgain,
) -> None:
    """Replace one model of `found` by a plan of it that needs less of the pool that is short."""
    needs = {name: _peak(model.program, short.pool) for name, model in found.items()}
    group = heaviest_group(needs, concurrent)
    for name in group:
        if (name, short.pool) not in tried and needs[name]:
            tried.add((name, short.pool))
            smaller = _planned_within(name, short, needs[name] - short.missing_bytes, plan_again)
            if smaller is not None and _peak(smaller.program, short.pool) < needs[name]:
                found[name] = smaller
                return
    raise _does_not_fit(short, {name: needs[name] for name in group})


def _planned_within(name: str, short: Shortage, wanted: int, plan_again: PlanAgain) -> Planned | None:
    """A plan within `wanted` bytes of the pool, else within the smallest budget; None if there is none."""
    try:
        return plan_again(name, {short.pool: max(wanted, 0)})
    except DoesNotFit as error:
        budgets = {each.pool: each.budget_bytes for each in error.shortages if each.budget_bytes is not None}
    try:
        return plan_again(name, budgets) if budgets else None
    except DoesNotFit:
        return None


def _peak(program: Program, pool: str) -> int:
    return peak_bytes(program.problem, program.plan, pool)


def _does_not_fit(short: Shortage, needs: Mapping[str, int]) -> CodegenError:
    each = "\n".join(f"    {size:>9} bytes  {name}" for name, size in needs.items())
    text = (
        f"lacks {short.missing_bytes} bytes for models that are concurrent: together they need "
        f"{short.needed_bytes} bytes, the limit is {short.limit_bytes}\n{each}"
    )
    return CodegenError(
        Message(
            code="E401",
            where=f"pool {short.pool}, {' and '.join(needs)}",
            text=text,
            help="try --optimize size, models that take turns (leave one out of --concurrent), more memory",
        )
    )
