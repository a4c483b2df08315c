"""A plan as an SVG picture: steps from left to right, bytes from bottom to top, a rectangle a buffer."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from codegen.draw.memory_map import DrawnSteps, birth_order, drawn_steps, under
from codegen.problem.problem import Buffer, BufferKind, MemoryPlan, Problem, peak_bytes
from codegen.program.program import BufferSlice, Program

_FILLS: Mapping[BufferKind, str] = {
    BufferKind.ACTIVATION: "#7aa6da",
    BufferKind.IO: "#8cc98a",
    BufferKind.WORKSPACE: "#e8b86d",
    BufferKind.CONSTANT: "#b8b8b8",
}
_NAMES: Mapping[BufferKind, str] = {
    BufferKind.ACTIVATION: "activation",
    BufferKind.IO: "input, output",
    BufferKind.WORKSPACE: "workspace",
    BufferKind.CONSTANT: "constant",
}
_CORE_1 = "#8e44ad"
"""Colour in which steps of core 1 are named."""
_LEFT, _RIGHT, _TOP = 76, 150, 58
_HEIGHT = 340
"""Height of one pool's chart, in pixels."""
_STEP_LABELS = 116
_BETWEEN = 44
_FONT = 11
_LETTER = 0.6
"""Width of a letter as a part of its size: what sans-serif letters take on average, and a little more."""
_NARROWEST, _WIDEST = 560, 1400


NO_STEPS = DrawnSteps()
"""A bare problem has buffers alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _PoolFrame:
    """Place of a pool's chart, and its scales."""

    top: float
    width: float
    first: int
    duration: int
    extent: int

    def x(self, time: int) -> float:
        return _LEFT + (time - self.first) * self.width / self.duration

    def y(self, offset: int) -> float:
        return self.top + _HEIGHT * (1 - offset / self.extent)


def program_picture(program: Program) -> str:
    """The picture of a program's pools."""
    return picture(
        problem=program.memory.problem,
        plan=program.memory.plan,
        title=program.name,
        steps=drawn_steps(program),
        slices=program.memory.slices,
    )


def picture(
    *,
    problem: Problem,
    plan: MemoryPlan,
    title: str,
    steps: DrawnSteps = NO_STEPS,
    slices: Mapping[str, BufferSlice] | None = None,
) -> str:
    """An SVG document; the same plan gives the same text.

    One chart a pool that holds bytes, all on one axis of time, which carries numbers where there are no
    steps. `slices` names the values in each buffer. Names of steps that core 1 runs have a colour of their
    own.
    """
    holding = [b for b in problem.buffers if b.size_bytes and b.start < b.stop]
    first = min([b.start for b in holding] + [start for start, _ in steps.times], default=0)
    last = max([b.stop for b in holding] + [stop for _, stop in steps.times], default=1)
    columns = len(steps.names) or last - first
    width = float(max(_NARROWEST, min(_WIDEST, 26 * columns)))
    names = _value_names(slices or {})
    pools = [pool.name for pool in problem.pools if peak_bytes(problem, plan, pool.name)]
    body: list[str] = []
    top = float(_TOP)
    for pool in pools:
        here = [b for b in holding if plan.placements[b.id].pool == pool]
        peak = peak_bytes(problem, plan, pool)
        frame = _PoolFrame(top=top, width=width, first=first, duration=max(last - first, 1), extent=peak)
        body += _chart(frame, pool, here, plan, names)
        body += _step_axis(frame, steps) if steps.names else _number_axis(frame)
        top += _HEIGHT + _STEP_LABELS + _BETWEEN
    height = top - (_BETWEEN if pools else 0)
    total = _LEFT + width + _RIGHT
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {total:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif" '
            f'font-size="{_FONT}">',
            f"<title>{escape(title)}: memory over time</title>",
            f'<rect width="{total:.0f}" height="{height:.0f}" fill="#ffffff"/>',
            f'<text x="{_LEFT}" y="24" font-size="16" font-weight="bold">{escape(title)}</text>',
            *_legend(holding, _LEFT + width),
            *_core1_legend(steps.core1, _LEFT + width),
            *body,
            "</svg>",
            "",
        ]
    )


def _value_names(slices: Mapping[str, BufferSlice]) -> dict[str, str]:
    tied: dict[str, list[str]] = {}
    for name, part in slices.items():
        tied.setdefault(part.buffer, []).append(name)
    return {buffer: ", ".join(values) for buffer, values in tied.items()}


def _legend(buffers: Sequence[Buffer], right: float) -> list[str]:
    """Coloured squares for the kinds that occur, right-aligned above the charts."""
    kinds = [kind for kind in BufferKind if any(b.kind is kind for b in buffers)]
    x = right
    elements: list[str] = []
    for kind in reversed(kinds):
        x -= 22 + len(_NAMES[kind]) * _FONT * _LETTER
        elements.append(
            f'<rect x="{x:.1f}" y="14" width="11" height="11" fill="{_FILLS[kind]}" stroke="#333333"/>'
            f'<text x="{x + 15:.1f}" y="24">{_NAMES[kind]}</text>'
        )
    return elements


def _core1_legend(core1: Collection[int], right: float) -> list[str]:
    """Legend for the colour of a step's name, where any has it."""
    if not core1:
        return []
    return [
        f'<text x="{right:.1f}" y="44" text-anchor="end" fill="{_CORE_1}">steps in this colour: core 1</text>'
    ]


def _chart(
    frame: _PoolFrame, pool: str, buffers: Sequence[Buffer], plan: MemoryPlan, names: Mapping[str, str]
) -> list[str]:
    bottom, right = frame.y(0), _LEFT + frame.width
    bound = plan.lower_bounds.get(pool, 0)
    elements = [
        f'<text x="{_LEFT}" y="{frame.top - 10:.1f}" font-weight="bold">pool {escape(pool)}: '
        f"{frame.extent:,} bytes</text>",
        f'<rect x="{_LEFT}" y="{frame.top:.1f}" width="{frame.width:.1f}" height="{_HEIGHT}" '
        'fill="#f6f6f6"/>',
    ]
    for offset in _ticks(frame.extent):
        y = frame.y(offset)
        elements.append(f'<path d="M{_LEFT} {y:.1f}H{right:.1f}" stroke="#dddddd"/>')
        elements.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{offset:,}</text>')
    # The late born are drawn over the early ones: they overwrite them. Names lie over all of them. Of those
    # born at once the smaller are drawn last, so that they stay visible.
    ordered = sorted(buffers, key=lambda b: (b.start, -b.size_bytes))
    born = birth_order(buffers)
    for buffer in ordered:
        over = [names.get(b.id, b.id) for b in under(buffer, born, plan.placements)]
        elements.append(_rectangle(frame, buffer, plan, names.get(buffer.id, buffer.id), over))
    for buffer in ordered:
        elements += _name(frame, buffer, _covered_from(buffer, ordered, plan), plan, names)
    elements.append(f'<path d="M{_LEFT} {bottom:.1f}H{right:.1f}" stroke="#333333"/>')
    elements += _line(frame, frame.extent, f"peak {frame.extent:,}", "#c0392b", 0)
    if bound:
        text = f"bound {bound:,}" + (" (met)" if bound == frame.extent else "")
        elements += _line(frame, bound, text, "#2c3e50", 1)
    return elements


def _ticks(extent: int) -> range:
    """Multiples of 1, 2 or 5 times a power of ten: four to nine of them."""
    step = 1
    while extent // step > 9:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return range(0, extent + 1, step)


def _rectangle(frame: _PoolFrame, buffer: Buffer, plan: MemoryPlan, name: str, over: Sequence[str]) -> str:
    """A buffer's life; its tooltip tells what it is written over while that is still read."""
    offset = plan.placements[buffer.id].offset
    x, y = frame.x(buffer.start), frame.y(offset + buffer.size_bytes)
    width, height = frame.x(buffer.stop) - x, frame.y(offset) - y
    told = f"{name}: {buffer.size_bytes:,} bytes at {offset:,}, [{buffer.start}, {buffer.stop})"
    told += f", over {' and '.join(over)}" if over else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0.5):.1f}" '
        f'fill="{_FILLS[buffer.kind]}" fill-opacity="0.75" stroke="#333333" stroke-width="0.7">'
        f"<title>{escape(told)}</title></rect>"
    )


def _covered_from(buffer: Buffer, others: Sequence[Buffer], plan: MemoryPlan) -> int:
    """When another buffer is first drawn over this one; its end where none is."""
    start = plan.placements[buffer.id].offset
    stop = start + buffer.size_bytes
    return min(
        (
            other.start
            for other in others
            if buffer.start < other.start < buffer.stop
            and plan.placements[other.id].offset < stop
            and start < plan.placements[other.id].offset + other.size_bytes
        ),
        default=buffer.stop,
    )


def _name(
    frame: _PoolFrame, buffer: Buffer, free_until: int, plan: MemoryPlan, names: Mapping[str, str]
) -> list[str]:
    """The name of a buffer inside the part of its rectangle that nothing covers, if there is room."""
    offset = plan.placements[buffer.id].offset
    x, y = frame.x(buffer.start), frame.y(offset + buffer.size_bytes)
    width, height = frame.x(free_until) - x, frame.y(offset) - y
    label = _label(names.get(buffer.id, buffer.id), f"{buffer.size_bytes:,}", width, height)
    if label is None:
        return []
    text, size, turned = label
    turn = " rotate(-90)" if turned else ""
    move = f"translate({x + width / 2:.1f} {y + height / 2:.1f}){turn}"
    return [
        f'<text transform="{move}" y="{size * 0.35:.1f}" text-anchor="middle" font-size="{size}" '
        f'pointer-events="none">{escape(text)}</text>'
    ]


def _label(name: str, size_text: str, width: float, height: float) -> tuple[str, int, bool] | None:
    """(text, letter size, upright) that fits: name and size, else the name, level or turned; None if none."""
    for text in (f"{name} · {size_text}", name, name.partition(",")[0]):
        for turned, along, across in ((False, width, height), (True, height, width)):
            for size in (_FONT, _FONT - 2):
                if len(text) * size * _LETTER <= along - 4 and size + 2 <= across:
                    return text, size, turned
    return None


def _line(frame: _PoolFrame, offset: int, text: str, colour: str, row: int) -> list[str]:
    """A line across the chart, named to its right; `row` keeps two names apart that would touch."""
    y, right = frame.y(offset), _LEFT + frame.width
    name_y = max(y, frame.top + row * (_FONT + 4)) + 4
    return [
        f'<path d="M{_LEFT} {y:.1f}H{right + 6:.1f}" stroke="{colour}" stroke-width="1.5" '
        f'stroke-dasharray="{"none" if row == 0 else "6 4"}"/>',
        f'<text x="{right + 10:.1f}" y="{name_y:.1f}" fill="{colour}">{text}</text>',
    ]


def _step_axis(frame: _PoolFrame, steps: DrawnSteps) -> list[str]:
    """Step names under the chart, turned; as many as there is room for."""
    bottom = frame.y(0)
    elements: list[str] = []
    free = float("-inf")
    for index, ((start, stop), name) in enumerate(zip(steps.times, steps.names, strict=True)):
        edge, middle = frame.x(start), frame.x(start) / 2 + frame.x(stop) / 2
        elements.append(f'<path d="M{edge:.1f} {bottom:.1f}v4" stroke="#333333"/>')
        if middle - free < _FONT + 1:
            continue
        free = middle
        text = escape(f"{index} {name}"[:16])
        colour = f' fill="{_CORE_1}"' if index in steps.core1 else ""
        elements.append(
            f'<text transform="translate({middle + 4:.1f} {bottom + 8:.1f}) rotate(-90)" '
            f'text-anchor="end"{colour}>{text}</text>'
        )
    return elements


def _number_axis(frame: _PoolFrame) -> list[str]:
    bottom = frame.y(0)
    return [
        f'<path d="M{frame.x(frame.first + time):.1f} {bottom:.1f}v4" stroke="#333333"/>'
        f'<text x="{frame.x(frame.first + time):.1f}" y="{bottom + 16:.1f}" '
        f'text-anchor="middle">{frame.first + time}</text>'
        for time in _ticks(frame.duration)
    ]
