"""TOML, CSV and JSON bombs: a small file that took minutes or ended in a traceback is refused in words.

All are read in one child with 2 s of processor time each and 512 MiB more than it starts with.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from codegen import documents
from codegen.board import load_board
from codegen.command.project_file import settings
from codegen.documents import read_toml
from codegen.errors import CodegenError
from codegen.ir.byte_sizes import size_bytes
from codegen.resources import folder
from codegen.toml import lines_of
from tests.checkout import ROOT

TOML = {
    "deep arrays": "x = " + "[" * 60_000 + "]" * 60_000,
    "deep arrays, never closed": "x = " + "[" * 60_000,
    "deep inline tables": "x = " + "{a = " * 20_000 + "1" + "}" * 20_000,
    "a long number": "seed = " + "9" * 100_000,
    "a long hexadecimal number": "seed = 0x" + "f" * 100_000,
    "a long fraction": "deadline = 1." + "3" * 100_000,
    "a long exponent": "deadline = 1e" + "9" * 100_000,
    "a key of 50,000 parts": ".".join("a" * 50_000) + " = 1",
    "a table of 50,000 parts": "[" + ".".join("a" * 50_000) + "]",
    "parts with blanks": " . ".join("a" * 50_000) + " = 1",
    "parts in quotes": ".".join(['"a"'] * 50_000) + " = 1",
    "100,000 tables": "".join(f"[t{number}]\n" for number in range(100_000)),
    "30,000 tables in an array": "[[p]]\n" * 30_000,
    "60,000 keys": "".join(f"k{number}=1\n" for number in range(60_000)),
    "8,000 unknown keys": "".join(f"k{number}=1\n" for number in range(8_000)),
    "quotes never closed": '"""a' * 60_000,
    "quotes never closed before a backslash": 'x = """\n' + '\\"""\n' * 50_000 + "\\",
    "quotes and escapes": 'x = "' + '\\"' * 100_000,
    "half a megabyte": "# " + "x" * (512 << 10),
    "no text": "\udcff",
}

ROW = "{},0,9,8\n"
CSV = {
    "all alive together": "id,lower,upper,size\n" + "".join(map(ROW.format, range(19_000))),
    "100,000 rows": "id,lower,upper,size\n" + "".join(map(ROW.format, range(100_000))),
    "100,000 wrong rows": "id,lower,upper,size\n" + "".join(f"{n},a,b,c\n" for n in range(100_000)),
    "a long number": "id,lower,upper,size\n0,0,1," + "9" * 100_000,
    "100,000 columns": ",".join(["id"] * 100_000),
    "a field without end": 'id,lower,upper,size\n"' + "a" * (1 << 20),
    "20 megabytes": "x" * (20 << 20),
}
JSON = {
    "deep": "[" * 100_000,
    "deep object": '{"a":' * 100_000,
    "a long number": '{"schema":' + "9" * 100_000 + "}",
    "a long exponent": '{"schema":1e' + "9" * 100_000 + "}",
    "all alive together": json.dumps(
        {
            "schema": 1,
            "buffers": [
                {"id": str(n), "start": 0, "stop": 9, "size_bytes": 8, "pool_candidates": ["p"]}
                for n in range(3_000)
            ],
            "conflicts": [],
            "pools": [{"name": "p", "region": "", "limit_bytes": 1}],
        }
    ),
    "20 megabytes": " " * (20 << 20),
}

CHILD = """
import signal, sys
from pathlib import Path
from codegen.board import load_board
from codegen.command.project_file import settings
from codegen.errors import CodegenError
from codegen.plan.place.problem_files import read_problem
from tests.importers.fuzz.examine import limit
limit()
for path in sorted(Path(sys.argv[1]).rglob("*.*")):
    readers = [lambda: read_problem(path)]
    if path.suffix == ".toml":
        readers = [lambda: settings(path.parent), lambda: load_board(str(path))]
    for read in readers:
        signal.setitimer(signal.ITIMER_PROF, 2.0)
        try:
            read()
            found = "read"
        except CodegenError as error:
            found = f"{int(error.exit_code)} {error.messages[0].code} {len(str(error))}"
        print(path.relative_to(sys.argv[1]), found, flush=True)
"""


def test_bombs_are_refused_in_words(tmp_path: Path) -> None:
    for number, text in enumerate(TOML.values()):
        (tmp_path / f"toml{number}").mkdir()
        (tmp_path / f"toml{number}" / "codegen.toml").write_bytes(text.encode(errors="surrogateescape"))
    for suffix, files in (("csv", CSV), ("json", JSON)):
        for number, text in enumerate(files.values()):
            (tmp_path / f"{number}.{suffix}").write_text(text)
    command = [sys.executable, "-c", CHILD, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 2 * len(TOML) + len(CSV) + len(JSON)
    for name, *found in lines:
        assert found[0] == "2", (name, found)
        assert found[1] in ("E202", "E212", "E251", "E252"), (name, found)
        assert int(found[2]) < 300_000, (name, found)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "a = 1\nb = " + "[" * 40,
            "line 2 has values nested too deeply, more levels than the 32 that are read",
        ),
        ("n = " + "1" * 129, "line 1 has a word of 129 characters, more than the 128 that are read"),
        (".".join("a" * 20) + " = 1", "line 1 has a key of too many parts, more than the 16 that are read"),
        ("[t]\n" * 9000, "line 8193 has too many keys and tables, more than the 8,192 that are read"),
        ("#" * (300 << 10), "it has more than 262,144 bytes"),
    ],
)
def test_the_reason_names_line_and_limit(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "codegen.toml"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:
        read_toml(path)
    assert str(caught.value) == reason
    with pytest.raises(CodegenError) as told:
        settings(tmp_path)
    assert "error[E202]" in str(told.value)
    assert f"codegen.toml: not TOML: {reason}" in str(told.value)
    with pytest.raises(CodegenError) as told:
        load_board(str(path))
    assert f"is no TOML: {reason}" in str(told.value)


def test_a_size_has_no_more_digits_than_64_bits() -> None:
    """`ram = "999…"` of 100,000 digits was a ValueError of Python's own."""
    assert size_bytes("9" * 100_000) is None
    assert size_bytes("0x" + "f" * 100_000) is None
    assert size_bytes("18446744073709551615") == 2**64 - 1


def test_what_people_write_is_read(tmp_path: Path) -> None:
    """Brackets, dots and long words in strings and comments count for nothing."""
    path = tmp_path / "b.toml"
    long = "x" * 5000 + "[[[" * 100 + "a.b.c." * 50
    basic, literal = f'a = "{long}" # {long}\n', f"b = '{long}'\n"
    lines = f'c = """{long}\n"{long}" ""{long}"""\n' + f"d = '''{long}\n'{long}'''\n"
    floats = "e = [" + "1.5, -2.5e3, " * 1000 + "]\n[x.y.z]\nf = 1979-05-27T07:32:00.999999-07:00\n"
    path.write_text(basic + literal + lines + floats)
    table, _ = read_toml(path)
    assert table["a"] == table["b"] == long
    assert len(table["e"]) == 2000
    assert "f" in table["x"]["y"]["z"]


def test_lines_of_keys_take_one_walk() -> None:
    """Each line was parsed with all above it, for every key that is complained about."""
    text = 'a = 1\n"b.c" = [\n  1,\n]\n# d = 2\ne.f = """\ng = 1\n"""\n[[h]]\ni = 1\n[ j.k ]\n'
    expected = {
        "a": 1,
        "b.c": 2,
        "e": 6,
        "e.f": 6,
        "h": 9,
        "h[0]": 9,
        "h[0].i": 10,
        "j": 11,
        "i": None,
        "d": None,
        "g": None,
        "1": None,
    }
    assert {key: lines_of(text).get(key) for key in expected} == expected


def test_every_shipped_toml_is_far_within_the_limits() -> None:
    for path in folder("boards").rglob("*.toml"):
        assert path.stat().st_size < documents.MAX_TOML_BYTES // 8
        read_toml(path)
