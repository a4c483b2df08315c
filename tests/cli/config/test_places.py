"""`[[place]]` of codegen.toml: what is declared, and every mistake at once."""

from pathlib import Path

import pytest

from codegen.cli.config.project_file import settings
from codegen.errors import CodegenError
from codegen.ir import VirtualDevice
from codegen.ir.rules.places import Place


def _read(folder: Path, text: str) -> tuple[Place, ...]:
    (folder / "codegen.toml").write_text(text)
    return settings(folder).places


def test_places(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        '[[place]]\ntensor = "a/b"\nmemory = "ccm"\n'
        '[[place]]\nop = 0\nreads = "dtcm"\n'
        '[[place]]\nop = "CONV_2D"\ntarget = "npu"\ndevice_id = 0\nmemory = "sram"\n'
        '[[place]]\ninputs = true\nmemory = "sram"\n'
        '[[place]]\noutputs = true\nmemory = "ccm"\nmodel = "kws"\n',
    )
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


def test_every_mistake_at_once(tmp_path: Path) -> None:
    text = (
        "[[place]]\n"
        '[[place]]\nop = -1\ninputs = true\nmemory = ""\n'
        '[[place]]\ninputs = false\nmemory = 3\nwhere = "x"\n'
        '[[place]]\ntensor = "t"\nreads = "sram"\ndevice_id = true\n'
    )
    with pytest.raises(CodegenError) as caught:
        _read(tmp_path, text)
    assert {message.code for message in caught.value.messages} == {"E202"}
    assert [f"{message.where}: {message.text}" for message in caught.value.messages] == [
        "codegen.toml, line 1, place 1: needs exactly one of tensor, op, inputs, outputs",
        "codegen.toml, line 1, place 1: needs at least one of memory, target, device_id, reads",
        "codegen.toml, line 2, place 2: op is -1, it counts from 0",
        "codegen.toml, line 2, place 2: memory must be a string",
        "codegen.toml, line 2, place 2: needs exactly one of tensor, op, inputs, outputs",
        "codegen.toml, line 6, place 3: inputs must be true",
        "codegen.toml, line 6, place 3: memory must be a string",
        "codegen.toml, line 6, place 3: unknown key 'where': known keys are tensor, op, inputs, "
        "outputs, memory, target, device_id, reads, model",
        "codegen.toml, line 10, place 4: device_id must be an integer",
        "codegen.toml, line 10, place 4: reads is for operators: it needs op",
    ]


@pytest.mark.parametrize("text", ["place = 3\n", '[place]\nop = "ABS"\n', "place = [3]\n"])
def test_places_are_tables(tmp_path: Path, text: str) -> None:
    with pytest.raises(CodegenError, match=r"E202.* place must be tables: \[\[place\]\]"):
        _read(tmp_path, text)
