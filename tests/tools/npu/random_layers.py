"""Random layers, none of which is recorded, through Vela and the functional model, against the ruling engine.

    python -m tests.tools.npu.random_layers --device ethos-u55-128 --count 300 --kind "conv_2d_int8|add_int8"

Kinds, scales, zero points, pads, strides and dilations are those of `tests.opgen`; layers are beyond the
recorded ones. Prints a line for each kind, and the names of layers that differ or end in a fault.
"""

import argparse
import re
from collections import Counter

import click

from codegen.engines.ruling import ruling_engine
from tests.engines import evaluate
from tests.opgen.catalogue import Kind, kinds
from tests.opgen.standing import answered, asked
from tests.tools.npu.layers import Layer, is_integer, outcomes

_BEYOND = 1000
"""Number of the first layer: so many of a kind are never recorded."""


def layers(kind: Kind, count: int, start: int = _BEYOND) -> list[Layer]:
    """Layers of one kind that its engine takes, with the engine's outputs."""
    drawn = [(f"{kind.stem}_{number}", kind.drawn(number)) for number in range(start, start + count)]
    answers = evaluate([asked(layer, ruling_engine(kind.operator)) for _, layer in drawn])
    return [
        Layer(
            name=name,
            model=layer.model,
            inputs=tuple(layer.inputs),
            expected=tuple(answered(layer, answer.outputs)),
        )
        for (name, layer), answer in zip(drawn, answers, strict=True)
        if not answer.error
    ]


def main() -> None:
    """Print what became of the layers of each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="ethos-u55-128", help="configuration as Vela names it")
    parser.add_argument("--count", type=int, default=300, help="layers of each kind")
    parser.add_argument("--kind", default=".*", help="expression for names of kinds")
    arguments = parser.parse_args()
    for kind in kinds():
        if not is_integer(kind.stem) or not re.fullmatch(arguments.kind, kind.stem):
            continue
        answers = outcomes(layers(kind, arguments.count), arguments.device)
        counts = Counter(answers.values())
        told = ", ".join(f"{count} {answer}" for answer, count in sorted(counts.items()))
        wrong = [name for name, answer in answers.items() if answer in {"differ", "fault"}]
        click.echo(f"{kind.stem}: {told}{': ' if wrong else ''}{' '.join(wrong)}")


if __name__ == "__main__":
    main()
