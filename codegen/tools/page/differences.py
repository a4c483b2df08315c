"""Differences between two builds: figures side by side, steps that changed, buffers that moved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from codegen.report_file import Buffer, Model, Report, Step


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A figure of both builds; keys are those of their documents, None where one has it not."""

    label: str
    before: int | None
    before_key: str
    after: int | None
    after_key: str
    is_bytes: bool = True

    @property
    def change(self) -> int | None:
        """After less before."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def percent(self) -> str:
        """The change in parts of what was before."""
        if not self.change or not self.before:
            return ""
        return f"{100 * self.change / self.before:+.1f} %"

    @property
    def verdict(self) -> str:
        """`less`, `more` or `same`: fewer bytes and fewer instructions are better."""
        if self.change is None:
            return "unknown"
        return "same" if self.change == 0 else "more" if self.change > 0 else "less"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A step or a buffer that is not the same in both; `what`: `changed`, `new` or `gone`."""

    name: str
    what: str
    figures: tuple[Figure, ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """Subject of the two builds, where it is not the same: then figures say nothing of a change in the
    model."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildLine:
    """Board and options of one of the builds; `when`: `before` or `now`."""

    when: str
    board: str
    options: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Differences:
    """All differences of two builds, and what each build was asked for."""

    builds: tuple[BuildLine, ...]
    subjects: tuple[Subject, ...]
    figures: tuple[Figure, ...]
    steps: tuple[Change, ...]
    buffers: tuple[Change, ...]


def parts(report: Report) -> tuple[tuple[str, Report], ...]:
    """(prefix of its keys, report) of each model; a single model's are those of the whole."""
    if report.models is None:
        return (("", report),)
    return tuple((f"models[{index}].", model) for index, model in enumerate(report.models))


def differences(before: Report, after: Report) -> Differences:
    """`before`: the build that is compared with. Models are matched by name, or the only ones are."""
    pairs = tuple(_pairs(before, after))
    return Differences(
        builds=(_build_line("before", before), _build_line("now", after)),
        subjects=tuple(_subjects(before, after, pairs)),
        figures=tuple(_totals(before, after, pairs)),
        steps=tuple(change for pair in pairs for change in _step_changes(*pair)),
        buffers=tuple(change for pair in pairs for change in _buffer_changes(*pair)),
    )


def _build_line(when: str, report: Report) -> BuildLine:
    board = f"{report.board.name} ({report.board.cpu})" if report.board else _NONE
    return BuildLine(when=when, board=board, options=report.options)


_Part = tuple[str, Report]


def _pairs(before: Report, after: Report) -> Iterator[tuple[_Part, _Part]]:
    olds, news = parts(before), parts(after)
    if len(olds) == len(news) == 1:
        yield olds[0], news[0]
        return
    named = {old.model.name: (key, old) for key, old in olds if old.model}
    for key, new in news:
        if new.model and new.model.name in named:
            yield named[new.model.name], (key, new)


_SHA_LETTERS = 12
_NONE = "-"


def _subjects(before: Report, after: Report, pairs: Sequence[tuple[_Part, _Part]]) -> Iterator[Subject]:
    boards = [report.board.name if report.board else _NONE for report in (before, after)]
    rows = [("board", *boards)]
    for (_, old), (_, new) in pairs:
        if old.model and new.model and old.model.sha256 != new.model.sha256:
            rows.append(("model file", *(_file(part.model) for part in (old, new))))
    paired = [{id(pair[side][1]) for pair in pairs} for side in (0, 1)]
    alone = [
        [part.model.name for _, part in parts(whole) if part.model and id(part) not in of_pairs]
        for whole, of_pairs in zip((before, after), paired, strict=True)
    ]
    rows += [("model", name, _NONE) for name in alone[0]] + [("model", _NONE, name) for name in alone[1]]
    yield from (Subject(what=what, before=old, after=new) for what, old, new in rows if old != new)


def _file(model: Model | None) -> str:
    return _NONE if model is None else f"{model.name} ({model.sha256[:_SHA_LETTERS]})"


def _totals(before: Report, after: Report, pairs: Sequence[tuple[_Part, _Part]]) -> Iterator[Figure]:
    def figure(label: str, key: str, *, is_bytes: bool = True) -> Figure:
        return Figure(
            label=label,
            before=value_at(before, key),
            before_key=key,
            after=value_at(after, key),
            after_key=key,
            is_bytes=is_bytes,
        )

    yield figure("RAM, all pools", "plan.peak_bytes")
    yield from _pools(before, after)
    yield figure("constants", "constants.total_bytes")
    yield figure("code of the model", "elf.model_code_bytes")
    yield figure("stack, static bound", "elf.stack_bound_bytes")
    for (old_key, old), (new_key, new) in pairs:
        title = f" of {new.model.name}" if new_key and new.model else ""
        for label, key in (
            ("multiply-accumulates", "model.macs_executed"),
            ("instructions", "run.instructions"),
            ("cycles", "run.cycles"),
        ):
            yield Figure(
                label=label + title,
                before=value_at(old, key),
                before_key=old_key + key,
                after=value_at(new, key),
                after_key=new_key + key,
                is_bytes=False,
            )


def _pools(before: Report, after: Report) -> Iterator[Figure]:
    olds = {pool.name: (i, pool) for i, pool in enumerate(before.plan.pools if before.plan else ())}
    news = {pool.name: (i, pool) for i, pool in enumerate(after.plan.pools if after.plan else ())}
    if len({*olds, *news}) < 2:
        return
    for name in {**olds, **news}:
        old, new = olds.get(name), news.get(name)
        yield Figure(
            label=f"RAM, pool {name}",
            before=old[1].peak_bytes if old else None,
            before_key=f"plan.pools[{old[0]}].peak_bytes" if old else "",
            after=new[1].peak_bytes if new else None,
            after_key=f"plan.pools[{new[0]}].peak_bytes" if new else "",
        )


def value_at(report: Report, key: str) -> int | None:
    """A number by its key, such as `plan.peak_bytes`; None where the report has it not."""
    value: object = report
    for name in key.split("."):
        value = getattr(value, name, None)
    return value if isinstance(value, int) else None


class _Named(Protocol):
    """A step or a buffer."""

    def __getattribute__(self, name: str, /) -> object: ...


def _change(
    name: str,
    old: tuple[str, _Named] | None,
    new: tuple[str, _Named] | None,
    fields: Sequence[tuple[str, str, bool]],
    note: str,
) -> Change | None:
    """None where nothing is different."""
    figures = [
        Figure(
            label=label,
            before=_number(old, field),
            before_key=f"{old[0]}.{field}" if old else "",
            after=_number(new, field),
            after_key=f"{new[0]}.{field}" if new else "",
            is_bytes=is_bytes,
        )
        for field, label, is_bytes in fields
    ]
    moved = tuple(figure for figure in figures if figure.before != figure.after)
    if old and new and not moved and not note:
        return None
    return Change(
        name=name, what="changed" if old and new else "new" if new else "gone", figures=moved, note=note
    )


def _number(owner: tuple[str, _Named] | None, field: str) -> int | None:
    value = getattr(owner[1], field) if owner else None
    return value if isinstance(value, int) else None


_STEP_FIELDS = (
    ("instructions", "instructions", False),
    ("instructions_predicted", "instructions predicted", False),
    ("macs", "multiply-accumulates", False),
    ("workspace_bytes", "workspace", True),
    ("constant_bytes", "constants", True),
    ("code_bytes", "code", True),
    ("stack_bound_bytes", "stack", True),
)
_BUFFER_FIELDS = (("offset", "offset", False), ("size_bytes", "size", True))


def _step_changes(before: _Part, after: _Part) -> Iterator[Change]:
    olds = {step.name: (f"{before[0]}steps[{i}]", step) for i, step in enumerate(before[1].steps or ())}
    news = {step.name: (f"{after[0]}steps[{i}]", step) for i, step in enumerate(after[1].steps or ())}
    for name in {**olds, **news}:
        old, new = olds.get(name), news.get(name)
        change = _change(name, old, new, _STEP_FIELDS, _kernels(old and old[1], new and new[1]))
        if change is not None:
            yield change


def _kernels(old: Step | None, new: Step | None) -> str:
    if old is None or new is None or old.kernel == new.kernel:
        return ""
    return f"kernel {old.kernel} → {new.kernel}"


def _buffers(part: _Part) -> dict[str, tuple[str, Buffer]]:
    """Buffers by name, with their keys in the document."""
    prefix, plan = part[0], part[1].plan
    buffers = (plan.buffers if plan else None) or ()
    return {buffer.id: (f"{prefix}plan.buffers[{index}]", buffer) for index, buffer in enumerate(buffers)}


def _buffer_changes(before: _Part, after: _Part) -> Iterator[Change]:
    olds, news = _buffers(before), _buffers(after)
    for name in {**olds, **news}:
        old, new = olds.get(name), news.get(name)
        change = _change(name, old, new, _BUFFER_FIELDS, _moved(old and old[1], new and new[1]))
        if change is not None:
            yield change


def _moved(old: Buffer | None, new: Buffer | None) -> str:
    return f"pool {old.pool} → {new.pool}" if old and new and old.pool != new.pool else ""
