"""README.md of a folder: its C compiles without a warning and gives the class of a real image.

How a network is fed and read stood nowhere: people put real numbers into a quantised input.
"""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from codegen.driver.report.product import product_of
from codegen.emit import folder_readme, render, write
from codegen.emit.c.spelling import float32
from codegen.importers import load
from codegen.ir.evaluate import evaluate
from codegen.joint import together
from codegen.program.image import ElfSizes
from codegen.program.interface import ConstantsMode, IoMode, PoolOwner
from codegen.program.program import Program
from tests.checkout import ROOT
from tests.commands import codegen
from tests.emit import samples
from tests.emit.compiling import WARNINGS, call
from tests.emit.sized import sized
from tests.emit.variants import owned

DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def blocks(readme: str) -> str:
    """The C of a README."""
    return "\n".join(re.findall(r"^```c\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL))


@needs_gcc
def test_its_function_classifies_held_out_images(tmp_path: Path) -> None:
    assert codegen("build", DIGITS, "--board", "host", "-o", tmp_path / "built", "-q") == 0
    folder = tmp_path / "built"
    readme = (folder / "README.md").read_text()
    images = np.load(DIGITS.with_name("digits_test.npz"))["x"][:20]
    module = load(DIGITS)
    type_ = module.main.params[0].type
    wanted = [int(np.argmax(evaluate(module, module.main, [x.reshape(type_.shape)])[0])) for x in images]
    real = (images.astype(np.float64).reshape(20, -1) - type_.zero_point) * type_.scale
    rows = ",\n".join("{" + ", ".join(float32(float(x)) for x in row) + "}" for row in real)
    main = f"""{blocks(readme)}
#include <stdio.h>
static const float images[20][DIGITS_IMAGE_ELEMENTS] = {{{rows}}};
int main(void)
{{
    for (int i = 0; i < 20; i++) {{
        printf("%d\\n", infer_digits(images[i]));
    }}
    return 0;
}}
"""
    (folder / "main.c").write_text(main)
    sources = sorted(str(path) for path in folder.rglob("*.c") if path.parent.name != "firmware")
    include = ["-I."]
    call(["gcc", *WARNINGS, *include, *sources, "-o", "main"], folder)
    assert [int(word) for word in call([str(folder / "main")], folder).split()] == wanted
    assert len(set(wanted)) > 5


def _readme(*programs: Program) -> str:
    bundle = together(programs)
    sources = render(bundle)
    sizes = ElfSizes(
        text_bytes=0, rodata_bytes=0, data_bytes=0, bss_bytes=0, model_code_bytes=0, stack_bound_bytes=None,
        stack_bounds={f"{program.name}_run": 208 for program in programs},
    )  # fmt: skip
    return folder_readme(bundle, product_of(bundle, sources, ["-O2"], sizes), sources.files)


@needs_gcc
@pytest.mark.parametrize(
    "programs",
    [
        (samples.counter(), samples.mixed()),
        (samples.bare(),),
        (samples.lasting(),),
        (samples.mixed(io=IoMode.POOL),),
        (owned(samples.counter()),),
        (owned(samples.counter(), constants=ConstantsMode.LINKED),),
        (owned(samples.mixed(), pools=PoolOwner.STATIC),),
    ],
    ids=["two", "no quantisation", "state", "floats in pools", "all yours", "pools yours", "constants yours"],
)
def test_its_c_compiles_without_a_warning(programs: tuple[Program, ...], tmp_path: Path) -> None:
    readme = _readme(*programs)
    write(render(together(programs)), tmp_path / "out")
    (tmp_path / "out" / "readme.c").write_text(blocks(readme))
    words = ["-Wno-missing-prototypes", "-I.", "-c", "readme.c", "-o", "readme.o"]
    call(["gcc", *WARNINGS, *words], tmp_path / "out")


def test_it_says_what_the_model_has() -> None:
    readme = _readme(samples.counter())
    assert "| input | `x` | int8 |" in readme and "counter_quantize_x(x)" in readme
    assert "A call takes at most 208 bytes of stack (`COUNTER_STACK_BYTES`)" in readme
    assert "| `CG_OK` | done |" in readme and "CG_ERR_STATE" not in readme
    assert "Flags of the core" not in readme  # of the host there are none
    lasting = _readme(samples.lasting())
    assert "`lasting_reset` begins a new sequence" in lasting and "| `CG_ERR_STATE_LAYOUT` |" in lasting


def test_what_a_call_takes_besides_is_named() -> None:
    readme = _readme(owned(samples.counter()))
    assert "counter_run(&pools_of_counter, &inputs, &outputs)" in readme and "int load_counter(" in readme
    assert "| `CG_ERR_POOL_SIZE` | a pool is too small |" in readme
    of_sizes = _readme(sized())
    assert "takes the sizes of the call as well" in of_sizes and "```c" not in of_sizes
