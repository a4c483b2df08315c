"""codegen.toml: known keys become defaults, everything else is explained.
Tables of codegen.toml that state rules and pools: what is declared, every mistake at once.
`[[kernel]]` of codegen.toml: what is declared, and every mistake at once.
"""

from pathlib import Path

import pytest

from codegen.command.flags import declared_pools, groups, pool_limits
from codegen.command.project_file import Settings, settings
from codegen.errors import CodegenError
from codegen.ir import VirtualDevice
from codegen.ir.ops import UserKernel
from codegen.ir.rules import ConstantRule, Place, StateRule


def test_known_keys_become_defaults_of_every_verb(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text('board = "microbit"\nkeep-inputs = true\n[pool]\nsram = 4096\n')
    found = settings(tmp_path).defaults
    assert found == {"board": "microbit", "keep_inputs": True, "pool": ["sram=4096"]}


def test_no_file_no_defaults(tmp_path: Path) -> None:
    assert settings(tmp_path) == Settings()


def test_every_wrong_key_at_once(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text('bord = "x"\nseed = "one"\n')
    with pytest.raises(CodegenError) as caught:
        settings(tmp_path)
    assert [m.text for m in caught.value.messages] == ["unknown key 'bord'", "seed must be an integer"]


def test_not_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codegen.toml").write_text("= 3")
    with pytest.raises(CodegenError, match=r"error\[E202\] codegen.toml: not TOML"):
        settings(tmp_path)


def test_pool_words() -> None:
    assert pool_limits(["sram=10", "ccm=0"]) == {"sram": 10, "ccm": 0}
    with pytest.raises(CodegenError) as caught:
        pool_limits(["sram", "ccm=x", "=3"])
    assert [m.text for m in caught.value.messages] == [
        "--pool sram is not NAME=BYTES",
        "--pool ccm=x is not NAME=BYTES: x is no number of bytes",
        "--pool =3 is not NAME=BYTES",
    ]


def test_sizes_as_people_write_them() -> None:
    """A tester typed `--pool sram=32K`, as in a linker script, and was told that it is not NAME=BYTES."""
    words = {"32768": 32768, "0x8000": 32768, "32K": 32768, "32k": 32768, "32KiB": 32768, "1M": 1048576}
    words |= {"1MiB": 1048576, "0X10k": 16384, "0": 0}
    for word, size in words.items():
        assert pool_limits([f"sram={word}"]) == {"sram": size}, word
    assert declared_pools(["spare=8K@0x20008000"])[0].size_bytes == 8192
    for word in ("32KB", "32 K", "K", "1.5K", "32G", "-1", "8000h", "0x", "32Ki", "32B", "٣"):
        with pytest.raises(CodegenError) as caught:
            pool_limits([f"sram={word}"])
        plain = word.isascii() and word.isalnum()
        assert [str(message) for message in caught.value.messages] == [
            f"error[E203] --pool sram={word} is not NAME=BYTES"
            f"{f': {word} is no number of bytes' if plain else ''}\n"
            "help: for example --pool sram=32K, or --pool spare=8K@0x20008000; bytes as 32768 or 0x8000; the "
            "suffixes are K and KiB (1024), M and MiB (1024 K), as in linker scripts"
        ]


def test_sizes_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "kernel.c").write_text("")
    (tmp_path / "codegen.toml").write_text(
        '[pool]\nsram = "32K"\n[[constant]]\nmemory = "qspi"\nlarger_than = "4KiB"\n'
        '[[kernel]]\nop = "MINE"\nsymbol = "mine"\nsource = "kernel.c"\nworkspace_bytes = "0x100"\n'
    )
    found = settings(tmp_path)
    assert found.defaults == {"pool": ["sram=32768"]}
    assert found.constant_rules[0].larger_than == 4096
    assert found.kernels[0].workspace_bytes == 256


def test_a_pool_has_one_limit() -> None:
    """`--pool sram=20000 --pool sram=10000` took the last one without a word."""
    with pytest.raises(CodegenError) as caught:
        pool_limits(["sram=20000", "ccm=1K", "sram=10K"])
    assert [str(message) for message in caught.value.messages] == [
        "error[E203] --pool sram=20000 and --pool sram=10K: pool sram has 2 limits\n"
        "help: a pool has one limit: leave the one that is meant"
    ]
    # A declared pool may have a limit beside its size.
    assert pool_limits(["spare=8K@0x20008000", "spare=1K"]) == {"spare": 1024}


@pytest.mark.parametrize("word", ["kws,", ",", "", "kws,,vww"])
def test_a_set_with_an_empty_name(word: str) -> None:
    """`the build has no model ` was the text, a blank where a name should be."""
    with pytest.raises(CodegenError) as caught:
        groups(["kws,vww", word], 3)
    assert str(caught.value) == (
        f'error[E255] --concurrent "{word}": the name of a model is empty\n'
        "help: name two or more models, one comma between any two: --concurrent kws,vww"
    )
    assert groups(["kws, vww", "vww,ad", "kws,vww"], 3) == (("kws", "vww"), ("vww", "ad"))


def test_sets_of_concurrent_models(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text('concurrent = [["kws", "vww"], ["vww", "ad"]]\n')
    assert settings(tmp_path).defaults == {"concurrent": ["kws,vww", "vww,ad"]}
    assert groups(["kws,vww", "vww, ad", "kws,vww"], 3) == (("kws", "vww"), ("vww", "ad"))
    (tmp_path / "codegen.toml").write_text('concurrent = ["kws", "vww"]\n')
    with pytest.raises(CodegenError, match="concurrent must be a list of lists of model names"):
        settings(tmp_path)


def test_a_current_folder_that_is_gone_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(CodegenError) as caught:
        settings()
    assert str(caught.value.messages[0]) == (
        "error[E234] the current folder is gone\nhelp: change to a folder that exists"
    )


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
            "line 8, state 3: model must be a string that is not empty, got True",
            "line 7, state 3: needs input and output, or memory, or all three",
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


def _complaints(folder: Path, text: str) -> list[str]:
    (folder / "codegen.toml").write_text(text)
    with pytest.raises(CodegenError) as caught:
        settings(folder)
    assert {message.code for message in caught.value.messages} == {"E202"}
    above = f"{folder}/"  # of messages that name the file from the current folder
    return [f"{message.where}: {message.text}".removeprefix(above) for message in caught.value.messages]


def test_declared_kernels(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "swish.c").write_text("int one;\n")
    (tmp_path / "codegen.toml").write_text(
        'board = "microbit"\n[[kernel]]\nop = "BITWISE_XOR"\nsymbol = "swish"\nsource = "deep/swish.c"\n'
        '[[kernel]]\nop = "my op"\nsymbol = "mine"\nsource = "deep/swish.c"\nworkspace_bytes = 64\n'
        "workspace_alignment = 8\nargument_alignment = 2\nbelow = -3\nabove = 16\n"
    )
    found = settings(tmp_path)
    assert found.defaults == {"board": "microbit"}
    assert found.kernels == (
        UserKernel(op="BITWISE_XOR", symbol="swish", source="swish.c", text="int one;\n"),
        UserKernel(
            op="my op",
            symbol="mine",
            source="swish.c",
            text="int one;\n",
            workspace_bytes=64,
            workspace_alignment=8,
            argument_alignment=2,
            below=-3,
            above=16,
        ),
    )


def test_every_mistake_of_the_file_at_once(tmp_path: Path) -> None:
    (tmp_path / "good.c").write_text("")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "good.c").write_text("int other;\n")
    (tmp_path / "latin.c").write_bytes(b"\xe9")
    good = '[[kernel]]\nop = "{}"\nsymbol = "one"\nsource = "{}good.c"\n'
    found = _complaints(
        tmp_path,
        'bord = "x"\n'
        '[[kernel]]\nop = "CONV_2D"\nsymbol = "cg_one"\nsource = "none.c"\nworkspace = 3\n'
        "[[kernel]]\nop = 3\nworkspace_bytes = -1\nworkspace_alignment = 12\nargument_alignment = 128\n"
        '[[kernel]]\nop = "WHILE"\nsymbol = "int"\nsource = "-o.c"\nbelow = 1.5\nabove = true\n'
        '[[kernel]]\nop = ""\nsymbol = "a b"\nsource = "latin.c"\nworkspace_bytes = "few"\n'
        + good.format("BITWISE_XOR", "")
        + good.format("BITWISE_XOR", "")
        + good.format("SIGN", "other/"),
    )
    assert found == [
        "codegen.toml, line 6, kernel 1 (CONV_2D): workspace is no known key",
        "codegen.toml, line 3, kernel 1 (CONV_2D): CONV_2D has kernels already: declared ones are for "
        "operators that codegen lacks",
        "codegen.toml, line 4, kernel 1 (CONV_2D): symbol cg_one begins with cg_, as names of the runtime do",
        "codegen.toml, line 5, kernel 1 (CONV_2D): cannot read source none.c: No such file or directory",
        "codegen.toml, line 8, kernel 2: op must be a string that is not empty, got 3",
        "codegen.toml, line 7, kernel 2: symbol is missing",
        "codegen.toml, line 7, kernel 2: source is missing",
        'codegen.toml, line 9, kernel 2: workspace_bytes must be a size: 4096, 0x1000 or "4K", got -1',
        "codegen.toml, line 10, kernel 2: workspace_alignment is 12: it must be a power of two up to 64",
        "codegen.toml, line 11, kernel 2: argument_alignment is 128: it must be a power of two up to 64",
        "codegen.toml, line 16, kernel 3 (WHILE): below must be an integer, got 1.5",
        "codegen.toml, line 17, kernel 3 (WHILE): above must be an integer, got True",
        "codegen.toml, line 13, kernel 3 (WHILE): WHILE runs other subgraphs, which no kernel can",
        "codegen.toml, line 14, kernel 3 (WHILE): symbol 'int' is not the name of a C function",
        "codegen.toml, line 15, kernel 3 (WHILE): source '-o.c' is not a .c or .S file with a plain name "
        "(letters, digits, _.-)",
        "codegen.toml, line 19, kernel 4: op must be a string that is not empty, got ''",
        "codegen.toml, line 22, kernel 4: workspace_bytes must be a size: 4096, 0x1000 or \"4K\", got 'few'",
        "codegen.toml, line 20, kernel 4: symbol 'a b' is not the name of a C function",
        "codegen.toml, line 21, kernel 4: source latin.c is not UTF-8 text",
        "codegen.toml, line 28, kernel 6 (BITWISE_XOR): two kernels for BITWISE_XOR",
        "codegen.toml, line 34, kernel 7 (SIGN): two sources are called good.c",
        "codegen.toml, line 1, key bord: unknown key 'bord'",
    ]
