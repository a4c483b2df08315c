"""How the report's page behaves with many buffers: first paint and hover, in a real Chromium, network off.

`python benchmarks/page.py [BUFFERS]`, 10,000 by default. Times are this machine's; nothing is asserted about
them. The document is made up: a tenth as many steps as buffers, of which neighbours share bytes.
"""

import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen.page import page  # noqa: E402
from tests.page.browser import browser  # noqa: E402

_HOVERS = 50
_HOVER = """(async () => {
    const boxes = [...document.querySelectorAll('rect.box')], times = [];
    for (let i = 0; i < HOVERS; i++) {
        const box = boxes[Math.floor(i * boxes.length / HOVERS)];
        const start = performance.now();
        const at = {bubbles: true, clientX: 300, clientY: 300};
        box.dispatchEvent(new PointerEvent('pointermove', at));
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
        times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b);
})()"""


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
            times = shown.value(_HOVER.replace("HOVERS", str(_HOVERS)))
            problems = shown.problems
    print(f"buffers      {buffers:,}, page {len(text.encode()):,} bytes")
    print(f"first paint  {paint:,.0f} ms, loaded after {ready:,.0f} ms")
    middle = times[len(times) // 2]
    print(f"hover        {middle:.1f} ms to the next frame, worst of {len(times)}: {times[-1]:.1f} ms")
    print(f"problems     {problems or 'none'}")


if __name__ == "__main__":
    main()
