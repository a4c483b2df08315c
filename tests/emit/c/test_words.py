"""Inputs and outputs with names that C, C++ or their libraries use: public headers compile as both."""

import shutil
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.emit import render, write
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.joint import together
from codegen.program.image import Sources
from tests.emit.compiling import WARNINGS, call

# As the standards list them: N1570 6.4.1, N3220 6.4.1, N4861 and N4950 [lex.key], [lex.digraph].
C11 = """auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while"""
C23 = "alignas alignof bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual"
CPP = """alignas alignof asm auto bool break case catch char char8_t char16_t char32_t class concept const
consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default
delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
int long mutable namespace new noexcept nullptr operator private protected public register
reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual void
volatile wchar_t while and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq"""
LIBRARY = """errno offsetof size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
uintptr_t memcpy memset NULL INT8_MAX SIZE_MAX NAN complex noreturn stdin assert linux unix main
inputs outputs cg_status cg_runtime CG_OK cg_s32 cg_clamp_f32 final override import module
net_sram_pool net_run net_inputs"""
WORDS = sorted({*C11.split(), *C23.split(), *CPP.split(), *LIBRARY.split()})


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sources, Path]:
    """A model with an input and an output of every word."""
    model, folder = ModelBuilder(), tmp_path_factory.mktemp("words")
    sides = [[model.tensor(word, (1, 4), "float32") for word in WORDS] for _ in range(2)]
    for x, y in zip(*sides, strict=True):
        model.op("RELU", [x], [y])
    model.inputs(*sides[0])
    model.outputs(*sides[1])
    path = folder / "net.tflite"
    path.write_bytes(model.build())
    options = Options(board="host", planner="greedy_by_size", schedule="file", sharing="none")
    sources = render(together([plan_model(path, load_board("host"), options).program]))
    write(sources, folder / "out")
    return sources, folder / "out"


@pytest.mark.parametrize(
    "language",
    ["c -std=c11", "c -std=gnu11", "c -std=c2x", "c++ -std=c++20", "c++ -std=gnu++20", "c++ -std=c++23"],
)
@pytest.mark.sampled(3)
def test_names_that_are_words_make_a_header_for_c_and_cpp(
    rendered: tuple[Sources, Path], language: str
) -> None:
    """An output called `requires`, `concept` or `char8_t` became a member of the public header: the lists of
    keywords were three, and C++20 refused what one of them lacked."""
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    sources, folder = rendered
    assert sources.files["net.h"].count("_SIZE bytes */") == 2 * len(WORDS)
    headers = "#include <string.h>\n#include <math.h>\n" + '#include "net.h"\n'
    (folder / "user.inc").write_text(f"{headers}net_inputs in;\nnet_outputs out;\n")
    command = ["gcc", "-x", *language.split(), "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "user.inc"]
    call([*command, "-I."], folder)


@pytest.mark.parametrize("standard", ["-std=c11", "-std=gnu11"])
def test_names_that_are_words_make_sources_for_c(rendered: tuple[Sources, Path], standard: str) -> None:
    _, folder = rendered
    command = ["gcc", *WARNINGS, standard, "-fsyntax-only", "-I.", "net.c", "net_data.c"]
    call(command, folder)
