"""Concurrent models that do not fit are planned again within less; what cannot fit is named."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from codegen.board import load_board
from codegen.cli.cases import by_model
from codegen.driver.build import build, plan_model
from codegen.driver.joint import check_groups, joined
from codegen.driver.options import Options
from codegen.driver.planned import Planned
from codegen.errors import CodegenError
from codegen.plan.problem import peak_bytes
from codegen.plan.program import ConstantsMode, Interface, PoolOwner
from tests.testdata import model_path

FILES = {
    "kws": model_path("mlperf_tiny/kws_ref_model"),
    "speech": model_path("tflm/micro_speech_quantized"),
}
GROUPS = (("kws", "speech"),)


def _joined(limit: int | None) -> tuple[dict[str, int], dict[str, int]]:
    """Peaks of both models by themselves and after they were put together within `limit` bytes."""
    limits = {} if limit is None else {"sram": limit, "psram": 0}
    options = Options(board="mps2-an386", concurrent=GROUPS, pool_limits=limits)
    board = load_board(options.board)

    def planned(name: str, limits: Mapping[str, int] | None = None) -> Planned:
        return plan_model(FILES[name], board, options, name=name, limits=limits)

    before = [planned(name) for name in FILES]
    after, bundle = joined(before, options, planned)
    assert [pool.name for pool in bundle.pools] == ["sram"]
    return _peaks(before), _peaks(after)


def _peaks(models: list[Planned] | tuple[Planned, ...]) -> dict[str, int]:
    return {one.program.name: peak_bytes(one.program.problem, one.program.plan, "sram") for one in models}


def test_models_are_planned_again_within_what_is_left() -> None:
    alone, free = _joined(None)
    assert free == alone
    total = sum(alone.values())
    before, after = _joined(total - 200)
    assert before == alone
    largest = max(alone, key=lambda name: alone[name])
    assert after[largest] < alone[largest]  # it gives way first
    assert sum(after.values()) <= total - 200


def test_a_set_that_cannot_fit_is_named() -> None:
    with pytest.raises(CodegenError) as caught:
        _joined(9_000)
    [message] = caught.value.messages
    assert (message.code, message.where) == ("E401", "pool sram, kws and speech")
    assert "for models that are concurrent: together they need" in message.text
    assert "the limit is 9000" in message.text
    assert "leave one out of --concurrent" in str(message.help)


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
    built = build([model_path("tflm/hello_world_int8")], options, tmp_path / "out")
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
            f"{where}: for one model, not for kws_ref_model, micro_speech_quantized in one firmware",
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
