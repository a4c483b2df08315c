"""`[[constants]]` of codegen.toml: what it may say, every mistake at once."""

from pathlib import Path

import pytest

from codegen.cli.config import settings
from codegen.errors import CodegenError
from codegen.plan.constant_rules import ConstantRule


def test_rules_are_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text(
        '[[constants]]\nmemory = "qspi"\nop = "CONV_2D"\nlarger_than = 4096\n'
        '[[constants]]\nmemory = "flash"\nname = "fc9"\n'
    )
    assert settings(tmp_path).constant_rules == (
        ConstantRule(memory="qspi", op="CONV_2D", larger_than=4096, where="codegen.toml, constants 1"),
        ConstantRule(memory="flash", name="fc9", where="codegen.toml, constants 2"),
    )


def test_every_mistake_is_told(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text(
        '[[constants]]\nop = 3\nsize = 1\n[[constants]]\nmemory = ""\nlarger_than = -1\n'
        '[[constants]]\nmemory = "qspi"\nlarger_than = true\n'
    )
    with pytest.raises(CodegenError) as caught:
        settings(tmp_path)
    assert [f"{message.code} {message.where}: {message.text}" for message in caught.value.messages] == [
        "E202 codegen.toml, constants 1: lacks memory",
        "E202 codegen.toml, constants 1: op must be a string",
        "E202 codegen.toml, constants 1: unknown key 'size': known are memory, op, name, larger_than",
        "E202 codegen.toml, constants 2: memory is empty",
        "E202 codegen.toml, constants 2: larger_than is -1, which is no size",
        "E202 codegen.toml, constants 3: larger_than must be an integer",
    ]
    (tmp_path / "codegen.toml").write_text('[constants]\nmemory = "qspi"\n')
    with pytest.raises(CodegenError, match=r"constants must be tables: \[\[constants\]\]"):
        settings(tmp_path)
