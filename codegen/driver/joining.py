"""Several models into one firmware: bases in the shared pools, models planned again where they do not fit."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from codegen.driver.inputs.planned import Planned
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message, Messages
from codegen.joint import Groups, heaviest_group, join, together
from codegen.plan.place import planners
from codegen.plan.place.budgets import shortage
from codegen.problem.problem import NO_LIMIT_BYTES, Limits, Pool, limited
from codegen.problem.shortage import DoesNotFit, DoesNotLink, Shortage
from codegen.program.program import Bundle, bundle_peak

Budgets = Mapping[str, int]
"""Bytes by pool, instead of what the options say of these pools."""

PlanWithin = Callable[[str, Budgets], Planned]
"""Plans the model of a name within budgets. Raises CodegenError, DoesNotFit where they are missed."""

_Key = tuple[str, tuple[tuple[str, int], ...]]
"""Name of a model and limits in bytes by pool: what a plan is asked for."""

_Replan = Callable[[str, Shortage, int], Planned | None]
"""A smaller plan of the model of a name, given what is short and the bytes that it takes of that; or None."""


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


@contextmanager
def of_model(name: str | None) -> Generator[None]:
    """Messages about a model that are raised inside begin with its name; None: it is the only one."""
    try:
        yield
    except DoesNotFit as missed:
        # `joined` weighs it against the other models.
        raise missed if name is None else missed.of_model(name) from None
    except DoesNotLink as missed:
        raise DoesNotLink(replace(missed.shortage, model=name)) from None
    except CodegenError as error:
        if name is None:
            raise
        raise CodegenError([_named(message, name) for message in error.messages]) from error


def _named(message: Message, name: str) -> Message:
    if not message.is_about_a_model:
        return message
    return replace(message, where=f"{name}: {message.where}" if message.where else name)


def joined(names: Sequence[str], options: Options, plan: PlanWithin) -> tuple[tuple[Planned, ...], Bundle]:
    """The models of a build, planned, and the bundle they make.

    Where concurrent models do not fit together, those of the set that needs most are planned again, the
    largest first: within what is left, then within the smallest budget that a plan of each is found for.
    Raises CodegenError as `plan` does; DoesNotFit names the set that does not fit and the smallest
    limits that were tried and hold all models of the build.
    """
    if len(names) == 1:
        model = plan(names[0], {})
        return (model,), together([model.program])
    joiner = _Joiner(names, options, plan)
    try:
        return joiner.fit({})
    except DoesNotFit as missed:
        raise joiner.explained(missed) from missed


class _Joiner:
    """Plans the models of one build within limits, each question asked once."""

    def __init__(self, names: Sequence[str], options: Options, plan: PlanWithin) -> None:
        self._names = names
        self._options = options
        self._plan = plan
        self._answers: dict[_Key, Planned | DoesNotFit] = {}

    def _within(self, name: str, limits: Budgets) -> Planned:
        """A plan of a model within limits in bytes. Raises DoesNotFit."""
        key = _key(name, limits)
        if key not in self._answers:
            self._answers[key] = self._missed_before(name, limits) or self._planned(name, limits)
        answer = self._answers[key]
        if isinstance(answer, DoesNotFit):
            raise answer
        return answer

    def _planned(self, name: str, limits: Budgets) -> Planned | DoesNotFit:
        try:
            return self._plan(name, limits)
        except DoesNotFit as missed:
            return missed

    def _missed_before(self, name: str, limits: Budgets) -> DoesNotFit | None:
        """Why there is no plan, if one pool has less than the smallest budget that is known already."""
        for (other, at), answer in self._answers.items():
            if other != name or not isinstance(answer, DoesNotFit) or len(answer.shortages) != 1:
                continue
            short = answer.shortages[0]
            limit, beside = limits.get(short.pool.name), {**dict(at), short.pool.name: 0}
            if limit is None or short.budget_bytes is None or {**limits, short.pool.name: 0} != beside:
                continue
            if limit < short.budget_bytes:
                return DoesNotFit([replace(short, pool=replace(short.pool, limit_bytes=limit))])
        return None

    def _smallest(self, name: str, limits: Budgets, pools: Iterable[str]) -> Planned | None:
        """A plan within the smallest budgets of `pools` that one is found for; None if there is none."""
        answer = self._without(name, limits, pools)
        if not isinstance(answer, DoesNotFit):
            return answer
        short = answer.shortages
        budgets = {
            missing.pool.name: missing.budget_bytes for missing in short if missing.budget_bytes is not None
        }
        try:
            return self._within(name, {**limits, **budgets}) if budgets else None
        except DoesNotFit:
            return None

    def _without(self, name: str, limits: Budgets, pools: Iterable[str]) -> Planned | DoesNotFit:
        """A plan without `pools`, or what it lacks of them. The smallest budgets do not hang on the limits
        that were missed, so that an answer that is known already will do."""
        asked = set(pools)
        known = self._answers.get(_key(name, limits))
        if isinstance(known, DoesNotFit) and asked <= {missing.pool.name for missing in known.shortages}:
            return known
        try:
            return self._within(name, {**limits, **dict.fromkeys(asked, 0)})
        except DoesNotFit as missed:
            return missed

    def fit(self, limits: Budgets) -> tuple[tuple[Planned, ...], Bundle]:
        """All models within limits, beside what the options say. Raises DoesNotFit."""
        models = {name: self._within(name, limits) for name in self._names}
        pools = models[self._names[0]].program.memory.problem.pools
        replans: tuple[_Replan, ...] = (
            lambda name, short, needed: self._within_the_rest(name, limits, short, needed),
            lambda name, short, _: self._smallest(name, limits, [short.pool.name]),
        )
        asked: set[tuple[int, str, str]] = set()
        while True:
            try:
                return tuple(models.values()), self._join(models, pools)
            except DoesNotFit as missed:
                if not self._squeeze(models, missed.shortages[0], asked, replans):
                    raise

    def _join(self, models: Mapping[str, Planned], pools: Sequence[Pool]) -> Bundle:
        options = self._options
        return join(
            [model.program for model in models.values()],
            options.concurrent,
            planner=planners.find(options.planner),
            pools=pools,
            limits=Limits(seed=options.seed, deadline_seconds=options.deadline_seconds),
        )

    def _within_the_rest(self, name: str, limits: Budgets, short: Shortage, needed: int) -> Planned | None:
        """A plan of one model within what all others leave of the pool that is short."""
        try:
            return self._within(name, {**limits, short.pool.name: max(needed - short.missing_bytes, 0)})
        except DoesNotFit:
            return None

    def _squeeze(
        self,
        models: dict[str, Planned],
        short: Shortage,
        asked: set[tuple[int, str, str]],
        replans: Sequence[_Replan],
    ) -> bool:
        """Replace one model of `models` by a plan of it that needs less of the pool that is short; False if
        none of the set that needs most has one. Each is asked for once of each model."""
        needs = _needs(models, short.pool.name)
        for index, replan in enumerate(replans):
            for name in heaviest_group(needs, self._options.concurrent):
                if (index, name, short.pool.name) in asked or not needs[name]:
                    continue
                asked.add((index, name, short.pool.name))
                smaller = replan(name, short, needs[name])
                if smaller is not None and smaller.program.memory.peak_bytes(short.pool.name) < needs[name]:
                    models[name] = smaller
                    return True
        return False

    def explained(self, missed: DoesNotFit) -> DoesNotFit:
        """The error for models that do not fit: which set it is, and limits that were tried and suffice."""
        short = self._missed_pools(missed)
        models = {name: self._smallest(name, {}, short) for name in self._names}
        small = {name: model for name, model in models.items() if model is not None}
        if len(small) < len(models):
            return missed
        problem = small[self._names[0]].program.memory.problem
        try:
            bundle = self._join(small, limited(problem.pools, dict.fromkeys(short, NO_LIMIT_BYTES)))
        except DoesNotFit:
            return missed
        needed = {name: bundle_peak(bundle, name) for name in short}
        shortages: list[Shortage] = []
        for pool in (pool for name, pool in short.items() if pool.missing_bytes(needed[name]) > 0):
            needs = _needs(small, pool.name)
            group = [name for name in heaviest_group(needs, self._options.concurrent) if needs[name]]
            joint = replace(
                _facts(small[group[0]], pool.name),
                models=tuple((name, needs[name]) for name in group),
                is_budget_for_all=True,
                pool=pool,
                needed_bytes=needed[pool.name],
            )
            shortages.append(joint)
        told = DoesNotFit(shortages) if shortages else missed
        return told.with_budgets(needed if self._suffices(needed) else dict.fromkeys(short, None))

    def _missed_pools(self, missed: DoesNotFit) -> Mapping[str, Pool]:
        """The pools whose limits some model misses, or all together, by name."""
        pools = {missing.pool.name: missing.pool for missing in missed.shortages}
        for name in self._names:
            answer = self._without(name, {}, tuple(pools))
            for short in answer.shortages if isinstance(answer, DoesNotFit) else ():
                pools.setdefault(short.pool.name, short.pool)
        return pools

    def _suffices(self, limits: Budgets) -> bool:
        """True if all models fit within these limits. A user who is told of them will see the same."""
        try:
            self.fit(limits)
        except DoesNotFit:
            return False
        return True


def _key(name: str, limits: Budgets) -> _Key:
    return name, tuple(sorted(limits.items()))


def _facts(model: Planned, pool: str) -> Shortage:
    """Report the bytes that a plan needs in `pool` as the shortage of a pool without any."""
    steps, memory = model.program.steps, model.program.memory
    problem = memory.problem
    bare = limited(problem.pools, {**{other.name: NO_LIMIT_BYTES for other in problem.pools}, pool: 0})
    told = shortage(replace(problem, pools=bare), memory.plan)
    [facts] = told.with_steps(steps.times, [prim.let.where for prim in steps.prim_funcs]).shortages
    return facts


def _needs(models: Mapping[str, Planned], pool: str) -> dict[str, int]:
    return {name: model.program.memory.peak_bytes(pool) for name, model in models.items()}
