"""`--window`: mistakes are told, and C that slides gives what the whole network gives."""

from dataclasses import replace
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.inputs.sliding_windows import unflattened, with_window
from codegen.driver.inputs.window_words import GivenWindow, parsed_windows
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.ir import DType, Module, StateValue, ops
from tests.commands import codegen
from tests.networks import model_path
from tests.passes.sliding import Streams, differences

HELP = "for example --window input_1=1 (the axis is found), or --window input_1.1=1 (axis 1 of input_1)"


def told(error: pytest.ExceptionInfo[CodegenError]) -> list[tuple[str, str | None, str, str | None]]:
    return [(each.code, each.where, each.text, each.help) for each in error.value.messages]


def network(*, has_state: bool = False) -> Module:
    net = Streams(0, DType.INT8)
    value = net.conv(net.param("x", net.type(1, 8, 4, 1)), 2, (3, 3))
    if not has_state:
        return net.build([value])
    state = net.param("held", value.type, origin="held")
    result = net.step("ADD", [value, state], ops.BinaryAttrs())
    return net.build(
        [value, result], states=[StateValue(param=1, result=1, initial=bytes(value.type.size_bytes))]
    )


def test_words_that_say_no_window() -> None:
    with pytest.raises(CodegenError) as caught:
        parsed_windows(["x", "x=0", "x.1=2", "y=3"])
    assert told(caught) == [
        ("E224", "--window x", "says no input and number of rows", HELP),
        ("E224", "--window x=0", "says no input and number of rows", HELP),
        ("E224", "--window y=3", "a second window beside --window x.1=2: one input slides", "leave one out"),
    ]


@pytest.mark.parametrize(
    ("word", "text", "help_"),
    [
        ("y=1", "the model has no input y", "its inputs are x"),
        ("x.4=1", "x has no axis 4", "its shape is [1, 8, 4, 1]: axes 0 to 3"),
        (
            "x.1=8",
            "a window that moves by 8 rows a call has to be longer: axis 1 of x has 8",
            "give a smaller number of rows",
        ),
        (
            "x=9",
            "a window that moves by 9 rows a call has to be longer: x is [1, 8, 4, 1]",
            "give a smaller number of rows",
        ),
    ],
)
def test_windows_that_the_model_has_not(word: str, text: str, help_: str) -> None:
    with pytest.raises(CodegenError) as caught:
        with_window(network(), parsed_windows([word])[0])
    assert told(caught) == [("E224", f"--window {word}", text, help_)]


def test_what_cannot_slide() -> None:
    given = GivenWindow(text="x.2=1", name="x", axis=2, step=1)
    with pytest.raises(CodegenError) as caught:
        with_window(network(), given)
    [(code, _, text, _)] = told(caught)
    assert code == "E279" and text.startswith("axis 2 of x is no time axis: ")
    for module, ranged, reason in (
        (network(has_state=True), False, "the model keeps state already (held): "),
        (network(), True, "sizes are known as ranges: "),
    ):
        with pytest.raises(CodegenError) as caught:
            with_window(module, given, has_ranges=ranged)
        [(code, _, text, _)] = told(caught)
        assert code == "E279" and text.startswith(reason)


def test_the_axis_is_found() -> None:
    assert with_window(network(), parsed_windows(["x=1"])[0]).window.axis == 1


def flat_network() -> Module:
    """A file whose input is a list of elements, which it reshapes to rows first."""
    net = Streams(0, DType.INT8)
    flat = net.param("x", net.type(1, 32))
    image = net.step("RESHAPE", [flat], ops.ReshapeAttrs(shape=(1, 8, 4, 1)))
    return net.build([net.conv(image, 2, (3, 3))])


def test_a_flat_input_slides_by_rows_of_its_reshape() -> None:
    """micro_speech: 1,960 elements that are 49 rows of 40. The flat shape has no axis of rows."""
    sliding = with_window(flat_network(), parsed_windows(["x=1"])[0])
    assert (sliding.window.axis, sliding.window.rows) == (1, 8)
    assert sliding.module.main.params[0].type.shape == (1, 1, 4, 1)
    assert sliding.macs < sliding.macs_whole
    assert differences(sliding, sliding.calls + 5) == 0
    assert unflattened(network(), "x") == network()


def test_of_several_models_those_slide_that_have_the_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        model_path("separable_1d"),
        model_path("dense_chain"),
        "--board",
        "host",
        "-o",
        tmp_path,
        "--window",
    ]
    assert codegen("build", *words, "other=1") == 2
    assert (
        "error[E224] --window other=1: no model has an input other\n"
        "help: the models are separable_1d, dense_chain" in capsys.readouterr().err
    )


def test_a_limit_of_ram_takes_state_away() -> None:
    """All state that pays needs more than the pool has: the next smaller one is taken, until it fits."""
    options = Options(
        board="netduinoplus2", optimize="speed", only="sram", windows=parsed_windows(["input_1=1"])
    )
    roomy = plan_model(model_path("ds_cnn"), load_board("netduinoplus2"), options)
    assert roomy.sliding is not None
    limit = roomy.sliding.state_bytes - 1
    tight = plan_model(
        model_path("ds_cnn"), load_board("netduinoplus2"), replace(options, pool_limits={"sram": limit})
    )
    assert tight.sliding is not None
    assert tight.program.memory.peak_bytes("sram") <= limit
    assert tight.sliding.state_bytes < roomy.sliding.state_bytes
    assert roomy.sliding.macs < tight.sliding.macs < tight.sliding.macs_whole


def test_c_that_slides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the host: every full window of a stream against the network that computes it whole.

    It compiles a network of four separable layers, the shape of the streaming wake word."""
    model = model_path("separable_1d")
    assert codegen("run", model, "--board", "host", "--sequence", "--window", "input_1=1") == 0
    said = capsys.readouterr().out
    assert "38 of 38 inferences of one sequence equal" in said
    assert (
        "46,040 of 826,368 multiply-accumulates (5.6 %), 3,960 bytes of state; right from call 30 on" in said
    )
    assert codegen("build", model, "--board", "host", "-o", tmp_path, "--window", "input_1.1=2") == 0
    header = (tmp_path / "separable_1d.h").read_text(encoding="utf-8")
    assert "#define SEPARABLE_1D_READY_CALLS 15u" in header
