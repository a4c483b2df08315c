"""The tests' own networks through Vela and the functional model, against the outputs that engines gave.

    python -m tests.tools.npu.networks --network ds_cnn --device ethos-u55-128

Without options: all of int8, uint8 and int16 for six configurations; takes minutes.
"""

import argparse

import click
import numpy as np

from tests import networks
from tests.tools.npu.layers import Layer, outcomes

DEVICES = (
    *("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256"),
    *("ethos-u65-256", "ethos-u65-512"),
)
NAMES = tuple(name for name in networks.NAMES if not name.endswith(("_float", "_int4")))


def recorded(name: str) -> Layer:
    """A network with its recorded inputs and outputs."""
    arrays = networks.golden(name)
    cases = sorted({key.split("_")[0] for key in arrays})

    def of_case(case: str, letter: str) -> tuple[np.ndarray, ...]:
        keys = [key for key in arrays if key.startswith(f"{case}_{letter}")]
        return tuple(arrays[key] for key in sorted(keys, key=lambda key: int(key.split(letter)[-1])))

    return Layer(
        name=name,
        model=networks.model_path(name).read_bytes(),
        inputs=tuple(of_case(case, "x") for case in cases),
        expected=tuple(of_case(case, "y") for case in cases),
    )


def main() -> None:
    """Print what became of each network for each device."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--network", action="append", choices=NAMES, help="take this one")
    parser.add_argument("--device", action="append", choices=DEVICES, help="for this configuration")
    arguments = parser.parse_args()
    for device in arguments.device or DEVICES:
        taken = {name: recorded(name) for name in arguments.network or NAMES}
        for name, answer in outcomes(list(taken.values()), device).items():
            click.echo(f"{device} {name}: {answer}, {len(taken[name].inputs)} cases")


if __name__ == "__main__":
    main()
