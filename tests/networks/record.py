"""Writes `references.npz` by asking the ruling engines: `python -m tests.networks.record`."""

import sys

from tests.engines import Request, evaluate
from tests.networks import NAMES, REFERENCES, drawn, engine_of
from tests.opgen import goldens


def main() -> int:
    """Record all networks; one that its engine refuses is named, and nothing is written."""
    requests = [
        Request(engine=engine_of(name), model=drawn(name).model, inputs=drawn(name).inputs) for name in NAMES
    ]
    answers = dict(zip(NAMES, evaluate(requests), strict=True))
    refused = [f"{name}: {answer.error}" for name, answer in answers.items() if answer.error]
    if refused:
        sys.stderr.write("\n".join(refused) + "\n")
        return 1
    stored = {
        name: goldens.Golden(
            sha256=goldens.digest(drawn(name).model), engine=request.engine, outputs=answers[name].outputs
        )
        for name, request in zip(NAMES, requests, strict=True)
    }
    goldens.write(stored, REFERENCES)
    sys.stdout.write(f"{len(NAMES)} networks, {REFERENCES.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
