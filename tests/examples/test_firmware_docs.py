"""The calls in docs/firmware.md compile, against the header of a model with those inputs and outputs."""

import re
import shutil
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.emit import render, write
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.plan.models.bundling import together
from tests.checkout import ROOT
from tests.emit.compiling import call

PAGE = ROOT / "docs" / "firmware.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model called `model` with input `image` and output `scores`."""
    model, made = ModelBuilder(), tmp_path_factory.mktemp("docs")
    image, scores = (model.tensor(name, (1, 4), "int8", scale=0.5) for name in ("image", "scores"))
    model.op("RELU", [image], [scores])
    model.inputs(image)
    model.outputs(scores)
    (made / "model.tflite").write_bytes(model.build())
    program = plan_model(made / "model.tflite", load_board("host"), Options(board="host")).program
    write(render(together([program])), made / "out")
    return made / "out"


def example(language: str) -> str:
    """The first block of a language in the chapter on running a model."""
    chapter = PAGE.read_text(encoding="utf-8").partition("\n## Running\n")[2]
    found = re.search(rf"```{language}\n(.*?)```", chapter, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("block", "compiler"),
    [("c", "gcc -std=c11"), ("cpp", "g++ -std=c++11"), ("cpp", "g++ -std=c++20"), ("cpp", "g++ -std=c++23")],
)
def test_the_example_of_a_call_compiles(folder: Path, block: str, compiler: str) -> None:
    """The only example was a compound literal, which is C and not C++."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"{compiler} is not installed")
    body = example(block)
    source = "user.c" if block == "c" else "user.cpp"
    text = '#include "model.h"\nint user(const int8_t *image, int8_t *scores);\n'
    text += f"int user(const int8_t *image, int8_t *scores)\n{{\n{body}    return (int)status;\n}}\n"
    (folder / source).write_text(text)
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I.", "-Iruntime/include"]
    call([*compiler.split(), *flags, source], folder)
