"""Concurrent models that do not fit are planned again within less; what cannot fit is named."""

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.cli.case_files import by_model
from codegen.driver.build import Share, build, plan_model
from codegen.driver.checks.fit import PoolsTooSmall, telling
from codegen.driver.inputs.planned import Planned
from codegen.driver.joining import check_groups, joined, of_model
from codegen.driver.options import Options
from codegen.errors import CodegenError, Message
from codegen.ir import VirtualDevice
from codegen.ir.rules import Place
from codegen.joint import Groups
from codegen.problem.shortage import DoesNotFit
from codegen.program.interface import ConstantsMode, Interface, PoolOwner
from tests.networks import model_path

FILES = {
    "kws": model_path("ds_cnn"),
    "speech": model_path("speech"),
}
GROUPS = (("kws", "speech"),)


@functools.cache
def _joined(
    limit: int | None, groups: Groups = GROUPS, least: int = 0
) -> tuple[dict[str, int], dict[str, int]]:
    """Peaks of both models by themselves and after they were put together within `limit` bytes. By themselves
    they may have `least` bytes."""
    limits = {} if limit is None else {"sram": limit, "psram": 0}
    options = Options(board="mps2-an386", concurrent=groups, pool_limits=limits)
    board = load_board(options.board)

    def planned(name: str, limits: Mapping[str, int]) -> Planned:
        return plan_model(FILES[name], board, options, share=Share(name=name, limits=limits))

    before = [planned(name, {"sram": max(limit or 0, least)} if least else {}) for name in FILES]
    after, bundle = joined(tuple(FILES), options, planned)
    assert [pool.name for pool in bundle.pools] == ["sram"]
    return _peaks(before), _peaks(after)


def _peaks(models: list[Planned] | tuple[Planned, ...]) -> dict[str, int]:
    return {one.program.name: one.program.memory.peak_bytes("sram") for one in models}


def test_models_are_planned_again_within_what_is_left() -> None:
    alone, free = _joined(None)
    assert free == alone
    total = sum(alone.values())
    before, after = _joined(total - 200)
    assert before == alone
    largest = max(alone, key=lambda name: alone[name])
    assert after[largest] < alone[largest]  # it gives way first
    assert sum(after.values()) <= total - 200


@functools.cache
def _short(limit: int, groups: Groups = GROUPS) -> tuple[Message, int]:
    """The message for both models within `limit` bytes, and the limit that it offers."""
    with pytest.raises(PoolsTooSmall) as caught, telling():
        _joined(limit, groups, least=20_000)
    [message] = caught.value.messages
    [short] = caught.value.shortages
    assert short.budget_bytes is not None and f"--pool sram={short.budget_bytes}" in str(message.help)
    return message, short.budget_bytes


@pytest.mark.parametrize("limit", [pytest.param(9_000, marks=pytest.mark.thorough), 5_000, 100])
@pytest.mark.sampled(1)
def test_a_set_that_cannot_fit_is_named_and_what_is_offered_is_accepted(limit: int) -> None:
    """Where one model of the set missed the limit by itself, the set was not named, and --pool with that
    model's bytes was offered, which the set does not fit. Where both had been planned again, the message
    named bytes that were refused when tried, with yet another figure."""
    message, offered = _short(limit)
    assert (message.code, message.where) == ("E401", "pool sram, kws and speech")
    small = {name: int(size) for size, _, name in map(str.split, message.text.splitlines()[1:3])}
    assert set(small) == {"kws", "speech"}
    assert message.text.splitlines()[0] == (
        f"lacks {offered - limit} bytes for models that are concurrent: together they need {offered} bytes, "
        f"the limit is {limit}"
    )
    assert str(message.help) == (
        f"try --pool sram={offered}, models that take turns (leave one out of --concurrent), a board with "
        "more bytes, smaller models"
    )
    # One begins where the other ends, at a multiple of the pool's alignment.
    assert sum(small.values()) <= offered < sum(small.values()) + 16
    _, after = _joined(offered, least=20_000)
    assert after == small
    assert _short(offered - 1)[1] == offered


def test_models_that_take_turns_are_offered_what_the_largest_needs() -> None:
    """The first model's bytes were offered, and then the second one missed them."""
    message, offered = _short(100, groups=())
    assert message.where == "pool sram, kws"
    assert f"the smallest budget for which plans of all models were found is {offered} bytes" in message.text
    _, after = _joined(offered, groups=(), least=20_000)
    assert after["kws"] == offered > after["speech"]


def test_a_model_that_needs_none_of_a_pool_is_not_named_for_it(tmp_path: Path) -> None:
    """`0 bytes hello_world_int8` was told of a pool that one model of the set alone is too large for."""
    files = [model_path("speech"), model_path("dense_chain")]
    names = tuple(path.stem for path in files)
    limits = {"dtcm": 1024, "sram": 1024, "bram": 0, "ddr": 0}
    options = Options(board="mps3-an547", stage="off", pool_limits=limits, concurrent=(names,))
    with pytest.raises(PoolsTooSmall) as caught:
        build(files, options, tmp_path / "out")
    for short in caught.value.shortages:
        assert all(size for _, size in short.models)
        assert short.budget_bytes is not None
    offered = {short.pool.name: short.budget_bytes or 0 for short in caught.value.shortages}
    build(files, replace(options, pool_limits={**limits, **offered}), tmp_path / "out")


def test_a_model_that_is_short_is_named(tmp_path: Path) -> None:
    """E401 of one model of several left its name out where nothing better could be said of all of them."""
    files = [model_path("speech"), model_path("dense_chain")]
    board, options = load_board("host"), Options(board="host", pool_limits={"sram": 100})

    def planned(name: str, limits: Mapping[str, int]) -> Planned:
        del limits
        with of_model(name):
            return plan_model(files[0], board, options, share=Share(name=name))

    with pytest.raises(PoolsTooSmall) as alone, telling(), of_model(None):
        plan_model(files[0], board, options)
    assert [message.where for message in alone.value.messages] == ["pool sram"]
    with pytest.raises(PoolsTooSmall) as caught, telling():
        joined(("speech", "hello"), options, planned)
    assert [message.where for message in caught.value.messages] == ["pool sram, speech"]
    # What is said of it is true of it alone.
    [message] = caught.value.messages
    assert "for which a plan was found" in message.text
    with pytest.raises(PoolsTooSmall) as built:
        build(files, options, tmp_path / "out")
    assert [message.where for message in built.value.messages] == ["pool sram, speech"]


@pytest.mark.parametrize(("groups", "limit", "most"), [((), 100, 5), (GROUPS, 9_000, 10)])
@pytest.mark.sampled(1)
def test_no_model_is_planned_for_limits_that_are_known_to_be_missed(
    groups: Groups, limit: int, most: int
) -> None:
    """E401 of kws and vww took 25 seconds: the least of each was looked for again for every limit."""
    options = Options(board="mps2-an386", concurrent=groups, pool_limits={"sram": limit, "psram": 0})
    board, missed, asked = load_board(options.board), Counter[str](), list[tuple[str, Mapping[str, int]]]()

    def planned(name: str, limits: Mapping[str, int]) -> Planned:
        asked.append((name, dict(limits)))
        try:
            return plan_model(FILES[name], board, options, share=Share(name=name, limits=limits))
        except DoesNotFit:
            missed[name] += 1
            raise

    with pytest.raises(DoesNotFit):
        joined(tuple(FILES), options, planned)
    assert len(asked) <= most
    assert max(missed.values()) == 1


def test_sets_name_models_of_the_build() -> None:
    check_groups((("a", "b"), ("b", "c")), ["a", "b", "c"])
    with pytest.raises(CodegenError) as caught:
        check_groups((("a", "x"), ("b",)), ["a", "b"])
    assert [(m.code, m.where, m.text) for m in caught.value.messages] == [
        ("E255", "--concurrent a,x", "the build has no model x"),
        ("E256", "--concurrent b", "one model by itself is not concurrent to anything"),
    ]


def test_one_model_of_a_project_builds_alone(tmp_path: Path) -> None:
    """codegen.toml may declare sets for all of a project's models."""
    options = Options(board="host", concurrent=(("kws", "other"),))
    built = build([model_path("dense_chain")], options, tmp_path / "out")
    assert built.bundle.is_single


def test_what_is_for_one_model_is_refused_for_more(tmp_path: Path) -> None:
    for interface, where in (
        (Interface(pools=PoolOwner.CALLER), "--pools caller"),
        (Interface(constants=ConstantsMode.EXTERNAL), "--constants external"),
    ):
        options = Options(board="host", interface=interface)
        with pytest.raises(CodegenError) as caught:
            build(list(FILES.values()), options, tmp_path / "out")
        [message] = caught.value.messages
        assert (message.code, message.text) == (
            "E260",
            f"{where}: for one model, not for ds_cnn, speech in one firmware",
        )


def test_arrays_say_which_model_they_are_for() -> None:
    found = by_model("--input", ["a=x.npz:b", "b=dir=1/y.npz"], ["a", "b"])
    assert (found["a"].path, found["a"].prefix) == (Path("x.npz"), "b")
    assert found["b"].path == Path("dir=1/y.npz")
    assert by_model("--input", ["x=1.npz"], ["only"])["only"].path == Path("x=1.npz")
    with pytest.raises(CodegenError) as caught:
        by_model("--expect", ["x.npz", "b=y.npz", "b=z.npz"], ["a", "b"])
    assert [(m.code, m.where, m.text) for m in caught.value.messages] == [
        ("E257", "--expect x.npz", "does not say which model it is for"),
        ("E257", "--expect b=z.npz", "model b has arrays already"),
    ]


def _places(folder: Path, *places: Place) -> None:
    files = [model_path("dense_chain"), model_path("speech")]
    build(files, Options(board="host", places=places), folder / "out")


def _of(op: str, number: int = 1, model: str | None = None) -> Place:
    device = VirtualDevice(memory_scope="sram")
    return Place(who=f"codegen.toml, place {number}", device=device, op=op, model=model)


def test_a_place_of_one_of_several_models(tmp_path: Path) -> None:
    """A rule without `model` failed the build (E241) if any of the models lacked the operator."""
    _places(tmp_path, _of("SOFTMAX"), _of("FULLY_CONNECTED", 2))
    with pytest.raises(CodegenError) as caught:
        _places(tmp_path, _of("LSTM"), _of("SOFTMAX", 2))
    assert [str(message) for message in caught.value.messages] == [
        "error[E241] codegen.toml, place 1: the model has no operator LSTM (dense_chain, "
        "speech)\n"
        "help: dense_chain: it has FULLY_CONNECTED (3), numbered from 0 to 2; speech: "
        "it has RESHAPE (1), DEPTHWISE_CONV_2D (1), FULLY_CONNECTED (1), SOFTMAX (1), numbered from 0 to 3"
    ]


def test_a_place_of_a_named_model_names_it(tmp_path: Path) -> None:
    with pytest.raises(CodegenError) as caught:
        _places(tmp_path, _of("SOFTMAX", model="dense_chain"))
    assert str(caught.value) == (
        "error[E241] dense_chain: codegen.toml, place 1: the model has no operator SOFTMAX\n"
        "help: it has FULLY_CONNECTED (3), numbered from 0 to 2"
    )


def test_a_rejected_model_of_several_is_named(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.tflite"
    damaged.write_bytes(model_path("dense_chain").read_bytes()[:-900])
    with pytest.raises(CodegenError) as caught:
        build([model_path("dense_chain"), damaged], Options(board="host"), tmp_path / "out")
    assert all(str(message.where).startswith("damaged") for message in caught.value.messages)
