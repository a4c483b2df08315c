"""The text form reads back to the same module, and says where text is wrong."""

import pytest
from hypothesis import given

from codegen import importers
from codegen.ir import Module
from codegen.ir.text import parse_module, print_module
from tests.ir.strategies import modules
from tests.testdata import model_path


@given(modules())
def test_any_module_reads_back(module: Module) -> None:
    text = print_module(module)
    assert parse_module(text) == module
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize("key", ["mlperf_tiny/kws_ref_model", "tinyengine/vww", "mlperf_tiny/ad01_fp32"])
def test_real_models_read_back(key: str) -> None:
    module = importers.load(model_path(key))
    assert parse_module(print_module(module)) == module


_GOOD = "module\nfn main(%x: int8[2]) {\n  %relu0: int8[2] = RELU(%x)\n} -> (%relu0)\n"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("RELU(", "NONSENSE(", "no operator NONSENSE"),
        ("(%x)", "(%y)", "%y is used before it is defined"),
        ("-> (%relu0)", "", "line 4: expected ->, found the end"),
        ("int8[2] =", "int9[2] =", "int9"),
        ("{\n", "? {\n", "line 2: cannot read"),
    ],
)
def test_wrong_text_is_named(old: str, new: str, reason: str) -> None:
    parse_module(_GOOD)
    with pytest.raises(ValueError, match=reason.replace("?", r"\?")):
        parse_module(_GOOD.replace(old, new))
