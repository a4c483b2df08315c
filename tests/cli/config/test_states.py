"""`[[state]]` of codegen.toml: what is declared, and every mistake at once."""

from pathlib import Path

import pytest

from codegen.cli.config.project_file import settings
from codegen.errors import CodegenError
from codegen.ir.rules.states import StateRule


def _read(folder: Path, text: str) -> tuple[StateRule, ...]:
    (folder / "codegen.toml").write_text(text)
    return settings(folder).states


def test_states(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        '[[state]]\ninput = "past/in"\noutput = "past/out"\n'
        '[[state]]\ninput = "h"\noutput = "h_new"\nmodel = "kws"\n',
    )
    assert found == (
        StateRule(who="codegen.toml, line 1, state 1", input="past/in", output="past/out"),
        StateRule(who="codegen.toml, line 4, state 2", input="h", output="h_new", model="kws"),
    )
    assert [state.spelled for state in found] == [
        "state:input=past/in:output=past/out",
        "state:model=kws:input=h:output=h_new",
    ]


def test_every_mistake_at_once(tmp_path: Path) -> None:
    text = '[[state]]\ninput = "a"\n[[state]]\ninput = 3\noutput = ""\nvalue = 0\n[[state]]\nmodel = true\n'
    with pytest.raises(CodegenError) as caught:
        _read(tmp_path, text)
    assert [f"{message.code} {message.where}: {message.text}" for message in caught.value.messages] == [
        "E202 codegen.toml, line 1, state 1: needs output",
        "E202 codegen.toml, line 3, state 2: unknown key 'value': known keys are input, output, model",
        "E202 codegen.toml, line 3, state 2: input must be a string",
        "E202 codegen.toml, line 3, state 2: output must be a string",
        "E202 codegen.toml, line 7, state 3: model must be a string",
        "E202 codegen.toml, line 7, state 3: needs input",
        "E202 codegen.toml, line 7, state 3: needs output",
    ]


def test_state_is_tables(tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as caught:
        _read(tmp_path, '[state]\ninput = "a"\noutput = "b"\n')
    assert [message.text for message in caught.value.messages] == ["state must be tables: [[state]]"]
