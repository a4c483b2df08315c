"""codegen.toml: known keys become defaults, everything else is explained."""

from pathlib import Path

import pytest

from codegen.cli.config import Settings, settings
from codegen.cli.flags import groups, pool_limits
from codegen.errors import CodegenError


def test_known_keys_become_defaults_of_every_verb(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text('board = "microbit"\nkeep-inputs = true\n[pool]\nsram = 4096\n')
    found = settings(tmp_path).defaults
    assert found["run"] == {"board": "microbit", "keep_inputs": True, "pool": ["sram=4096"]}
    assert found["plan"] == found["run"]


def test_no_file_no_defaults(tmp_path: Path) -> None:
    assert settings(tmp_path) == Settings()


def test_every_wrong_key_at_once(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text('bord = "x"\nseed = "one"\n')
    with pytest.raises(CodegenError) as caught:
        settings(tmp_path)
    assert [m.text for m in caught.value.messages] == ["unknown key 'bord'", "seed must be an integer"]


def test_not_toml(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text("= 3")
    with pytest.raises(CodegenError, match=r"error\[E202\] codegen.toml: not TOML"):
        settings(tmp_path)


def test_pool_words() -> None:
    assert pool_limits(["sram=10", "ccm=0"]) == {"sram": 10, "ccm": 0}
    with pytest.raises(CodegenError) as caught:
        pool_limits(["sram", "ccm=x", "=3"])
    assert [m.text for m in caught.value.messages] == [
        "--pool sram is not NAME=BYTES",
        "--pool ccm=x is not NAME=BYTES",
        "--pool =3 is not NAME=BYTES",
    ]


def test_sets_of_concurrent_models(tmp_path: Path) -> None:
    (tmp_path / "codegen.toml").write_text('concurrent = [["kws", "vww"], ["vww", "ad"]]\n')
    assert settings(tmp_path).defaults["run"] == {"concurrent": ["kws,vww", "vww,ad"]}
    assert groups(["kws,vww", "vww, ad", "kws,vww"]) == (("kws", "vww"), ("vww", "ad"))
    (tmp_path / "codegen.toml").write_text('concurrent = ["kws", "vww"]\n')
    with pytest.raises(CodegenError, match="concurrent must be a list of lists of model names"):
        settings(tmp_path)
