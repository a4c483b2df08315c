"""Tables of codegen.toml that state rules and pools: what is declared, every mistake at once."""

from pathlib import Path

import pytest

from codegen.cli.options.project_file import Settings, settings
from codegen.errors import CodegenError
from codegen.ir import VirtualDevice
from codegen.ir.rules import Place, StateRule
from codegen.plan.constants.constant_rules import ConstantRule


def _read(folder: Path, text: str) -> Settings:
    (folder / "codegen.toml").write_text(text)
    return settings(folder)


def test_places(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        '[[place]]\ntensor = "a/b"\nmemory = "ccm"\n'
        '[[place]]\nop = 0\nreads = "dtcm"\n'
        '[[place]]\nop = "CONV_2D"\ntarget = "npu"\ndevice_id = 0\nmemory = "sram"\n'
        '[[place]]\ninputs = true\nmemory = "sram"\n'
        '[[place]]\noutputs = true\nmemory = "ccm"\nmodel = "kws"\n',
    ).places
    ccm, sram = VirtualDevice(memory_scope="ccm"), VirtualDevice(memory_scope="sram")
    npu = VirtualDevice(target="npu", device_id=0, memory_scope="sram")
    who = [f"codegen.toml, line {line}, place {number}" for number, line in enumerate((1, 4, 7, 12, 15), 1)]
    assert found == (
        Place(who=who[0], tensor="a/b", device=ccm),
        Place(who=who[1], op=0, device=VirtualDevice(), reads="dtcm"),
        Place(who=who[2], op="CONV_2D", device=npu),
        Place(who=who[3], inputs=True, device=sram),
        Place(who=who[4], outputs=True, device=ccm, model="kws"),
    )
    assert [place.spelled for place in found[1:]] == [
        "place:op=0:reads=dtcm",
        "place:op=CONV_2D:memory=sram:target=npu:device_id=0",
        "place:inputs:memory=sram",
        "place:model=kws:outputs:memory=ccm",
    ]


def test_states(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        '[[state]]\ninput = "past/in"\noutput = "past/out"\n'
        '[[state]]\ninput = "h"\noutput = "h_new"\nmodel = "kws"\n',
    ).states
    assert found == (
        StateRule(who="codegen.toml, line 1, state 1", input="past/in", output="past/out"),
        StateRule(who="codegen.toml, line 4, state 2", input="h", output="h_new", model="kws"),
    )
    assert [state.spelled for state in found] == [
        "state:input=past/in:output=past/out",
        "state:model=kws:input=h:output=h_new",
    ]


def test_constants(tmp_path: Path) -> None:
    """`constants = "external"`, the flag's key, was refused, because the tables had the same name."""
    found = _read(
        tmp_path,
        'constants = "external"\n[[constant]]\nmemory = "qspi"\nop = "CONV_2D"\nlarger_than = 4096\n'
        '[[constant]]\nmemory = "flash"\nname = "fc9"\n',
    )
    assert found.defaults["constants"] == "external"
    assert found.constant_rules == (
        ConstantRule(memory="qspi", op="CONV_2D", larger_than=4096, where="codegen.toml, line 2, constant 1"),
        ConstantRule(memory="flash", name="fc9", where="codegen.toml, line 6, constant 2"),
    )


MISTAKES = {
    "place": (
        "[[place]]\n"
        '[[place]]\nop = -1\ninputs = true\nmemory = ""\n'
        '[[place]]\ninputs = false\nmemory = 3\nwhere = "x"\n'
        '[[place]]\ntensor = "t"\nreads = "sram"\ndevice_id = true\n',
        [
            "line 1, place 1: needs exactly one of tensor, op, inputs, outputs",
            "line 1, place 1: needs at least one of memory, target, device_id, reads",
            "line 3, place 2: op must be an operator: its name, or its number in the file from 0, got -1",
            "line 5, place 2: memory must be a string that is not empty, got ''",
            "line 2, place 2: needs exactly one of tensor, op, inputs, outputs",
            "line 9, place 3: where is no known key",
            "line 8, place 3: memory must be a string that is not empty, got 3",
            "line 7, place 3: inputs must be true",
            "line 13, place 4: device_id must be an integer from 0, got True",
            "line 12, place 4: reads is for operators: it needs op",
        ],
    ),
    "state": (
        '[[state]]\ninput = "a"\n[[state]]\ninput = 3\noutput = ""\nvalue = 0\n[[state]]\nmodel = true\n',
        [
            "line 1, state 1: output is missing",
            "line 6, state 2: value is no known key",
            "line 4, state 2: input must be a string that is not empty, got 3",
            "line 5, state 2: output must be a string that is not empty, got ''",
            "line 7, state 3: input is missing",
            "line 7, state 3: output is missing",
            "line 8, state 3: model must be a string that is not empty, got True",
        ],
    ),
    "constant": (
        '[[constant]]\nop = 3\nsize = 1\n[[constant]]\nmemory = ""\nlarger_than = -1\n'
        '[[constant]]\nmemory = "qspi"\nlarger_than = true\n',
        [
            "line 3, constant 1: size is no known key",
            "line 1, constant 1: memory is missing",
            "line 2, constant 1: op must be a string that is not empty, got 3",
            "line 5, constant 2: memory must be a string that is not empty, got ''",
            'line 6, constant 2: larger_than must be a size: 4096, 0x1000 or "4K", got -1',
            'line 9, constant 3: larger_than must be a size: 4096, 0x1000 or "4K", got True',
        ],
    ),
    "pool": (
        '[[pool]]\nsize = "32KB"\nadress = 3\n[[pool]]\nname = "x"\nsize = 1\naddress = "0x10"\n',
        [
            "line 3, pool 1: adress is no known key",
            "line 1, pool 1: name is missing",
            "line 2, pool 1: size must be a size: 4096, 0x1000 or \"4K\", got '32KB'",
        ],
    ),
}


@pytest.mark.parametrize("key", MISTAKES)
def test_every_mistake_at_once(key: str, tmp_path: Path) -> None:
    text, expected = MISTAKES[key]
    with pytest.raises(CodegenError) as caught:
        _read(tmp_path, text)
    told = [f"{message.code} {message.where}: {message.text}" for message in caught.value.messages]
    assert told == [f"E202 codegen.toml, {each}" for each in expected]


@pytest.mark.parametrize("value", ["{} = 3\n", '[{}]\nop = "ABS"\n', "{} = [3]\n"])
@pytest.mark.parametrize("key", ["place", "state", "constant", "kernel"])
def test_they_are_tables(key: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as caught:
        _read(tmp_path, value.format(key))
    (message,) = caught.value.messages
    assert str(message).startswith(f"error[E202] codegen.toml, line 1: {key} must be tables: [[{key}]]")
