"""`python -m tests.importers.onnx.record`: what onnxruntime gives for drawn networks, as digests.

Each network is asked for as it is, with all optimisations off. The command prints on how many elements the
QLinear form of the same numbers differs: an x86 without VNNI saturates sums of pairs of products of uint8.
"""

import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.importers.onnx import drawn_reals
from tests.importers.onnx.drawn import Network, chain, network
from tests.importers.onnx.integers import RECORD, digest

COUNT = 308

_CHILD = """
import pickle, sys
import onnxruntime as ort
options = ort.SessionOptions()
levels = ort.GraphOptimizationLevel
options.graph_optimization_level = levels.ORT_ENABLE_ALL if sys.argv[3:] else levels.ORT_DISABLE_ALL
options.log_severity_level, options.intra_op_num_threads = 4, 1
found = []
for model, inputs in pickle.load(open(sys.argv[1], "rb")):
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    found.append([session.run(None, each) for each in inputs])
pickle.dump(found, open(sys.argv[2], "wb"))
"""


def ask(models: list[tuple[bytes, Network]], *, optimised: bool = False) -> list[list[list[np.ndarray]]]:
    """onnxruntime's outputs of each model for each of its network's inputs, by [model][input][output]."""
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder) / "question", Path(folder) / "answer"
        question.write_bytes(pickle.dumps([(model, net.inputs) for model, net in models]))
        words = [sys.executable, "-c", _CHILD, str(question), str(answer)]
        subprocess.run([*words, *(["optimised"] if optimised else [])], check=True)
        return pickle.loads(answer.read_bytes())


def _first(answers: list[list[list[np.ndarray]]]) -> list[list[np.ndarray]]:
    return [[outputs[0] for outputs in of_model] for of_model in answers]


def main() -> None:
    """Record digests of networks 0 to COUNT - 1."""
    nets = [network(seed) for seed in range(COUNT)]
    integer = _first(ask([(net.integer or net.qdq, net) for net in nets]))
    real = _first(ask([(net.qdq, net) for net in nets]))
    first, second = (
        np.concatenate([each.reshape(-1) for row in rows for each in row]) for rows in (integer, real)
    )
    differ = int(np.count_nonzero(first != second))
    sys.stdout.write(f"{first.size:,} elements; integer and float forms differ in {differ}\n")
    reals = [drawn_reals.network(seed) for seed in range(drawn_reals.EXACT)]
    kept = _first(ask([(net.qdq, net) for net in reals]))
    [outputs] = _first(ask([(chain().qdq, chain())]))
    digests = np.array([digest(each) for each in real], np.uint64)
    others = np.array([digest(each) for each in kept], np.uint64)
    np.savez_compressed(RECORD, digests=digests, reals=others, chain=np.stack(outputs))


if __name__ == "__main__":
    main()
