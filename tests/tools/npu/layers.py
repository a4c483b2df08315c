"""Single layers of `tests.opgen` through Vela and the functional model, against their stored outputs.

    python -m tests.tools.npu.layers --device ethos-u55-128 --every 4

Prints how many are equal, differ, end in a fault, keep an operator on the core, or are left to it by Vela.
"""

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import click
import numpy as np

from codegen.api import CodegenError
from codegen.tools.npu.vela_file import read_vela_file, run_operator
from tests import opgen
from tests.checkout import ROOT

VELA = ROOT / ".venv-engines" / "bin" / "vela"
_TYPES = re.compile(r".*_u?int(8|16)(_|$)")
_LEFT_OUT = re.compile(r"hybrid|int4|int32|int64|f32|float")
"""Of operators whose names say that they are none of integers of 8 and 16 bits alone."""


def outcome(case: opgen.OpCase, device: str, folder: Path) -> str:
    """What became of one layer, in a word or two."""
    path = folder / f"{case.name}.tflite"
    path.write_bytes(case.model)
    words = [VELA, "--accelerator-config", device, "--output-dir", folder, path]
    compiled = folder / f"{case.name}_vela.tflite"
    if subprocess.run(words, capture_output=True, check=False).returncode or not compiled.exists():
        return "Vela fails"
    try:
        vela = read_vela_file(compiled)
    except CodegenError:
        return "on the core"
    if vela.others or len(vela.operators) != 1:
        return "partly on the core"
    try:
        operator = vela.alone()
        for inputs, outputs in zip(case.inputs, case.expected, strict=True):
            for array, right in zip(run_operator(operator, inputs), outputs, strict=True):
                if not np.array_equal(array.reshape(-1), np.asarray(right).reshape(-1)):
                    return "differ"
    except CodegenError:
        return "fault"
    return "equal"


def main() -> None:
    """Print the counts, and the names of layers that are not equal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="ethos-u55-128", help="configuration as Vela names it")
    parser.add_argument("--every", type=int, default=4, help="take every N-th layer")
    arguments = parser.parse_args()
    cases = [case for case in opgen.cases() if _TYPES.match(case.name) and not _LEFT_OUT.search(case.name)]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases[:: arguments.every]:
            answer = outcome(case, arguments.device, Path(folder))
            counts[answer] += 1
            if answer in {"differ", "fault"}:
                click.echo(f"{answer}: {case.name}")
    click.echo(", ".join(f"{count} {answer}" for answer, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
