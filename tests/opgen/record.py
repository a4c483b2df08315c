"""Writes `goldens.npz` by asking the ruling engines: `python -m tests.opgen.record`."""

import sys

from tests.engines import Request, evaluate
from tests.engines.rules import ruling_engine
from tests.opgen import goldens
from tests.opgen.catalogue import entries


def main() -> int:
    """Record all models; a model its engine refuses is named, and nothing is written."""
    models = entries()
    requests = [
        Request(engine=ruling_engine(entry.operator), model=entry.drawn.model, inputs=entry.drawn.inputs)
        for entry in models
    ]
    answers = evaluate(requests)
    refused = [
        f"{entry.name}: {answer.error}" for entry, answer in zip(models, answers, strict=True) if answer.error
    ]
    if refused:
        sys.stderr.write("\n".join(refused) + "\n")
        return 1
    goldens.write(
        {
            entry.name: goldens.Golden(
                sha256=goldens.digest(entry.drawn.model), engine=request.engine, outputs=answer.outputs
            )
            for entry, request, answer in zip(models, requests, answers, strict=True)
        }
    )
    sys.stdout.write(f"{len(models)} models, {goldens.GOLDENS.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
