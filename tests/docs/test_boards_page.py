"""The table at the head of docs/boards.md has every board that ships, with its figures."""

from codegen.board import boards
from codegen.ir import Runner
from tests.checkout import ROOT

_RUNS = {Runner.QEMU: "QEMU", Runner.HOST: "this machine", Runner.NONE: "built only"}


def table() -> list[str]:
    """The rows that the page is to have: memory in KiB, writable and not."""
    rows = ["| board | core | RAM, KiB | flash, KiB | MHz | runs on |", "|---|---|---|---|---|---|"]
    for board in sorted(boards(), key=lambda board: board.name):
        sizes = [
            sum(region.size_bytes for region in board.regions if region.writable is writable) // 1024
            for writable in (True, False)
        ]
        clock = f"{board.rated_clock_hz / 1e6:g}" if board.rated_clock_hz else ""
        core = board.target.cpu.removeprefix("cortex-")
        cells = (f"`{board.name}`", core, *(f"{size:,}" for size in sizes), clock, _RUNS[board.runner])
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def test_the_table_has_every_board() -> None:
    page = (ROOT / "docs" / "boards.md").read_text(encoding="utf-8")
    expected = "\n".join(table())
    assert expected in page, f"docs/boards.md begins with:\n{expected}"
