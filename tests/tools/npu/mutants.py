"""Changed streams, weights and metadata of Vela's files through the importer and the functional model.

    python -m tests.tools.npu.mutants --count 20000 --seed 1 [--sanitize]

Every file is imported, or refused by E3xx, within 2 s of processor time; what is imported runs on the model,
for so many accesses at most, and ends or has a fault. Workers are processes: one that dies names its file.
`--sanitize`: the model with AddressSanitizer and UndefinedBehaviorSanitizer. Prints a table; 1 if one is bad.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from unittest import mock

import numpy as np

from codegen.errors import CodegenError
from codegen.ethos_u import functional_model, payload
from codegen.importers.dispatch import load
from codegen.ir import ConstRef, Module
from codegen.ir.ops.base.operands import narrow
from codegen.ir.ops.npu_layers import CONSTANTS, STREAM, NpuAttrs
from tests import networks
from tests.checkout import ROOT
from tests.ethos_u.files import pooled_by_npu
from tests.ethos_u.handed import handed_on, weighted
from tests.tools.npu import vela_batch

SECONDS = 2.0
"""Processor time of one file."""
_STEPS = 1 << 20
"""Accesses and multiplications of one run on the model."""
_NETWORKS = ("ds_cnn", "resnet8", "autoencoder")
_SANITIZERS = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
_BAD = "bad: "


def bases(folder: Path) -> list[bytes]:
    """Files by hand, and networks of the tests where Vela is installed."""
    files = [pooled_by_npu(), handed_on(), weighted()]
    if vela_batch.PYTHON.with_name("vela").exists():
        paths = [networks.model_path(name) for name in _NETWORKS]
        vela_batch.compile_all(paths, "ethos-u55-128", folder)
        files += [(folder / f"{path.stem}_vela.tflite").read_bytes() for path in paths]
    return files


def mutant(files: list[bytes], seed: int, number: int) -> bytes:
    """File `number` of a seed: words of streams, bytes of weights, of metadata or of anything changed."""
    dice = Random(seed * 1_000_003 + number)
    data = bytearray(dice.choice(files))
    for _ in range(dice.choice((1, 1, 2, 4))):
        _change(data, dice)
    return bytes(data)


def _change(data: bytearray, dice: Random) -> None:
    stream = data.find(b"COP1")
    kind = dice.choice(("word", "word", "word", "byte", "offsets", "cut"))
    if kind == "word" and stream >= 0:
        count = int.from_bytes(data[stream + 18 : stream + 20], "little") or 64
        at = stream + 4 * dice.randrange(1, min(max(count, 8), 4096))
        old = int.from_bytes(data[at : at + 4], "little")
        changes = (old ^ 1 << dice.randrange(32), dice.getrandbits(32), 0, 0xFFFFFFFF, old + 0x10000)
        data[at : at + 4] = (dice.choice(changes) & 0xFFFFFFFF).to_bytes(4, "little")
    elif kind == "offsets":
        at = data.find(b"OfflineMemoryAllocation")
        near = max(min(at + dice.randrange(-400, 400), len(data) - 4), 0)
        data[near : near + 4] = dice.choice((0, 16, 2**31 - 1, 2**32 - 1, 4096)).to_bytes(4, "little")
    elif kind == "cut" and dice.random() < 0.1:
        del data[dice.randrange(len(data)) :]
        data += bytes(max(16 - len(data), 0))
    else:
        data[dice.randrange(len(data))] = dice.choice((0, 255, 1, 128, dice.getrandbits(8)))


def verdict(path: Path) -> str:
    """A word for what became of a file: a code, or what the model said."""
    begun = time.process_time()
    module: Module | None = None
    word = ""
    try:
        module = load(path)
    except CodegenError as error:
        codes = {message.code for message in error.messages}
        word = min(codes) if all(code.startswith("E3") for code in codes) else f"{_BAD}{codes}"
    except Exception as error:  # any other is what is looked for
        word = f"{_BAD}{type(error).__name__}: {error}"
    seconds = time.process_time() - begun
    if seconds > SECONDS:
        return f"{_BAD}{seconds:.1f} s in the importer"
    return word if module is None else _on_the_model(module)


def _on_the_model(module: Module) -> str:
    """Run each stream of a module on arguments of zero."""
    answers: list[str] = []
    for let in module.main.body:
        if not isinstance(let.call.attrs, NpuAttrs):
            continue
        attrs, args = narrow(let.call.attrs, NpuAttrs), let.call.args
        stream, held = args[STREAM], args[CONSTANTS]
        assert isinstance(stream, ConstRef)
        commands = payload.split(module.constants[stream.id].data.tobytes())
        constants = (
            module.constants[held.id].data.copy() if isinstance(held, ConstRef) else np.zeros(0, np.uint8)
        )
        scratch = np.zeros(attrs.scratch_bytes, np.uint8)
        fast = np.zeros(attrs.fast_bytes, np.uint8) if attrs.fast_bytes else scratch
        memories = [constants.view(np.uint8).reshape(-1), scratch, fast, *([None] * 5)]
        may_write = [False, True, True, *([False] * 5)]
        try:
            said = functional_model.run_stream(commands.device, commands.stream, memories, may_write, _STEPS)
        except CodegenError as error:
            said = error.messages[0].code
        answers.append((said or "runs").split(":")[0])
    return answers[0] if answers else "no stream"


def work(seed: int, numbers: range, folder: Path, *, sanitize: bool) -> None:
    """Print number and verdict of each file, the number before it begins."""
    files = [path.read_bytes() for path in sorted((folder / "bases").iterdir())]
    flags = (*functional_model._FLAGS, *(_SANITIZERS if sanitize else ()))  # pyright: ignore[reportPrivateUsage]
    path = folder / f"mutant{numbers.start}.tflite"
    with mock.patch.object(functional_model, "_FLAGS", flags):
        for number in numbers:
            path.write_bytes(mutant(files, seed, number))
            sys.stdout.write(f"{number} ")
            sys.stdout.flush()
            sys.stdout.write(verdict(path).replace("\n", " ") + "\n")


def verdicts(count: int, seed: int, folder: Path, *, sanitize: bool = False) -> dict[int, str]:
    """Number of a file -> its verdict, from processes of their own."""
    (folder / "bases").mkdir()
    for number, data in enumerate(bases(folder)):
        (folder / "bases" / f"{number:03}").write_bytes(data)
    answers: dict[int, str] = {}
    environment = dict(os.environ)
    if sanitize:
        found = subprocess.run(
            ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
        )
        environment |= {"LD_PRELOAD": found.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0"}
    while len(answers) < count:
        words = [sys.executable, "-m", __spec__.name if __name__ == "__main__" else __name__]
        words += ["--seed", str(seed), "--count", str(count), "--worker", str(folder)]
        words += ["--first", str(len(answers)), *(["--sanitize"] if sanitize else [])]
        ended = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
        for line in ended.stdout.splitlines():
            number, _, word = line.partition(" ")
            answers[int(number)] = word or f"{_BAD}the process died: {ended.stderr[-400:]}"
        if not ended.stdout:
            raise RuntimeError(ended.stderr)
    return answers


def main() -> int:
    """Print how many files had each verdict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        numbers = range(arguments.first, arguments.count)
        work(arguments.seed, numbers, arguments.worker, sanitize=arguments.sanitize)
        return 0
    with tempfile.TemporaryDirectory() as name:
        answers = verdicts(arguments.count, arguments.seed, Path(name), sanitize=arguments.sanitize)
    for word, count in Counter(answers.values()).most_common():
        sys.stdout.write(f"{count:7,} {word}\n")
    bad = {number: word for number, word in answers.items() if word.startswith(_BAD)}
    sys.stdout.write("".join(f"--seed {arguments.seed} number {n}: {word}\n" for n, word in bad.items()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
