"""How the report's page behaves with many buffers: first paint and hover, in a real Chromium, network off.

`python benchmarks/page.py [BUFFERS]`, 10,000 by default. Times are this machine's; nothing is asserted about
them; those to a frame grow with what else the machine does, those of the main thread hardly. The document is
made up: a tenth as many steps as buffers, of which neighbours share bytes.
"""

import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.tools.page.page import page  # noqa: E402
from tests.tools.browser import Browser, browser  # noqa: E402

_HOVERS = 50
_FIELD = """(() => {
    const svg = document.querySelector('#memory0 svg');
    svg.scrollIntoView({block: 'center', behavior: 'instant'});
    const r = document.querySelector('#memory0 .scroll').getBoundingClientRect();
    return [r.x + 80, r.y + 20, Math.min(r.width, 1000) - 90, 280];
})()"""
"""What is seen of the map's field: left, top, width, height."""
_CLOCK = """(() => {
    addEventListener('pointermove', (event) => requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => window.drawn(performance.now() - event.timeStamp);
        port2.postMessage(0);
    }), true);
    window.expect = () => { window.took = new Promise((done) => { window.drawn = done; }); };
})()"""
"""Of each move, ms from its time stamp to the first task behind the frame that shows what it did."""
_TIP = "document.getElementById('tip').hidden ? '' : document.querySelector('#tip strong').textContent"


def document(buffers: int) -> dict[str, object]:
    """A report of a plan with `buffers` buffers."""
    draw = random.Random(1)
    steps = max(buffers // 10, 1)
    found: list[dict[str, object]] = []
    for index in range(buffers):
        start = index // 10
        over = [{"id": f"b{index - 1}", "bytes": 64}] if index % 10 else []
        found.append(
            {
                "id": f"b{index}",
                "values": [f"value{index}"],
                "kind": ("activation", "workspace", "io")[index % 3],
                "pool": "ram",
                "offset": (index % 10) * 4096 + draw.randrange(512) - (64 if index % 10 else 0),
                "size_bytes": 1024 + draw.randrange(2560),
                "alignment_bytes": 4,
                "start": start,
                "stop": start + draw.randrange(1, 4),
                "first_step": start,
                "last_step": start,
                "over": over,
                "rests_on": [f"b{index - 1}"] if index % 10 else [],
            }
        )
    pool = {"name": "ram", "region": "RAM", "section": "", "alignment_bytes": 4, "peak_bytes": 45_056}
    pool |= {"size_bytes": 45_056, "lower_bound_bytes": 40_000}
    plan = {"planner": "none", "solver": "none", "proved_optimal": False, "peak_bytes": 45_056}
    plan |= {"lower_bound_bytes": 40_000, "reproducible": True, "certificate": {}, "pools": [pool]}
    step = {"op": "ADD", "kernel": "add", "core": 0, "macs": 1, "workspace_bytes": 0, "constant_bytes": 0}
    rows = [{"step": i, "name": f"add{i}", "start": i, "stop": i + 1, **step} for i in range(steps)]
    return {"schema": 1, "plan": {**plan, "buffers": found}, "steps": rows}


def _main_thread_ms(shown: Browser) -> float:
    """Processor time of the page's main thread so far: script, style, layout, paint."""
    found = {each["name"]: each["value"] for each in shown.call("Performance.getMetrics")["metrics"]}
    return 1000 * found["TaskDuration"]


def _hovers(shown: Browser) -> Iterator[tuple[float, float, str]]:
    """The mouse here and there: ms from its move to the tip's frame, ms of the main thread, tip's head."""
    left, top, width, height = shown.value(_FIELD)
    shown.call("Performance.enable", timeDomain="threadTicks")
    shown.value(_CLOCK)
    draw = random.Random(2)
    for _ in range(_HOVERS):
        shown.value("window.expect()")
        used = _main_thread_ms(shown)
        x, y = left + draw.random() * width, top + draw.random() * height
        shown.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        took = shown.value("window.took")
        yield took, _main_thread_ms(shown) - used, shown.value(_TIP)


def _said(times: Sequence[float]) -> str:
    ordered = sorted(times)
    return f"{ordered[len(ordered) // 2]:.1f} ms, worst of {len(ordered)}: {ordered[-1]:.1f} ms"


def main() -> None:
    """Print the table."""
    buffers = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        text = page(document(buffers))
        file.write_text(text, encoding="utf-8")
        with browser(Path(folder) / "profile") as shown:
            shown.load(file)
            paint = shown.value("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
            ready = shown.value("performance.getEntriesByType('navigation')[0].loadEventEnd")
            waits, used, tips = zip(*_hovers(shown), strict=True)
            problems = shown.problems
    print(f"buffers      {buffers:,}, page {len(text.encode()):,} bytes")
    print(f"first paint  {paint:,.0f} ms, loaded after {ready:,.0f} ms")
    print(f"hover        {_said(waits)} to the frame that shows it")
    print(f"             {_said(used)} of the main thread's processor time")
    print(f"tips         {len(set(tips) - {''}):,} of {len(tips)} different")
    print(f"load         {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"problems     {problems or 'none'}")


if __name__ == "__main__":
    main()
