"""`[[constant]]` of codegen.toml: what it may say, every mistake at once."""

from pathlib import Path

import pytest

from codegen.cli.config.project_file import settings
from codegen.errors import CodegenError
from codegen.plan.constants.constant_rules import ConstantRule


def test_rules_are_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text(
        '[[constant]]\nmemory = "qspi"\nop = "CONV_2D"\nlarger_than = 4096\n'
        '[[constant]]\nmemory = "flash"\nname = "fc9"\n'
    )
    assert settings(tmp_path).constant_rules == (
        ConstantRule(memory="qspi", op="CONV_2D", larger_than=4096, where="codegen.toml, line 1, constant 1"),
        ConstantRule(memory="flash", name="fc9", where="codegen.toml, line 5, constant 2"),
    )


def test_every_mistake_is_told(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text(
        '[[constant]]\nop = 3\nsize = 1\n[[constant]]\nmemory = ""\nlarger_than = -1\n'
        '[[constant]]\nmemory = "qspi"\nlarger_than = true\n'
    )
    with pytest.raises(CodegenError) as caught:
        settings(tmp_path)
    assert [f"{message.code} {message.where}: {message.text}" for message in caught.value.messages] == [
        "E202 codegen.toml, line 1, constant 1: lacks memory",
        "E202 codegen.toml, line 1, constant 1: op must be a string",
        "E202 codegen.toml, line 1, constant 1: unknown key 'size': known are memory, op, name, larger_than",
        "E202 codegen.toml, line 4, constant 2: memory is empty",
        "E202 codegen.toml, line 4, constant 2: larger_than is -1, which is no size",
        'E202 codegen.toml, line 7, constant 3: larger_than must be a size: 4096, or "4K"',
    ]
    (tmp_path / "codegen.toml").write_text('[constant]\nmemory = "qspi"\n')
    with pytest.raises(CodegenError, match=r"constant must be tables: \[\[constant\]\]"):
        settings(tmp_path)


def test_the_flag_has_a_key_of_its_own(tmp_path: Path) -> None:
    """`constants = "external"` was refused, because the tables had the same name."""
    (tmp_path / "codegen.toml").write_text('constants = "external"\n[[constant]]\nmemory = "qspi"\n')
    found = settings(tmp_path)
    assert found.defaults["constants"] == "external"
    assert [rule.memory for rule in found.constant_rules] == ["qspi"]
