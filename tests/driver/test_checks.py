"""Constants beside code of which only the linker knows how large it is.
An image is held against plan and board before it runs.
What cannot be called as asked for is refused, with the flag that asked.
`--lock`: a build whose figures changed is refused, and says which.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codegen.board import load_board
from codegen.driver.build import Built, build, plan_model
from codegen.driver.checks.calling import check_interface, check_port, check_rules, stage_mode
from codegen.driver.checks.fit import LinkedTooLarge, beside_code
from codegen.driver.checks.image_checks import check_stack_budget, short_stacks
from codegen.driver.inputs.models import GivenNames
from codegen.driver.options import Options
from codegen.errors import CodegenError, ExitCode, Message
from codegen.ir.rules import ConstantRule
from codegen.joint import together
from codegen.program.image import ElfSizes, Image
from codegen.program.interface import ConstantsMode, Interface, IoMode, PoolOwner
from codegen.program.program import Bundle, Program
from codegen.toolchain import RegionsTooSmall
from tests.driver.test_inputs import cli, tiny
from tests.emit import samples
from tests.emit.variants import on_core_1
from tests.networks import model_path

BOARD = load_board("mps2-an386")
LACKS = Message(code="E410", where="region FLASH", text="lacks bytes")


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    """`ad01`: 280,912 bytes of constants."""
    path: Path = model_path("autoencoder")
    return together([plan_model(path, BOARD, Options(board=BOARD.name)).program])


class Builds:
    """Builds that lack so many bytes one after the other, of `region`; then one that fits."""

    def __init__(self, bundle: Bundle, *lacking: int, region: str = "FLASH") -> None:
        self.limits: list[Mapping[str, int]] = []
        self._bundle, self._lacking, self._region = bundle, list(lacking), region

    def __call__(self, limits: Mapping[str, int]) -> str:
        self.limits.append(dict(limits))
        if self._lacking:
            missed = RegionsTooSmall([LACKS], {self._region: self._lacking.pop(0)})
            raise LinkedTooLarge(missed, self._bundle)
        return "built"


def test_what_fits_is_built_once(bundle: Bundle) -> None:
    builds = Builds(bundle)
    assert beside_code(builds, BOARD) == "built"
    assert builds.limits == [{}]


def test_constants_shrink_by_what_the_link_lacked(bundle: Bundle) -> None:
    """Twice: what decodes them is code as well."""
    builds = Builds(bundle, 5_000, 200)
    assert beside_code(builds, BOARD) == "built"
    assert builds.limits == [{}, {"flash": 275_912}, {"flash": 280_712}]


def test_it_ends(bundle: Bundle) -> None:
    builds = Builds(bundle, *range(1, 100))
    with pytest.raises(LinkedTooLarge):
        beside_code(builds, BOARD)
    assert len(builds.limits) == 4


@pytest.mark.parametrize(("lacking", "region"), [(280_912, "FLASH"), (100, "SRAM")])
def test_what_constants_cannot_help_is_reported_at_once(lacking: int, region: str, bundle: Bundle) -> None:
    builds = Builds(bundle, lacking, region=region)
    with pytest.raises(LinkedTooLarge):
        beside_code(builds, BOARD)
    assert builds.limits == [{}]


def test_both_reasons_are_told(bundle: Bundle) -> None:
    """The linker's first, then what compression reaches."""
    builds = Builds(bundle, 200_000)

    def build(limits: Mapping[str, int]) -> str:
        if limits:
            raise CodegenError(Message(code="E402", text="compressed as far as it goes"))
        return builds(limits)

    with pytest.raises(CodegenError) as caught:
        beside_code(build, BOARD)
    assert [message.code for message in caught.value.messages] == ["E410", "E402"]
    assert caught.value.exit_code == 4


def _image(bound: int | None, core1: int | None = None) -> Image:
    sizes = ElfSizes(
        text_bytes=0, rodata_bytes=0, data_bytes=0, bss_bytes=0, model_code_bytes=0, stack_bound_bytes=bound,
        core1_stack_bound_bytes=core1,
    )  # fmt: skip
    return Image(path=Path("firmware.elf"), sizes=sizes, symbols={}, sections={}, build_sha256="")


def test_a_stack_that_is_too_short_is_told_before_the_run() -> None:
    board = replace(load_board("netduinoplus2"), stack_bytes=512)
    assert short_stacks(_image(384), board) == short_stacks(_image(None), board) == ()
    (message,) = short_stacks(_image(385), board)
    assert str(message) == (
        "error[E405] stack of netduinoplus2: lacks 1 byte for the test firmware: the model needs up to 385, "
        "the link 128, the board file gives 512; so firmware.elf is left out, the C sources are complete\n"
        "help: to run it, a board file of your own with more stack_bytes and reserved_bytes; --stack BYTES "
        "holds the model against the stack that your application has"
    )


def test_the_stack_of_core_1_is_held_against_its_own_bytes() -> None:
    board = load_board("mps2-an521")
    assert board.second_core is not None
    spare = board.second_core.stack_bytes - 128
    assert short_stacks(_image(384, spare), board) == ()
    (message,) = short_stacks(_image(384, spare + 8), board)
    assert (message.code, message.where) == ("E405", "stack of core 1 of mps2-an521")
    assert message.text.startswith(
        "lacks 8 bytes for the test firmware: its steps need up to 3976, an exception"
    )


def test_the_users_own_budget_of_stack() -> None:
    board = load_board("netduinoplus2")
    check_stack_budget(_image(384), board, 384)
    check_stack_budget(_image(None), board, None)
    with pytest.raises(CodegenError) as caught:
        check_stack_budget(_image(385), board, 384)
    assert str(caught.value).splitlines()[0] == (
        "error[E406] --stack 384: lacks 1 byte: the model needs up to 385 bytes of stack"
    )
    assert caught.value.exit_code == 4
    with pytest.raises(CodegenError, match=r"E277\] --stack: nothing bounds the stack on host"):
        check_stack_budget(_image(None), load_board("host"), 384)


OWNED = Interface(pools=PoolOwner.CALLER, constants=ConstantsMode.EXTERNAL)


def refused(*programs: Program, interface: Interface = OWNED) -> str:
    with pytest.raises(CodegenError) as caught:
        check_interface(together([replace(program, interface=interface) for program in programs]))
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_several_models_share_neither_the_callers_pools_nor_an_image() -> None:
    text = refused(samples.counter(), samples.mixed())
    flags = "--pools caller and --constants external"
    assert text.startswith(f"error[E260] {flags}: for one model, not for counter, mixed in one firmware")
    only = refused(samples.counter(), samples.mixed(), interface=Interface(pools=PoolOwner.CALLER))
    assert only.startswith("error[E260] --pools caller: for one model")


def test_a_model_without_constants_or_pools_has_none_to_hand_over() -> None:
    text = refused(samples.bare())
    assert "error[E261] bare: has no constants to hand over\nhelp: leave out --constants external" in text
    assert "error[E262] bare: uses no pool: everything is the caller's already" in text


def test_what_can_be_called_passes() -> None:
    for program in (samples.counter(), samples.mixed()):
        check_interface(together([replace(program, interface=OWNED)]))
    check_interface(together([samples.counter(), samples.bare()]))


def test_steps_on_core_1_are_of_one_model_at_a_time() -> None:
    split, other = on_core_1(samples.counter(), "lut1", "mean4"), samples.mixed(io=IoMode.POOL)
    check_interface(together([split, other]))
    beside = replace(together([split, other]), concurrent=(("counter", "mixed"),))
    with pytest.raises(CodegenError) as caught:
        check_interface(beside)
    assert str(caught.value) == (
        "error[E248] counter: has steps on core 1, which serves one model at a time, and may run beside "
        "another (--concurrent): lut1, mean4\n"
        "help: leave it out of --concurrent, or its device_id out of codegen.toml"
    )


def test_steps_on_core_1_take_no_rows_from_the_application() -> None:
    options = Options(board="mps2-an521", stream_input=True)
    board = load_board(options.board)
    program = plan_model(model_path("mobilenet_v1"), board, options).program
    check_interface(together([program]))
    [first] = [prim for prim in program.steps.prim_funcs if prim.block is not None and prim.block.streamed]
    with pytest.raises(CodegenError, match=r"E249.*the application's function would be called on core 1"):
        check_interface(together([on_core_1(program, first.let.var.name)]))


def test_a_real_second_core_is_not_run() -> None:
    split = together([on_core_1(samples.counter(), "lut1")])
    check_port(split, None)
    check_port(together([samples.counter()]), "/dev/ttyACM0")
    with pytest.raises(CodegenError, match=r"E608\] host: steps on core 1 run on QEMU only"):
        check_port(split, "/dev/ttyACM0")


def test_copies_of_constants_are_not_left_out_silently() -> None:
    assert stage_mode(Options()) == "auto"
    assert stage_mode(Options(stage="use")) == "use"
    assert stage_mode(Options(interface=OWNED)) == "off"
    assert stage_mode(Options(interface=OWNED, stage="off")) == "off"
    assert stage_mode(Options(interface=OWNED, stage="auto")) == "off"
    with pytest.raises(CodegenError) as caught:
        stage_mode(Options(interface=OWNED, stage="use"))
    assert str(caught.value).startswith(
        "error[E247] --stage use: constants cannot be copied with --pools caller"
    )


def test_a_rule_for_constants_may_be_for_one_of_several_models() -> None:
    programs = [samples.counter(), samples.mixed()]
    first, second = ({prim.name for prim in each.steps.prim_funcs if prim.constants} for each in programs)
    for name in (min(first - second), min(second - first)):
        check_rules([ConstantRule(memory="flash", name=name)], programs)
    with pytest.raises(CodegenError, match=r"E245\] rule 1: applies to no constant: name = 'nothing'"):
        check_rules([ConstantRule(memory="flash", name="nothing", where="rule 1")], programs)


OPTIONS = Options(board="mps2-an386", planner="greedy_by_size")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Built, Path]:
    """A build that wrote its lock, and the lock."""
    folder = tmp_path_factory.mktemp("lock")
    lock = folder / "net.lock"
    options = replace(OPTIONS, lock=lock)
    return build([tiny(folder / "net.tflite")], options, folder / "out"), lock


def again(first: tuple[Built, Path], lock: Path, **changes: Any) -> CodegenError | None:
    """What a build like the first one, into another folder, is refused for."""
    built, _ = first
    folder = lock.parent / "again"
    try:
        build([built.folder.parent / "net.tflite"], replace(OPTIONS, lock=lock, **changes), folder)
    except CodegenError as error:
        assert not folder.exists()
        return error
    return None


def edited(lock: Path, **changes: object) -> str:
    return json.dumps({**json.loads(lock.read_text()), **changes})


def test_the_first_build_writes_the_figures(first: tuple[Built, Path]) -> None:
    built, lock = first
    found: Mapping[str, Any] = json.loads(lock.read_text())
    report: Mapping[str, Any] = json.loads((built.folder / "report.json").read_text())
    assert found["build_sha256"] == report["build"]["sha256"]
    assert found["models"]["net"]["stack_bytes"] == report["elf"]["stack_bound_bytes"] > 0
    assert found["models"]["net"]["sha256"] == report["model"]["sha256"]
    assert found["pools"] == {pool["name"]: pool["size_bytes"] for pool in report["plan"]["pools"]}
    assert found["model_code_bytes"] == report["elf"]["model_code_bytes"]
    header = (built.folder / "net.h").read_text()
    assert f"#define NET_STACK_BYTES {report['elf']['stack_bound_bytes']}u\n" in header
    assert f'#define NET_BUILD_SHA256 "{found["build_sha256"]}"\n' in header
    assert "  net.h\n" in (built.folder / ".codegen").read_text()


def test_a_build_with_the_figures_passes(first: tuple[Built, Path], tmp_path: Path) -> None:
    lock = tmp_path / "net.lock"
    lock.write_bytes(first[1].read_bytes())
    before = lock.stat().st_mtime_ns
    assert again(first, lock) is None
    assert lock.stat().st_mtime_ns == before
    equal = ("net.h", "firmware.elf", "report.json", ".codegen")
    for name in equal:
        assert (tmp_path / "again" / name).read_bytes() == (first[0].folder / name).read_bytes(), name


def test_a_build_of_other_figures_is_refused_with_a_diff(first: tuple[Built, Path], tmp_path: Path) -> None:
    """An update of a kernel raised the memory need of devices in the field, and no build had said a word."""
    lock = tmp_path / "net.lock"
    built, written = first
    pools = {pool.name: pool.size_bytes for pool in built.bundle.pools}
    [name] = pools
    lock.write_text(edited(written, pools={name: pools[name] - 1}, model_code_bytes=1_000_000))
    error = again(first, lock)
    assert error is not None and error.exit_code is ExitCode.FIT
    assert {message.code for message in error.messages} == {"E407"}
    texts = [message.text for message in error.messages]
    assert texts[0] == f"pools.{name}: {pools[name] - 1} -> {pools[name]} (+1)"
    assert re.fullmatch(r"model_code_bytes: 1,000,000 -> \d+ \(-9\d\d,\d\d\d\)", texts[1])
    assert texts[2] == "2 figures changed; nothing was written"
    assert error.messages[-1].help == "if that is meant, delete the file and build again: it is written anew"


def test_other_code_of_equal_sizes_is_refused_too(first: tuple[Built, Path], tmp_path: Path) -> None:
    lock = tmp_path / "net.lock"
    lock.write_text(edited(first[1], build_sha256="0" * 64))
    error = again(first, lock)
    assert error is not None
    texts = [message.text for message in error.messages]
    assert texts == [
        f"build_sha256: {'0' * 64} -> {first[0].image.build_sha256}",
        "no figure changed, what was built did; nothing was written",
    ]


def test_models_that_came_or_went_are_named(first: tuple[Built, Path], tmp_path: Path) -> None:
    lock = tmp_path / "net.lock"
    lock.write_bytes(first[1].read_bytes())
    error = again(first, lock, names=GivenNames(words=("front",)))
    assert error is not None
    texts = [message.text for message in error.messages]
    assert "models.front.steps: none -> 1" in texts and "models.net.steps: 1 -> none" in texts


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is no lock file of codegen"),
        (b"[" * 100_000, "is no lock file of codegen"),
        (b'{"lock": 2}', "is no lock file of codegen"),
        (b'{"lock": true}', "is no lock file of codegen"),
        (b'{"lock": 1, "models": {}, "pools": {"sram": "8K"}}', "is no lock file of codegen"),
        (b" " * 2_000_000, "is no lock file of codegen"),
        (None, "there is no folder"),
    ],
    ids=["empty", "deep", "version", "flag", "pools", "large", "folder"],
)
def test_files_that_are_no_lock_are_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, text: str
) -> None:
    lock = tmp_path / "x.lock" if content is not None else tmp_path / "nowhere" / "x.lock"
    if content is not None:
        lock.write_bytes(content)
    model = str(tiny(tmp_path / "net.tflite"))
    assert cli("build", model, "--lock", str(lock), "-o", str(tmp_path / "out")) == 2
    told = capsys.readouterr().err
    assert "error[E228]" in told and text in told
    assert not (tmp_path / "out").exists()


def test_build_prints_the_stack_and_the_hash(
    first: tuple[Built, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built, written = first
    lock = tmp_path / "net.lock"
    lock.write_bytes(written.read_bytes())
    words = ("build", str(built.folder.parent / "net.tflite"), "--board", "mps2-an386")
    more = ("--planner", "greedy_by_size", "--lock", str(lock), "-o", str(tmp_path / "out"))
    assert cli(*words, *more) == 0
    told = capsys.readouterr().out
    assert f"stack     static bound of a call: net {built.image.sizes.stack_bound_bytes} bytes\n" in told
    assert f"build     sha256 {built.image.build_sha256}\n" in told


def test_what_changed_is_counted_as_it_is_listed_and_is_in_json(
    first: tuple[Built, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`1 figure changed` stood below three lines, and the JSON document had texts only."""
    built, written = first
    [(name, size)] = ((pool.name, pool.size_bytes) for pool in built.bundle.pools)
    lock = tmp_path / "net.lock"
    lock.write_text(edited(written, pools={name: size + 1, "x": 3}, generator="codegen 0.0.1"))
    words = ("build", str(built.folder.parent / "net.tflite"), "--board", "mps2-an386", "--json")
    assert cli(*words, "--planner", "greedy_by_size", "--lock", str(lock), "-o", str(tmp_path / "out")) == 4
    error = json.loads(capsys.readouterr().out)["error"]
    texts = [message["text"] for message in error["messages"]]
    assert len(texts) == 4 and texts[-1] == "2 figures and 1 other entry changed; nothing was written"
    assert error["changes"] == [
        {"name": f"pools.{name}", "before": size + 1, "now": size},
        {"name": "pools.x", "before": 3, "now": None},
        {"name": "generator", "before": "codegen 0.0.1", "now": json.loads(written.read_text())["generator"]},
    ]


def test_a_lock_that_cannot_be_written_is_told_before_the_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was told (E206) when the folder was published already."""
    model = str(tiny(tmp_path / "net.tflite"))
    for lock in ("/proc/net.lock", str(tmp_path / ("x" * 300))):
        assert cli("build", model, "--lock", lock, "-o", str(tmp_path / "out")) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"error[E228] --lock {lock}: cannot be written: ")
        assert "help: name a file in a folder that you may write to" in told
        assert not (tmp_path / "out").exists()
