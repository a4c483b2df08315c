"""The tests' networks through Vela on a board, its functional model of the NPU linked in: a table of results.

    python benchmarks/npu_networks.py [--board mps3-an547] [--device ethos-u55-64] [--network ds_cnn]

Outputs are compared with TFLite's of the file before Vela, in every bit; measured peaks are the planned ones,
and guards whole, or a row says what is wrong. A row: network, configuration, cases, bytes of RAM in the plan,
Vela's arena, layers on the core.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from codegen import CodegenError, Options, run  # noqa: E402
from codegen import board as boards  # noqa: E402
from codegen.driver.inputs.cases import Case  # noqa: E402
from tests import networks  # noqa: E402
from tests.tools.npu.networks import NAMES, recorded  # noqa: E402


def row(name: str, board: str, device: str) -> str:
    """Words of a run."""
    layer = recorded(name)
    cases = [
        Case(name=f"case{number}", inputs=inputs, expected=outputs)
        for number, (inputs, outputs) in enumerate(zip(layer.inputs, layer.expected, strict=True))
    ]
    path = networks.model_path(name)
    with tempfile.TemporaryDirectory() as folder:
        try:
            report = run(
                path, Options(board=board, npu=device), cases={path.stem: cases}, folder=Path(folder) / "out"
            )
        except CodegenError as error:
            return str(error).splitlines()[0]
    npu: Any = report.npu
    core = len(npu["on_the_core"])
    return f"{len(cases):2} equal {npu['plan_bytes']:9,} {npu['vela_arena_bytes']:9,} {core:3}"


def main() -> None:
    """Print a row for each network and configuration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--board", default="mps3-an547")
    parser.add_argument("--network", action="append", choices=NAMES)
    parser.add_argument("--device", action="append")
    arguments = parser.parse_args()
    part = boards.load_board(arguments.board).npu
    for name in arguments.network or NAMES:
        for device in arguments.device or (part.devices if part else ()):
            print(f"{name:16} {device:14} {row(name, arguments.board, device)}", flush=True)


if __name__ == "__main__":
    main()
