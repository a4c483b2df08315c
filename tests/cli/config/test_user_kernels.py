"""`[[kernel]]` of codegen.toml: what is declared, and every mistake at once."""

from pathlib import Path

import pytest

from codegen.cli.options.project_file import settings
from codegen.errors import CodegenError
from codegen.ir.ops import UserKernel


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
        'board = "microbit"\n[[kernel]]\nop = "HARD_SWISH"\nsymbol = "swish"\nsource = "deep/swish.c"\n'
        '[[kernel]]\nop = "my op"\nsymbol = "mine"\nsource = "deep/swish.c"\nworkspace_bytes = 64\n'
        "workspace_alignment = 8\nargument_alignment = 2\nbelow = -3\nabove = 16\n"
    )
    found = settings(tmp_path)
    assert found.defaults == {"board": "microbit"}
    assert found.kernels == (
        UserKernel(op="HARD_SWISH", symbol="swish", source="swish.c", text="int one;\n"),
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
        + good.format("ABS", "")
        + good.format("ABS", "")
        + good.format("NEG", "other/"),
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
        "codegen.toml: two kernels for ABS",
        "codegen.toml: two sources are called good.c",
        "codegen.toml, line 1, key bord: unknown key 'bord'",
    ]
