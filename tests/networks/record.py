"""Writes `references.npz` by asking the ruling engines: `python -m tests.networks.record`."""

import sys

from tests.networks import NAMES, ONNX_NAMES, REFERENCES, WHOLE_NAMES, drawn, engine_of
from tests.networks.asking import engine_outputs
from tests.opgen import goldens


def main() -> int:
    """Record all networks; one that its engine refuses is named, and nothing is written."""
    try:
        outputs = engine_outputs((*NAMES, *ONNX_NAMES, *WHOLE_NAMES))
    except ValueError as refused:
        sys.stderr.write(f"{refused}\n")
        return 1
    stored = {
        name: goldens.Golden(
            sha256=goldens.digest(drawn(name).model), engine=engine_of(name), outputs=outputs[name]
        )
        for name in outputs
    }
    goldens.write(stored, REFERENCES)
    sys.stdout.write(f"{len(stored)} networks, {REFERENCES.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
