"""Mistakes that users make: each message says what is wrong, where, and what to do; none is generic.

A row is the words of a command, the exit code, and pieces of what is printed. Files are those of `files`.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.driver.inputs.files import example_model
from tests.cli.test_verbs import call

_PIECES = tuple[str, ...]

PATHS: list[tuple[str, int, _PIECES]] = [
    ("plan nope.tflite", 2, ("E204] no file nope.tflite", "give the path of a .tflite or .onnx file")),
    ("plan net.tflit", 2, ("no file net.tflit", "did you mean net.tflite?")),
    ("plan loop.bin", 2, ("E204] loop.bin is a link to loop.bin, which leads to no file", "path")),
    ("plan moved.bin", 2, ("E204] moved.bin is a link to ../gone.onnx, which leads to no file", "path")),
    ("plan /dev/null", 2, ("E204] /dev/null is a device or a pipe", "write what it gives to a file first")),
    ("plan folder", 2, ("E204] folder is a folder", "did you mean folder/net.onnx?")),
    ('plan ""', 2, ("E204] . is a folder", "did you mean cut.tflite or empty.tflite or net.tflite?")),
    ("run nope.onnx --board host", 2, ("no file nope.onnx", "give the path")),
    ("validate nope.tflite --board host", 2, ("no file nope.tflite", "give the path")),
    ("build net.tflite --board host -o .", 2, ("E233]", "is the current folder", "name a folder in it")),
    ("build net.tflite --board host -o file", 2, ("E230]", "is a file", "name a new folder with -o")),
    ("build net.tflite --board host -o folder", 2, ("E230]", "folder", "name a new folder with -o")),
    ("build net.tflite --config nope.toml", 2, ("no file nope.toml", "give the path of a codegen.toml")),
    ("build net.tflite --app-elf nope.elf", 2, ("E204] nope.elf: no such file", "application's linked .elf")),
    ("build net.tflite --app-elf text.txt", 2, ("E270] text.txt: is not a linked ELF file", "not .bin")),
    ("build net.tflite --lock folder", 2, ("'--lock': File 'folder' is a directory", "Figures (stack,")),
    ("build net.tflite --dump-ir file", 2, ("'--dump-ir': Directory 'file' is a file", "--dump-ir: Write")),
    ("plan net.tflite --dump-ir file/x", 2, ("E206] --dump-ir file/x: cannot be made", "name a folder")),
    ("plan net.tflite -o folder", 2, ("E206] folder: cannot be written: Is a directory", "name a file")),
    ("build net.tflite --board host -o file/x", 2, ("E231]", "file is a file, no folder", "lies in no file")),
    ("plan net.tflite --config text.txt", 2, ("E202] text.txt: not TOML", "correct the file")),
    ("plan net.tflite --svg x.png", 2, ("E206] --svg x.png", "--svg x.svg; other programs turn SVG")),
    ("plan net.tflite --svg net.tflite", 2, ("E218] --svg net.tflite", "which would be lost", "another")),
    ("plan net.tflite --svg no/x.svg", 2, ("E206]", "no/x.svg", "name a file in a folder that is there")),
    ("report folder", 2, ("no file folder/report.json", "give a folder of `codegen build`")),
    ("report broken.json", 2, ("E237] broken.json: is no report", "writes DIR/report.json")),
    ("compare folder file", 2, ("no file folder/report.json", "give a folder of `codegen build`")),
    ("export nope --as cmake", 2, ("no folder nope", "give a folder of `codegen build`")),
    ("export folder --as cmake", 2, ("no file folder/report.json", "give a folder of `codegen build`")),
    ("flash nope", 2, ("no file nope", "give a folder of `codegen build`")),
    ("lab list", 2, ("no file lab.toml", "docs/guides/labs.md has one")),
]
FILES: list[tuple[str, int, _PIECES]] = [
    ("plan empty.tflite", 3, ("E300] empty.tflite: the file is empty", "tf.lite.TFLiteConverter")),
    ("plan cut.tflite", 3, ("E302] cut.tflite", "would lie at bytes", "export or download it again")),
    ("plan text.txt", 3, ("E300] text.txt: the file's format is not known", "give a .tflite file")),
    ("plan page.tflite", 3, ("E300] page.tflite: this is an HTML page", "download the raw file")),
    ("plan pointer.onnx", 3, ("E300] pointer.onnx: this is a Git LFS pointer", "git lfs pull")),
    ("plan bad.csv", 2, ("E212] bad.csv line 1: the columns are id,lower", "id,lower,upper,size")),
    ("plan negative.csv", 2, ("E212] negative.csv line 2", "size -5", "size in bytes, more than 0")),
    ("plan broken.json", 2, ("E212] broken.json line 1", "a problem is CSV with the columns")),
    ("quantize net.tflite --calibration x.npz", 2, ("E296] net.tflite: only .onnx", "TensorFlow Lite conv")),
    ("quantize nope.onnx --calibration x.npz", 2, ("no file nope.onnx", "path of a float .onnx file")),
    ("build net.tflite --model-limit 10", 3, ("E305] net.tflite", "up to 10 are imported", "--model-limit")),
]
BOARDS: list[tuple[str, int, _PIECES]] = [
    ("build net.tflite --board nope", 2, ("E250] there is no board 'nope'", "known boards: alif-e7-hp")),
    ("build net.tflite --board esp32-s3", 2, ("no board 'esp32-s3'", "--board host", "--as esp-idf")),
    ("build net.tflite --board netduino2", 2, ("no board 'netduino2'", "did you mean netduinoplus2?")),
    ("boards nucleo-h743", 2, ("no board 'nucleo-h743'", "did you mean nucleo-h743zi?")),
    ("doctor --board arduino-uno", 2, ("no board 'arduino-uno'", "8 bits", "--board arduino-nano-33-ble")),
    ("build net.tflite --board none.toml", 2, ("E251] none.toml: cannot be read", "`codegen boards` lists")),
    ("build net.tflite --board broken.toml", 2, ("E251] broken.toml: is no TOML", "docs/boards.md")),
    ("build net.tflite --board bare.toml", 2, ("E252] bare.toml:1: name: must be a string", "boards.md")),
    ("run net.tflite --board nucleo-f446re", 6, ("E609] nucleo-f446re", "boards on QEMU with this core")),
    ("run net.tflite --board host --port /dev/ttyACM0", 6, ("E608] board host", "leave --port out")),
    ("run net.tflite --board stm32 --port /dev/nope", 6, ("E601] /dev/nope", "device you may read")),
    ("run net.tflite --board stm32 --flash", 2, ("--flash is for a real board: --port says where",)),
    ("run net.tflite --board stm32 --baud 9600", 2, ("--baud is for a real board: --port says where",)),
    ("run net.tflite --board host --steps", 2, ("E229] --steps", "board host", "leave --steps out")),
    ("run net.tflite --board host --cycles", 2, ("E225] --cycles", "board host", "leave --cycles out")),
    (
        "run net.tflite --board microbit --sandbox",
        2,
        ("E253] microbit", "use mps2-an505, mps3-an547 or qemu-virt-rv32"),
    ),
    ("run net.tflite --board stm32 --gdb nowhere", 6, ("E608] netduinoplus2", "uart.driver")),
    ("monitor --port /dev/nope", 2, ("--board, or --baud, says how fast the port is",)),
    ("reset", 2, ("--board says which board it is (`codegen boards`)",)),
    ("reset --board mps2-an386", 6, ("E630] mps2-an386: the board's file names no flash tool", "[flash]")),
    ("monitor", 2, ("--port says where the board is, for example --port /dev/ttyACM0",)),
    ("flash --tool hammer", 2, ("'hammer' is not one of 'uf2', 'pyocd'", "--tool: Flash tool")),
    ("sweep net.tflite --boards nope", 2, ("E250] there is no board 'nope'", "known boards")),
]
VALUES: list[tuple[str, int, _PIECES]] = [
    ("build net.tflite --pool sram", 2, ("E203] --pool sram is not NAME=BYTES", "--pool sram=32K")),
    ("build net.tflite --pool sram=32KB", 2, ("32KB is no number of bytes", "suffixes are K and KiB (1024)")),
    ("build net.tflite --pool sram=1.5K", 2, ("--pool sram=1.5K is not NAME=BYTES", "bytes as 32768")),
    ("build net.tflite --pool sram=-5", 2, ("--pool sram=-5 is not NAME=BYTES", "for example")),
    ("build net.tflite --pool sram=1K --pool sram=2K", 2, ("pool sram has 2 limits", "leave the one")),
    ("build net.tflite --pool ram=32K", 2, ("E215] netduinoplus2 has no pool ram", "sram, ccm, flash")),
    ("build net.tflite --pool SRAM=32K", 2, ("has no pool SRAM", "did you mean sram?")),
    (
        "build net.tflite --pool ccm=1K@0x20000000",
        2,
        ("E258]", "a pool cannot be called ccm", "another"),
    ),
    ("build net.tflite --pool own=1K@0x10", 2, ("E258]", "no part of a writable memory", "SRAM 0x20000000")),
    ("plan net.tflite --board host --pool sram=1", 4, ("E401] pool sram", "try --pool sram=")),
    ("build net.tflite --stack 2Q", 2, ("'--stack': 2Q is no number of bytes", "What the application has")),
    ("run net.tflite --run-timeout soon", 2, ("'soon' is no number of seconds", "End an inference")),
    ("run net.tflite --run-timeout 0", 2, ("0.0 is not in the range 0<x<=604800.0", "--run-timeout: End")),
    ("plan net.tflite --deadline -1", 2, ("'--deadline': -1.0 is not in the range x>0", "Safety stop")),
    ("plan net.tflite --seed x", 2, ("'--seed': 'x' is not a valid integer", "Seed of searches")),
    (
        "plan net.tflite --optimize fast",
        2,
        ("'fast' is not one of 'speed', 'balanced'", "--optimize"),
    ),
    ("plan net.tflite --planner best", 2, ("E210] planner best", "known are", "take one of these")),
    (
        "plan net.tflite --memory-model nope",
        2,
        ("E254]", "no memory model 'nope'", "known models: stm32l4"),
    ),
    ("build net.tflite --name 9lives", 2, ("E227]", "'9lives' cannot begin a C name", "lower-case")),
    (
        "build net.tflite --name int",
        2,
        ("E227]", "int is a word of C", "take another, for example int_model"),
    ),
    ("build net.tflite --io somewhere", 2, ("'somewhere' is not one of 'pool', 'caller'", "--io:")),
    ("build net.tflite --concurrent ,", 2, ("E255]", "the name of a model is empty", "--concurrent kws,vww")),
    ("plan net.tflite --dim T", 2, ("E281] --dim T: says no range of a size", "--dim T=10..200")),
    ("plan net.tflite --dim T=1..3", 2, ("E282] --dim T=1..3", "say it: --dim image.1=T beside this one")),
    ("export folder --as cobol", 2, ("'cobol' is not one of 'cmake', 'zephyr'", "--as: Layout")),
    ("sweep net.tflite --until never", 2, ("'never' is not one of 'plan', 'build'", "--until: The last")),
    (
        "run net.tflite --reference nope",
        2,
        ("'nope' is not one of 'auto', 'engine'", "--reference:"),
    ),
    ("explain E999", 2, ("no message has the code 'E999'", "codes are E2")),
]
COMBINATIONS: list[tuple[str, int, _PIECES]] = [
    ("run net.tflite net.tflite --board host", 2, ("E205] two models are called net", "--name PREFIX")),
    ("build net.tflite --concurrent a,b", 2, ("E256]", "the build has one model", "give the other models")),
    ("build net.tflite --watch --json", 2, ("--watch prints more than one document: leave --json out",)),
    ("build net.tflite --firmware mlperf-tiny", 2, ("E286] net", "none of the benchmarks", "leave out")),
    ("plan net.tflite --export tflm", 2, ("E208] --export needs -o FILE", "--export tflm -o planned")),
    ("plan net.tflite --pareto --report", 2, ("--report shows the curve too: leave out --pareto",)),
    ("plan good.csv --board stm32", 2, ("E219] --board: good.csv is a bare problem", "leave it out")),
    ("plan good.csv --pool sram=1K", 2, ("E215] good.csv takes no --pool sram", "--pool ram=BYTES")),
    ("plan good.csv --pareto", 2, ("E209] good.csv is a bare problem", "--pareto is for models")),
    ("run net.tflite --board host --at T=3", 2, ("E284] --at T=3", "say them: --dim T=10..200")),
    ("plan net.tflite --stack 2K", 2, ("No such option '--stack'", "other verbs take --stack")),
    (
        "validate net.tflite other",
        2,
        ("unexpected extra argument (other)", "codegen validate [OPTIONS]"),
    ),
    ("run net.tflite --bord host", 2, ("No such option '--bord'", "'--board'")),
    ("run net.tflite -b host", 2, ("No such option '-b'", "--board?")),
    ("run net.tflite --board", 2, ("Option '--board' requires an argument", "Board name or path")),
    ("buld net.tflite", 2, ("No such command 'buld'. Did you mean 'build'?", "codegen --help")),
    ("export folder", 2, ("Missing option '--as'. Choose from: cmake, zephyr", "--as: Layout")),
    ("quantize net.onnx", 2, ("Missing option '--calibration'", "Samples: one array an input")),
    ("explain", 2, ("Missing argument 'CODE'", "codegen explain [OPTIONS] CODE")),
]
ARRAYS: list[tuple[str, int, _PIECES]] = [
    ("--input nope.npz", 2, ("E220] nope.npz: cannot read arrays: No such file", "numpy.savez('x.npz', x0=")),
    ("--input text.txt", 2, ("E220] text.txt: cannot read arrays: not an .npz", "numpy.savez")),
    ("--input one.npy", 2, ("E220] one.npy", "one array without a name", "x0=numpy.load('one.npy')")),
    ("--input folder", 2, ("E220] folder: cannot read arrays: Is a directory", "path of an .npz")),
    ("--input none.npz", 2, ("E221] none.npz: no array x0 for input 0", "it holds no array")),
    (
        "--input shape.npz",
        2,
        ("E222] shape.npz: array x0 is int8[2, 2], input 0 is int8[1,8,8,1]", "axes in"),
    ),
    (
        "--input samples.npz",
        2,
        (
            "E222] samples.npz: array x0 is int8[100, 8, 8, 1], input 0 is int8[1,8,8,1]",
            "it holds 100 samples: run one of them, `x0[:1]`, or all as a sequence with `--sequence`",
        ),
    ),
    ("--input two.npz", 2, ("E221] two.npz: array x1 is no input of the model", "has 1 input: leave it")),
    ("--input two.npz:b --sequence", 2, ("array b_x1 is no input of the model", "1 input: leave it out")),
    ("--input float.npz", 2, ("E222] float.npz: array x0 is float64", "the model's own element type")),
    ("--input named.npz", 2, ("E221] named.npz: no array x0", "it holds picture", "too: image")),
    ("--input shape.npz:b", 2, ("E221] shape.npz: no array b_x0", "it holds x0")),
    ("--expect shape.npz", 2, ("E221] shape.npz: no array y0 for output 0", "it holds x0")),
    ("--input a.npz --input b.npz", 2, ("E257]", "has arrays already", "leave one out")),
]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a model and many files that are none."""
    monkeypatch.chdir(tmp_path)
    for name in ("CODEGEN_BOARD", "CODEGEN_POOL", "CODEGEN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    data = example_model().read_bytes()
    (tmp_path / "net.tflite").write_bytes(data)
    (tmp_path / "cut.tflite").write_bytes(data[:3000])
    (tmp_path / "empty.tflite").touch()
    (tmp_path / "file").touch()
    (tmp_path / "loop.bin").symlink_to("loop.bin")
    (tmp_path / "moved.bin").symlink_to("../gone.onnx")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "net.onnx").touch()
    texts = {
        "text.txt": "hello\n",
        "page.tflite": "<!DOCTYPE html><html></html>\n",
        "pointer.onnx": "version https://git-lfs.github.com/spec/v1\n",
        "good.csv": "id,lower,upper,size\na,0,2,5\n",
        "bad.csv": "id,lower\na,b\n",
        "negative.csv": "id,lower,upper,size\na,0,2,-5\n",
        "broken.json": "{",
        "broken.toml": "name = \n",
        "bare.toml": "name = 3\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    np.save(tmp_path / "one.npy", np.zeros(3))
    arrays: dict[str, dict[str, Any]] = {
        "none.npz": {},
        "shape.npz": {"x0": np.zeros((2, 2), np.int8)},
        "float.npz": {"x0": np.zeros((1, 8, 8, 1))},
        "samples.npz": {"x0": np.zeros((100, 8, 8, 1), np.int8)},
        "two.npz": {
            f"{case}x{index}": np.zeros((1, 8, 8, 1), np.int8) for case in ("", "b_") for index in (0, 1)
        },
        "named.npz": {"picture": np.zeros((1, 8, 8, 1), np.int8)},
    }
    for name, held in arrays.items():
        np.savez(tmp_path / name, **held)
    return tmp_path


def check(words: list[str], code: int, pieces: _PIECES, err: str, status: int) -> None:
    """The message has a code, every piece, and advice; it is no traceback and asks for no report."""
    assert status == code, err
    assert err.startswith("error[E") and "\nhelp: " in err, words
    assert "Traceback" not in err and "bug in this program" not in err
    missing = [piece for piece in pieces if piece not in " ".join(err.split(" "))]
    assert not missing, err


@pytest.mark.parametrize(
    ("line", "code", "pieces"),
    [*PATHS, *FILES, *BOARDS, *VALUES, *COMBINATIONS],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_mistake_is_told(line: str, code: int, pieces: _PIECES, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(line)
    status = call(*words)
    check(words, code, pieces, capsys.readouterr().err, status)


@pytest.mark.parametrize(("line", "code", "pieces"), ARRAYS, ids=[row[0] for row in ARRAYS])
def test_arrays_that_are_of_no_use_are_told(
    line: str, code: int, pieces: _PIECES, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "net.tflite", "--board", "host", *shlex.split(line)]
    status = call(*words)
    check(words, code, pieces, capsys.readouterr().err, status)


def _in_environment(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    del folder
    monkeypatch.setenv("CODEGEN_BOARD", "nope")


def _in_file(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    del monkeypatch
    (folder / "codegen.toml").write_text('board = "stm32"\noptimise = "speed"\n')


def _no_compiler(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("PATH", str(folder))


def _no_place_for_temporary_files(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(folder / "gone"))


SURROUNDINGS: list[tuple[Callable[[pytest.MonkeyPatch, Path], None], str, int, _PIECES]] = [
    (_in_environment, "plan net.tflite", 2, ("environment variable CODEGEN_BOARD: there is no board",)),
    (_in_file, "plan net.tflite", 2, ("E202] codegen.toml, line 2", "optimise", "known keys are optimize")),
    (_no_compiler, "build net.tflite --board stm32", 5, ("E501]", "arm-none-eabi-gcc", "apt-get install")),
    (_no_compiler, "build net.tflite --board host", 5, ("E501]", "gcc", "apt-get install")),
    (_no_place_for_temporary_files, "run net.tflite --board host", 2, ("E231]", "gone", "TMPDIR")),
]


@pytest.mark.parametrize(("surround", "line", "code", "pieces"), SURROUNDINGS)
def test_what_surrounds_a_command_is_told_too(
    surround: Callable[[pytest.MonkeyPatch, Path], None],
    line: str,
    code: int,
    pieces: _PIECES,
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    surround(monkeypatch, files)
    words = shlex.split(line)
    status = call(*words)
    check(words, code, pieces, capsys.readouterr().err, status)


def test_a_limit_that_limits_nothing_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    """`--pool sram=900M`, where 900 K were meant, was taken without a word."""
    assert call("plan", "net.tflite", "--board", "stm32", "--pool", "sram=900M") == 0
    assert capsys.readouterr().err == (
        "warning[E203] --pool sram=943718400: limits nothing: sram of stm32 has 131,072 bytes\n"
        "help: give a smaller number; K is 1024 bytes, M is 1024 K\n"
    )
    assert call("plan", "net.tflite", "--board", "stm32", "--pool", "sram=100K") == 0
    assert capsys.readouterr().err == ""


def test_there_are_enough_of_them() -> None:
    rows = [*PATHS, *FILES, *BOARDS, *VALUES, *COMBINATIONS, *ARRAYS]
    assert len({row[0] for row in rows}) == len(rows)
    assert len(rows) + len(SURROUNDINGS) >= 100


def test_a_misspelt_variable_is_told() -> None:
    """`CODEGEN_BORD=stm32` was silent: the network was planned for another board."""
    environment = {**os.environ, "CODEGEN_BORD": "stm32", "CODEGEN_NOTHING_LIKE_IT": "x"}
    command = [sys.executable, "-m", "codegen", "plan", "-q"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ran.stderr == "note: CODEGEN_BORD is not read: did you mean CODEGEN_BOARD?\n"
