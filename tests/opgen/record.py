"""Writes `goldens.npz` by asking the ruling engines: `python -m tests.opgen.record`.

With `--new`: for models that have changed or are not there yet; others stay as they are recorded.
"""

import sys

from codegen.engines.ruling import ruling_engine
from tests.engines import evaluate
from tests.opgen import goldens
from tests.opgen.catalogue import Entry, entries
from tests.opgen.standing import answered
from tests.opgen.standing import asked as asked_for


def main(*, is_whole: bool = True) -> int:
    """Record all models; a model its engine refuses is named, and nothing is written."""
    models = entries()
    stored = {} if is_whole else goldens.read()
    asked = [entry for entry in models if not _is_stored(entry, stored.get(entry.name))]
    requests = [asked_for(entry.drawn, ruling_engine(entry.operator)) for entry in asked]
    answers = evaluate(requests)
    refused = [
        f"{entry.name}: {answer.error}" for entry, answer in zip(asked, answers, strict=True) if answer.error
    ]
    if refused:
        sys.stderr.write("\n".join(refused) + "\n")
        return 1
    found = {
        entry.name: goldens.Golden(
            sha256=goldens.digest(entry.drawn.model),
            engine=request.engine,
            outputs=answered(entry.drawn, answer.outputs),
        )
        for entry, request, answer in zip(asked, requests, answers, strict=True)
    }
    goldens.write({entry.name: found.get(entry.name) or stored[entry.name] for entry in models})
    sys.stdout.write(f"{len(asked)} of {len(models)} models, {goldens.GOLDENS.stat().st_size} bytes\n")
    return 0


def _is_stored(entry: Entry, golden: goldens.Golden | None) -> bool:
    if golden is None or golden.engine != ruling_engine(entry.operator):
        return False
    return golden.sha256 == goldens.digest(entry.drawn.model)


if __name__ == "__main__":
    sys.exit(main(is_whole="--new" not in sys.argv[1:]))
