"""Input files: what fits is read, everything else is explained.
Pools that a user declares in a board's memories: `--pool NAME=BYTES@ADDRESS`, `[[pool]]`.
What models are called: after their files, where that hides no header, or as `--name` says.
Places where several models are built.
"""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen.board import load_board
from codegen.cli.main import main
from codegen.command.flags import declared_pools, pool_limits
from codegen.command.project_file import settings
from codegen.driver.build import build
from codegen.driver.inputs.cases import ArraySource, pattern_case
from codegen.driver.inputs.declared_pools import DeclaredPool, with_pools
from codegen.driver.inputs.models import GivenNames, check_models, model_names, places_of
from codegen.driver.options import Options
from codegen.driver.planning import planning_board
from codegen.driver.run import complaints, execute
from codegen.errors import CodegenError
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.ir import DType, VirtualDevice
from codegen.ir.rules import Place
from tests.driver.test_array_names import tensors
from tests.networks import model_path
from tests.tensor_types import tensor_type

INT8 = tensor_type((1, 3))
FLOAT = tensor_type((2,), DType.FLOAT32)


def test_reads_plain_and_prefixed_arrays(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    np.savez(
        path,
        x0=np.array([1, 2, 3], np.int8),
        b_x0=np.array([[4, 5, 6]], np.int8),
        b_x1=np.zeros(2, np.float32),
    )
    (plain,) = ArraySource.parse(str(path)).read("x", tensors(INT8), "input")
    assert plain is not None and plain.tolist() == [[1, 2, 3]]
    first, second = ArraySource.parse(f"{path}:b").read("x", tensors(INT8, FLOAT), "input")
    assert first is not None and first.tolist() == [[4, 5, 6]]
    assert second is not None and second.dtype == np.float32


def test_all_problems_of_a_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "g.npz"
    np.savez(path, x0=np.array([1, 2], np.int8))
    with pytest.raises(CodegenError) as caught:
        ArraySource.parse(str(path)).read("x", tensors(INT8, FLOAT), "input")
    wrong, missing = caught.value.messages
    assert wrong.code == "E222" and wrong.text == "array x0 is int8[2], input 0 is int8[1,3]"
    assert (missing.code, missing.text, missing.help) == (
        "E221",
        "no array x1 for input 1",
        "it holds x0; the array may be called as the model's tensor too: in1:0",
    )


@pytest.mark.parametrize("content", [None, b"", b"not a zip", b"PK\x03\x04 broken"])
def test_unreadable_files(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "g.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CodegenError, match=r"error\[E220\].*cannot read arrays"):
        ArraySource.parse(str(path)).read("x", tensors(INT8), "input")


def test_pattern_repeats_for_a_seed() -> None:
    one, two, other = (
        pattern_case([INT8, FLOAT], 3),
        pattern_case([INT8, FLOAT], 3),
        pattern_case([INT8, FLOAT], 4),
    )
    assert all(np.array_equal(a, b) for a, b in zip(one.inputs, two.inputs, strict=True))
    assert not np.array_equal(one.inputs[1], other.inputs[1])


BOARD = load_board("netduinoplus2")


"""SRAM of 128 KiB at 0x20000000 with stack and data, CCM of 64 KiB at 0x10000000."""


def _pool(name: str, address: int, size_bytes: int = 4096) -> DeclaredPool:
    return DeclaredPool(name=name, address=address, size_bytes=size_bytes)


def _regions(*pools: DeclaredPool) -> list[tuple[str, int, int]]:
    return [(each.name, each.address, each.end) for each in with_pools(BOARD, pools).regions if each.writable]


def test_a_part_of_a_region_becomes_a_pool_behind_it() -> None:
    assert _regions(_pool("spare", 0x20010000)) == [
        ("SRAM", 0x20000000, 0x20010000),  # the first piece: stack and data are there
        ("SPARE", 0x20010000, 0x20011000),
        ("CCM", 0x10000000, 0x10010000),
    ]
    assert _regions(_pool("a", 0x10001000), _pool("b", 0x1000E000)) == [
        ("SRAM", 0x20000000, 0x20020000),
        ("CCM", 0x10002000, 0x1000E000),  # the largest piece
        ("A", 0x10001000, 0x10002000),
        ("B", 0x1000E000, 0x1000F000),
    ]
    assert _regions(_pool("all", 0x10000000, 0x10000))[1:] == [("ALL", 0x10000000, 0x10010000)]


NOWHERE = "E258 is no part of a writable memory of netduinoplus2:"
TAKEN = "E258 a pool cannot be called"


@pytest.mark.parametrize(
    ("pools", "text"),
    [
        ([_pool("spare", 0x30000000)], f"{NOWHERE} none has 0x30000000 to 0x30001000"),
        ([_pool("spare", 0x2001F800)], f"{NOWHERE} 0x2001f800 to 0x20020800 goes beyond SRAM"),
        ([_pool("spare", 0x08010000)], f"{NOWHERE} none has 0x08010000 to 0x08011000"),
        ([_pool("ccm", 0x20010000)], f"{TAKEN} ccm: it is taken, or not lower case"),
        ([_pool("A", 0x20010000)], f"{TAKEN} A: it is taken, or not lower case"),
        ([_pool("length", 0x20010000)], f"{TAKEN} length: linker scripts have another use for the word"),
        ([_pool("a", 0x20010000, 0)], "E258 has no bytes"),
        ([_pool("a", 0x20010008)], "E258 does not begin and end at multiples of 16 bytes"),
        (
            [_pool("a", 0x20010000), _pool("b", 0x20010800)],
            "E258 overlaps another declared pool, --pool a=4096@0x20010000",
        ),
        (
            [_pool("a", 0x20000400)],
            f"E259 leaves 1024 bytes of SRAM, the test firmware needs {BOARD.reserved_bytes}",
        ),
    ],
)
def test_what_cannot_be_declared(pools: list[DeclaredPool], text: str) -> None:
    with pytest.raises(CodegenError) as caught:
        with_pools(BOARD, pools)
    assert [f"{message.code} {message.text}" for message in caught.value.messages] == [text]


def test_words_and_tables(tmp_path: Path) -> None:
    words = ["sram=100", "spare=4096@0x20010000", "more=16@536944640"]
    assert pool_limits(words) == {"sram": 100}
    assert declared_pools(words) == (_pool("spare", 0x20010000), _pool("more", 0x20012000, 16))
    with pytest.raises(CodegenError, match="--pool spare=1@x is not NAME=BYTES"):
        declared_pools(["spare=1@x"])
    (tmp_path / "codegen.toml").write_text(
        '[[pool]]\nname = "spare"\nsize = 4096\naddress = 0x20010000\n[[pool]]\nname = "sram"\nsize = 100\n'
    )
    assert settings(tmp_path).defaults == {"pool": ["spare=4096@536936448", "sram=100"]}
    (tmp_path / "codegen.toml").write_text('[[pool]]\nname = "spare"\nsize = "4k"\naddress = "0x20010000"\n')
    assert settings(tmp_path).defaults == {"pool": ["spare=4096@536936448"]}
    (tmp_path / "codegen.toml").write_text('[[pool]]\nname = "spare"\nsize = 4.5\n')
    with pytest.raises(CodegenError, match=r"codegen.toml, line 3, pool 1: size must be a size: .* got 4.5"):
        settings(tmp_path)


def test_a_pool_that_is_not_aligned_is_told_what_lies_inside() -> None:
    """Whoever is told to round wants to know to what: the words offered are accepted."""
    with pytest.raises(CodegenError) as caught:
        with_pools(BOARD, [_pool("a", 0x20010008)])
    help_ = caught.value.messages[0].help or ""
    assert help_ == "round address and size: --pool a=4080@0x20010010 lies inside it"
    [offered] = declared_pools([help_.split()[5]])
    assert _regions(offered)[1] == ("A", 0x20010010, 0x20011000)
    with pytest.raises(CodegenError, match="round address and size to multiples of 16"):
        with_pools(BOARD, [_pool("a", 0x20010008, 8)])


def test_provenance_says_what_was_declared() -> None:
    options = replace(Options(board="stm32"), pools=(_pool("spare", 0x20010000),))
    assert "--pool spare=4096@0x20010000" in options.spelled


@pytest.mark.qemu
@pytest.mark.parametrize("board", ["netduinoplus2", "mps2-an386"])
@pytest.mark.sampled(1)
def test_a_model_runs_in_a_declared_pool(board: str, tmp_path: Path) -> None:
    """All of it: its linked address, its measured peak; nothing in the memory around it."""
    pool = _pool("spare", 0x20018000, 16_384)
    others = {"sram": 0, "ccm": 0} if board == "netduinoplus2" else {"sram": 0, "psram": 0}
    limits = {name: size for name, size in others.items() if name != "ccm"}
    options = Options(board=board, pools=(pool,), pool_limits=limits)
    built = build([model_path("ds_cnn")], options, tmp_path / "out", emulated=True)
    address, size_bytes = built.image.symbols["ds_cnn_spare_pool"]
    assert pool.address <= address and address + size_bytes <= pool.end
    [used] = built.bundle.pools
    assert (used.name, used.region, used.section) == ("spare", "SPARE", ".bss.cg.spare")
    program = built.models[0].program
    cases = [pattern_case([tensor.type for tensor in program.signature.inputs], 3)]
    measured = execute(built, cases)
    assert not complaints(built.models[0], cases, measured, built.image.sizes.stack_bound_bytes)


def test_a_pool_needs_a_board() -> None:
    with pytest.raises(
        CodegenError, match=r"E258\] --pool a=4096@0x20010000: there is no board in whose memory"
    ):
        planning_board(Options(board="", pools=(_pool("a", 0x20010000),)))


STANDARD = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
    "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
    "time wchar wctype "
)
"""Headers of C11 (N1570 7.1.2) but threads and uchar, which newlib lacks."""


def tiny(path: Path) -> Path:
    """A file with one layer."""
    model = ModelBuilder()
    x, y = (model.tensor(name, (1, 4), "int8", scale=0.5) for name in "xy")
    model.op("RELU", [x], [y])
    model.inputs(x)
    model.outputs(y)
    path.write_bytes(model.build())
    return path


def called(*files: str, names: tuple[str, ...] = (), of_project: bool = False) -> list[str]:
    given = GivenNames(words=names, of_project=of_project)
    return [each.name for each in model_names([Path(file) for file in files], given)]


def refusal(*files: str, names: tuple[str, ...] = ()) -> str:
    with pytest.raises(CodegenError) as raised:
        called(*files, names=names)
    return str(raised.value)


def cli(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


@pytest.mark.parametrize("compiler", ["gcc", "arm-none-eabi-gcc"])
def test_no_model_hides_a_header_that_c_code_includes(compiler: str) -> None:
    """A file called string.tflite made string.h, and with -I of its folder `#include <string.h>` found that.
    Which headers there are to hide is asked of the compiler: those of C11, and those that they include."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    text = "".join(f"#include <{name}.h>\n" for name in STANDARD.split())
    asked = [compiler, "-std=c11", "-x", "c", "-"]
    told = subprocess.run([*asked, "-E", "-v"], input=text, capture_output=True, text=True, check=True)
    searched = re.search(r"<\.\.\.> search starts here:\n(.*?)\nEnd of search", told.stderr, re.DOTALL)
    assert searched is not None
    folders = {Path(line.strip()).resolve() for line in searched[1].splitlines()}
    done = subprocess.run([*asked, "-M"], input=text, capture_output=True, text=True, check=True)
    found = {Path(word) for word in done.stdout.replace("\\\n", " ").split() if word.endswith(".h")}
    hidden = {path.stem for path in found if path.parent.resolve() in folders and path.stem[0] != "_"}
    assert hidden >= {"string", "stdint", "stddef"}
    assert not [name for name in sorted(hidden) if called(f"{name}.tflite") == [name]]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("string.tflite", "string_model"),
        ("stdint.tflite", "stdint_model"),
        ("cg_runtime.tflite", "cg_runtime_model"),
        ("CG Kernels.tflite", "cg_kernels_model"),
        ("measure.tflite", "measure_model"),
        ("float.tflite", "float_model"),
        ("requires.tflite", "requires_model"),
        ("kws.tflite", "kws"),
        ("strings_of_text.tflite", "strings_of_text"),
    ],
)
def test_a_file_named_like_a_header_or_a_word_gets_a_suffix_and_says_so(file: str, name: str) -> None:
    [found] = model_names([Path("models") / file])
    assert found.name == name
    assert bool(found.note) == name.endswith("_model")
    if found.note:
        assert f"{file}: the model is called {name}, because" in found.note


def test_models_named_like_headers_are_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """string.tflite, stdint.tflite and cg_runtime.tflite did not compile: their headers were found in place
    of the C library's and ours."""
    stems = ("string", "stdint", "cg_runtime")
    files = [str(tiny(tmp_path / f"{stem}.tflite")) for stem in stems]
    assert cli("build", *files, "--board", "host", "-o", str(tmp_path / "out")) == 0
    told = capsys.readouterr()
    for stem in stems:
        assert (tmp_path / "out" / f"{stem}_model.h").is_file()
        assert f"note: {stem}.tflite: the model is called {stem}_model, because" in told.err
        assert "(--name PREFIX takes another name)" in told.err
    folder = str(tmp_path / "out")
    assert (
        cli("build", *files, "--board", "host", "-o", folder, "--name", "a", "--name", "b", "--name", "c")
        == 0
    )
    assert "note:" not in capsys.readouterr().err
    assert {"a.h", "b.h", "c.h"} <= {path.name for path in (tmp_path / "out").glob("*.h")}


def test_names_are_given_in_order_or_by_the_file() -> None:
    assert called("v2/kws.tflite", names=("keywords",)) == ["keywords"]
    assert called("a/m.tflite", "b/m.tflite", names=("front", "back")) == ["front", "back"]
    assert called("kws.tflite", "vww.tflite", names=("vww=person",)) == ["kws", "person"]
    assert called("kws.tflite", "vww.tflite", names=("kws=vww", "vww=kws")) == ["vww", "kws"]
    assert called("string.tflite", names=("string_model=text",)) == ["text"]
    # Of codegen.toml: the models of a project, of which this build has one.
    assert called("kws.tflite", names=("kws=keywords", "vww=person"), of_project=True) == ["keywords"]


@pytest.mark.parametrize(
    ("files", "names", "text"),
    [
        (["kws"], ["7up"], "error[E227] --name 7up: '7up' cannot begin a C name"),
        (
            ["kws"],
            ["Kws"],
            "take lower-case letters, digits and single underscores, a letter first, 32 at most",
        ),
        (["kws"], ["a__b"], "'a__b' cannot begin a C name"),
        (["kws"], ["k" * 33], "cannot begin a C name"),
        (["kws"], ["string"], "a model cannot be called string: a header string.h of its own would hide"),
        (["kws"], ["cg_x"], "a model cannot be called cg_x: cg_x is a word of C, C++ or the runtime"),
        (["kws"], ["a", "b"], "--name a b: 2 names for 1 model"),
        (
            ["kws", "vww"],
            ["a"],
            "--name a: 1 name for 2 models\nhelp: give one a model, in their order, or kws=",
        ),
        (["kws", "vww"], ["a", "vww=b"], "PREFIX and NAME=PREFIX are mixed"),
        (["kws", "vww"], ["kwz=a"], "no model is called kwz\nhelp: by their files the models are kws, vww"),
        (["kws", "vww"], ["kws=a", "kws=b"], "kws gets two names"),
        (["a/m", "b/m"], ["m=a"], "2 files are called m"),
        (["a/m", "b/m"], [], "error[E205] two models are called m\nhelp: call them apart: --name PREFIX"),
        (["kws", "vww"], ["vww=kws"], "error[E205] two models are called kws"),
    ],
)
def test_names_that_cannot_be_are_refused(files: list[str], names: list[str], text: str) -> None:
    assert text in refusal(*(f"{file}.tflite" for file in files), names=tuple(names))


def test_codegen_toml_names_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny(tmp_path / "net.tflite")
    for text, exit_, told in (
        ('name = "front"\n', 0, '"name": "front"'),
        ('[name]\nnet = "front"\nother = "back"\n', 0, '"name": "front"'),
        ('name = "string"\n', 2, "] codegen.toml, line 1, key name: a model cannot be called string"),
        ("name = 3\n", 2, "name must be"),
    ):
        (tmp_path / "codegen.toml").write_text(text)
        assert cli("plan", "net.tflite") == exit_ if exit_ else cli("plan", "net.tflite", "--json") == 0
        printed = capsys.readouterr()
        assert told in printed.out + printed.err


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("größe.tflite", "gr_e"),
        ("a_model_with_a_name_of_more_than_32_letters.tflite", "a_model_with_a_name_of_more_than"),
        ("2nd.tflite", "model_2nd"),
    ],
)
def test_a_file_name_that_is_changed_is_told(file: str, name: str) -> None:
    """Letters went without a word, and the headers were called otherwise than expected."""
    [found] = model_names([Path(file)])
    assert found.name == name
    assert found.note.startswith(f"{file}: the model is called {name}, because C names have ASCII letters, ")
    assert model_names([Path("KWS v2.tflite")])[0].note == ""


DEVICE = VirtualDevice(memory_scope="sram")
ALL = Place(who="place 1", device=DEVICE, inputs=True)
KWS = Place(who="place 2", device=DEVICE, op=3, model="kws")


def test_a_place_is_for_all_models_or_for_one() -> None:
    assert places_of((ALL, KWS), "kws") == (ALL, KWS)
    assert places_of((ALL, KWS), "vww") == (ALL,)


def test_models_that_are_not_there() -> None:
    check_models((ALL, KWS), ("kws", "vww"))
    check_models((ALL, KWS), ("vww",))
    with pytest.raises(CodegenError) as caught:
        check_models((ALL, KWS), ("vww", "ad"))
    [message] = caught.value.messages
    assert str(message) == (
        "error[E244] place 2: no model is called kws\nhelp: models of this build are vww, ad"
    )
