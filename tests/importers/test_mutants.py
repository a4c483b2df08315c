"""Files that attackers would make: refused in words or planned, within 2 s and 512 MiB, never a traceback.

26,000 mutated models found one field of options that was a traceback, a hang or gigabytes, and files of 688
bytes that asked for 5.4 GB. `python -m tests.importers.fuzz --count N --seed S` makes more of them.
"""

import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from codegen.importers.printable_names import identifiers
from tests.checkout import ROOT
from tests.importers.fuzz.mutants import draw

MUST_BE_REFUSED = {
    "one PAD to 128 MB": "E305",
    "ten PADs to 64 MB": "E305",
    "a chain of 300 PADs": "E305",
    "folded floats": "E305",
    "folded floats, each within the limit": "E305",
    "a window at every place": "E305",
    "RELU6 scale=1e-45": "E306",
    "RELU6 scale=inf": "E304",
    "RELU6 scale=nan": "E304",
    "RELU6 scale=0": "E304",
    "RELU6 scale=-1": "E304",
    "CONV_2D stride_w=0 SAME": "E303",
    "CONV_2D dilation_h=-1 SAME": "E303",
    "MAX_POOL_2D filter_height=32768 VALID": "E306",
}
MUST_WORK = (
    "pool of 2000",
    "pool of 30000",
    "pool of 2147483647",
    "pool of 2147483647, stride 2147483647",
    "dilation 100000",
    "dilation 2147483647",
    "CONV_2D stride_h=2147483647 SAME",
)


def fuzz(*words: str) -> tuple[int, str]:
    """Exit code and output of the fuzzer, whose processes have one thread each."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.importers.fuzz", *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_every_integer_option_at_its_edges_and_small_files_that_ask_for_much() -> None:
    ended, text = fuzz("--handmade")
    assert ended == 0, text
    verdicts = {name: what for what, name in re.findall(r"^(\S+) +(.+)$", text, re.MULTILINE)}
    assert len(verdicts) >= 200
    assert sum(what.startswith("E") for what in verdicts.values()) >= 50
    assert {name: verdicts[name] for name in MUST_BE_REFUSED} == MUST_BE_REFUSED
    assert {verdicts[name] for name in MUST_WORK} <= {"ok", "same"}


def test_two_thousand_mutants() -> None:
    ended, text = fuzz("--count", "2000", "--seed", "13")
    assert ended == 0, text
    counts = {
        what: int(count.replace(",", ""))
        for count, what in re.findall(r"^ *([\d,]+) (.+)$", text, re.MULTILINE)
    }
    assert counts["ok"] > 200
    assert counts["ran"] >= 1
    assert {"E301", "E302", "E303", "E304", "E305", "E306"} <= set(counts)


@pytest.mark.long
def test_a_hundred_thousand_mutants() -> None:
    ended, text = fuzz("--count", "100000", "--seed", "14")
    assert ended == 0, text


def test_a_mutant_repeats() -> None:
    assert draw(5, 17) == draw(5, 17)
    assert len({draw(5, number).data for number in range(40)}) > 35
    assert len(Counter(draw(5, number).change for number in range(60))) > 10


def test_thousands_of_inputs_of_one_name() -> None:
    """Each was numbered from 2 on: 33 million candidates."""
    names = identifiers(["x"] * 8192, [])
    assert names[:3] == ("x", "x_2", "x_3")
    assert len(set(names)) == 8192


def test_what_the_engines_own_types_do_not_hold_is_no_fault_of_ours() -> None:
    """Of 100,000 mutants two were told as bugs: a pool of 2^31-1 rows, whose padding engines keep in an
    int16, and a QUANTIZE whose quotient they cast to an int32."""
    for number in ("33687", "92356"):
        ended, text = fuzz("--seed", "14", "--start", number, "--count", "1")
        assert ended == 0 and "       1 engines overflow\n" in text, text
