"""codegen.toml: known keys become defaults, everything else is explained."""

from pathlib import Path

import pytest

from codegen.cli.options.flags import declared_pools, groups, pool_limits
from codegen.cli.options.project_file import Settings, settings
from codegen.errors import CodegenError


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
        groups(["kws,vww", word])
    assert str(caught.value) == (
        f'error[E255] --concurrent "{word}": the name of a model is empty\n'
        "help: name two or more models, one comma between any two: --concurrent kws,vww"
    )
    assert groups(["kws, vww", "vww,ad", "kws,vww"]) == (("kws", "vww"), ("vww", "ad"))


def test_sets_of_concurrent_models(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text('concurrent = [["kws", "vww"], ["vww", "ad"]]\n')
    assert settings(tmp_path).defaults == {"concurrent": ["kws,vww", "vww,ad"]}
    assert groups(["kws,vww", "vww, ad", "kws,vww"]) == (("kws", "vww"), ("vww", "ad"))
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
