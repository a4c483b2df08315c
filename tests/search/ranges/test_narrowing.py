"""What operators demand of sizes: ends are left out, equalities solved, contradictions told."""

from pathlib import Path

import pytest

from codegen.driver.inputs.dims import dims_of, parsed
from codegen.driver.options import Options
from codegen.driver.preparing import sizes_of
from codegen.driver.report.size_gaps import sizes_lines
from codegen.errors import CodegenError
from codegen.ir.formulas import Symbol, open_sizes, text
from codegen.progress import silent
from codegen.search import Sizes, looked_at
from tests.search.ranges.networks import Net, Network, overlapping
from tests.search.ranges.test_ranged import planned


def added(padding: str = "SAME") -> Network:
    """Two inputs; every second frame of the first is added to the frames of the other."""
    net = Net(8)
    first = net.tensor((1, 16, 1, 8), frozenset({1}), "x0")
    other = net.tensor((1, 8 if padding == "SAME" else 7, 1, 8), frozenset({1}), "x1")
    sums = net.add(net.conv(first, 8, (3, 1), (2, 1), padding), net.conv(other, 8, (1, 1)))
    data = net.finish([first, other], [net.conv(sums, 4, (1, 1))])
    symbols = (Symbol(name="T", low=3, high=20), Symbol(name="S", low=3, high=9))
    return Network("added", data, symbols, {(0, 1): "T", (1, 1): "S"})


def possible(network: Network, folder: Path, *dims: str) -> Sizes:
    path = folder / f"{network.name}.tflite"
    path.write_bytes(network.data)
    given = dims_of(path, parsed(dims))
    assert given is not None
    options = Options(reduce=False)
    return looked_at(network.name, sizes_of(path, options, given), silent)[0]


def test_a_window_needs_as_many_frames_as_it_has(tmp_path: Path) -> None:
    program = planned(overlapping(), tmp_path, "host", "x0.1=1..12")
    assert program.ranges is not None
    assert [str(symbol) for symbol in program.ranges.symbols] == ["x0_dim1=3..12"]
    said = 'x0_dim1=1..2 left out: op 3 CONV_2D "v8": a window of 3x3 does not fit an image of 1x4'
    assert program.ranges.narrowed == (said,)
    assert f"          {said}" in list(sizes_lines(program))


def test_of_many_sizes_the_ends_are_found_by_halving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_sizes, "EVERY", 20)
    monkeypatch.setattr(open_sizes, "_RANDOM", 5)
    sizes = possible(overlapping(), tmp_path, "x0.1=1..60")
    assert [str(symbol) for symbol in sizes.symbols] == ["x0_dim1=3..60"]
    assert len(sizes.narrowed) == 1


def test_a_size_that_has_to_fit_another_is_solved(tmp_path: Path) -> None:
    sizes = possible(added(), tmp_path, "x0.1=3..14", "x1.1=3..6")
    assert [str(symbol) for symbol in sizes.symbols] == ["x0_dim1=5..12"]
    assert {place: text(each) for place, each in sizes.axes.items()} == {
        (0, 1): "x0_dim1",
        (1, 1): "(x0_dim1 + 1)/2",
    }
    assert sizes.narrowed[-1].startswith('x1_dim1 is (x0_dim1 + 1)/2: op 2 ADD "v7": shapes')


def test_a_solved_size_is_computed_by_the_firmware(tmp_path: Path) -> None:
    program = planned(added(), tmp_path, "host", "x0.1=5..12", "x1.1=3..6")
    assert program.ranges is not None
    assert [symbol.name for symbol in program.ranges.symbols] == ["x0_dim1"]
    first, other = (str(tensor.type) for tensor in program.signature.inputs)
    assert (first, other) == ("int8[1,x0_dim1,1,8]", "int8[1,(x0_dim1 + 1)/2,1,8]")


def test_a_contradiction_is_told_with_the_operators_that_lead_to_it(tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as caught:
        planned(added("VALID"), tmp_path, "host", "x0.1=5..6", "x1.1=7..9")
    [message] = caught.value.messages
    assert (message.code, message.where) == ("E307", 'op 2 ADD "v7"')
    assert message.text == (
        "x0_dim1=5, x1_dim1=7 is refused: shapes [1, 2, 1, 8] and [1, 7, 1, 8] do not broadcast; it reads "
        "x0 [1, x0_dim1, 1, 8] -> x1 [1, x1_dim1, 1, 8] -> "
        "op 0 CONV_2D [1, (x0_dim1 - 1)/2, 1, 8] -> op 1 CONV_2D [1, x1_dim1, 1, 8]"
    )
    assert message.help == "no size of the range is possible: look at the model's strides and windows"


def test_an_upper_end_that_nothing_imports_is_told_at_once(tmp_path: Path) -> None:
    """`--dim x0.1=10..100000000` looked for the largest size that is imported, and at all up to there: it
    gave no answer in 19 minutes."""
    with pytest.raises(CodegenError) as caught:
        planned(added("VALID"), tmp_path, "host", "x0.1=10..100000000", "x1.1=5..9")
    message = caught.value.messages[0]
    assert (message.code, message.where) == ("E305", 'op 0 CONV_2D "v4"')
    assert message.text.startswith(
        "at x0_dim1=100000000, x1_dim1=9: an image of 49,999,999 x 1 pixels, up to "
    )
    assert message.help is not None
    assert message.help.startswith("give --dim a smaller upper end; or give a model of smaller images")


def test_what_is_no_end_and_no_equality_is_told(tmp_path: Path) -> None:
    """Where one frame is broadcast, any number of the others will do: no formula says which sizes fit."""
    with pytest.raises(CodegenError) as caught:
        possible(added(), tmp_path, "x0.1=1..6", "x1.1=3..4")
    [message] = caught.value.messages
    assert message.code == "E307"
    assert message.text.startswith("x0_dim1=3, x1_dim1=3 is refused: shapes [1, 2, 1, 8] and [1, 3, 1, 8]")
    assert message.help == "what is possible lies in --dim x0_dim1=1..6 --dim x1_dim1=3..4"
