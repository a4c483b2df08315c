"""Verbs as a user meets them: output, exit codes, messages; never a traceback for a user's mistake."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from codegen import resources
from codegen.cli import main
from codegen.driver.inputs.files import example_model
from tests.checkout import ROOT
from tests.networks import golden, model_path


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CODEGEN_BOARD", "CODEGEN_PLANNER", "CODEGEN_POOL", "CODEGEN_IO"):
        monkeypatch.delenv(name, raising=False)


def test_run_without_a_model_is_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("run", "--board", "host") == 0
    out = capsys.readouterr().out
    assert "200 of 200 cases equal to the NumPy reference" in out
    assert "accuracy  target     195 of 200" in out


def test_build_writes_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("build", str(model_path("dense_chain")), "--board", "host", "-o", "made") == 0
    names = {path.name for path in Path("made").iterdir()}
    assert {"dense_chain.c", "dense_chain.h", "CMakeLists.txt", "report.json"} <= names
    report = json.loads(Path("made/report.json").read_text())
    assert report["schema"] == 1
    assert report["model"]["macs"] == 288
    assert "written   made/" in capsys.readouterr().out


@pytest.mark.qemu
def test_run_counts_the_instructions_of_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    """run --json once left them null: only `validate` traced."""
    assert call("run", str(example_model()), "--board", "mps2-an386", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    counted = [step["instructions"] for step in document["steps"] if step["macs"]]
    assert counted and all(counted)
    total = sum(step["instructions"] or 0 for step in document["steps"])
    assert abs(total - document["run"]["instructions"]) < 0.02 * total


def test_run_json_is_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_path("ds_cnn")
    arrays = tmp_path / "ds_cnn.npz"
    np.savez(arrays, allow_pickle=False, **golden("ds_cnn"))
    words = [
        "run",
        str(model),
        "--board",
        "host",
        "--json",
        "--input",
        f"{arrays}:b",
        "--expect",
        f"{arrays}:b",
    ]
    assert call(*words) == 0
    document = json.loads(capsys.readouterr().out)
    (pool,) = document["plan"]["pools"]
    assert document["run"]["pools"] == [{"name": "sram", "peak_bytes": pool["peak_bytes"]}]
    assert document["run"]["outputs"][0]["matches"] is True
    assert {"model", "board", "plan", "constants", "elf", "steps", "run"} <= set(document)
    assert document["model"]["macs"] == 2656768


def test_wrong_expectation_is_exit_7(capsys: pytest.CaptureFixture[str]) -> None:
    model = str(model_path("dense_chain"))
    np.savez("x.npz", x0=np.array([[5]], np.int8))
    np.savez("y.npz", y0=np.array([[127]], np.int8))
    assert call("run", model, "--board", "host", "--input", "x.npz", "--expect", "y.npz") == 7
    err = capsys.readouterr().err
    assert "error[E701] case x.npz, output" in err
    assert "1 of 1 elements differ, first at 0" in err


def test_validate_compares_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("validate", str(model_path("ds_cnn")), "--board", "host") == 0
    out = capsys.readouterr().out
    assert out.count("equal") >= 12
    assert "op 0 CONV_2D" in out


def test_plan_needs_no_toolchain(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert call("plan", str(model_path("ds_cnn"))) == 0
    assert "<- peak" in capsys.readouterr().out


def test_plan_says_what_running_steps_twice_costs(capsys: pytest.CaptureFixture[str]) -> None:
    model = str(model_path("resnet8"))
    Path("codegen.toml").write_text('no-blocks = true\nsharing = "in-place"\n')
    assert call("plan", model, "--board", "host") == 0
    out = capsys.readouterr().out
    assert "49,152" in out
    assert "\nwork      12,501,632 multiply-accumulates, none extra; every value whole\n" in out
    assert call("plan", model, "--board", "host", "--optimize", "size") == 0
    out = capsys.readouterr().out
    assert "35,840" in out
    # The first convolution: 32 * 32 * 16 results of 3 * 3 * 3 products.
    line = "12,944,000 multiply-accumulates, 442,368 (3.5 %) beyond the model's own; one step twice\n"
    assert f"\nwork      {line}" in out


def test_plan_of_a_problem_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.csv").write_text("id,lower,upper,size\na,0,2,10\nb,1,3,20\nc,2,4,10\n")
    assert call("plan", "p.csv", "--json") == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert (plan["peak_bytes"], plan["lower_bound_bytes"], plan["proved_optimal"]) == (30, 30, True)


def test_environment_and_file_give_defaults(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Command line > environment > codegen.toml."""
    Path("codegen.toml").write_text('board = "nowhere"\nplanner = "greedy_by_size"\n')
    monkeypatch.setenv("CODEGEN_BOARD", "host")
    assert call("plan", str(example_model()), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["board"]["name"] == "host"
    assert document["plan"]["planner"] == "greedy_by_size"
    assert call("plan", str(example_model()), "--json", "--planner", "hill_climb") == 0
    assert json.loads(capsys.readouterr().out)["plan"]["planner"] == "hill_climb"


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["run", "--board", "stm23"], 2, "error[E250] there is no board 'stm23'"),
        (["run", "--sandbox"], 2, "error[E253] netduinoplus2: cannot sandbox a run: its core has no memory"),
        (
            ["run", "--board", "host", "--sandbox"],
            2,
            "mps3-an547 or qemu-virt-rv32, or leave --san",
        ),
        (["build", "none.tflite"], 2, "error[E204] no file none.tflite"),
        (["build", "emtpy.tflite"], 2, "help: did you mean empty.tflite? give the path of a .tflite or"),
        (["build", "full"], 2, "error[E204] full is a folder\nhelp: give the path of a .tflite or .onnx"),
        (["plan", "full"], 2, " give the path of a .tflite or .onnx file, or of a problem (.csv, .json)\n"),
        (["plan", "EXAMPLE", "--svg", "x.png"], 2, "error[E206] --svg x.png: the picture is SVG, no .png\n"),
        (["build", "--bord", "x"], 2, "error[E201]"),
        (["frobnicate"], 2, "error[E201]"),
        (["plan", "EXAMPLE", "--planner", "hillclimb"], 2, "error[E210] planner hillclimb"),
        (["plan", "EXAMPLE", "--board", "host", "--pool", "tcm=4"], 2, "error[E215] host has no pool tcm"),
        (["plan", "EXAMPLE", "--board", "host", "--pool", "sram=100"], 4, "error[E401] pool sram: lacks "),
        (["plan", "empty.tflite"], 3, "error[E300]"),
        (["plan", "p.csv"], 2, "error[E212]"),
        (["run", "--board", "host", "--input", "p.csv"], 2, "error[E220] p.csv: cannot read arrays"),
        (["build", "EXAMPLE", "EXAMPLE", "--board", "host"], 2, "error[E205] two models are called digits"),
        (["build", "EXAMPLE", "--board", "host", "-o", "full"], 2, "error[E230]"),
    ],
)
def test_mistakes(words: list[str], code: int, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.tflite").write_bytes(b"")
    Path("p.csv").write_text("what,is,this\n")
    Path("full").mkdir()
    Path("full/precious.txt").write_text("mine")
    words = [str(example_model()) if word == "EXAMPLE" else word for word in words]
    assert call(*words) == code
    captured = capsys.readouterr()
    assert text in captured.err
    assert "Traceback" not in captured.err
    assert Path("full/precious.txt").read_text() == "mine"


def test_a_message_of_several_lines_has_one_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The second line of a text was once printed as its help."""
    assert call("plan", str(example_model()), "--board", "host", "--pool", "sram=100") == 4
    lines = capsys.readouterr().err.splitlines()
    assert lines[1].strip().startswith("most is alive at step op ")
    assert [line for line in lines if line.startswith("help")] == [lines[-1]]


def test_json_failure_is_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("plan", str(example_model()), "--board", "host", "--pool", "sram=100", "--json") == 4
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert document["error"]["exit"] == 4
    assert document["error"]["messages"][0]["code"] == "E401"
    (short,) = document["error"]["shortages"]
    assert (short["pool"], short["limit_bytes"]) == ("sram", 100)
    assert short["missing_bytes"] == short["needed_bytes"] - 100
    assert short["peak_step"].startswith("op ")
    assert all(buffer["size_bytes"] > 0 for buffer in short["alive"])
    budget = short["smallest_budget_bytes"]
    assert call("plan", str(example_model()), "--board", "host", "--pool", f"sram={budget}", "--json") == 0
    assert json.loads(capsys.readouterr().out)["plan"]["peak_bytes"] <= budget


def test_a_bare_problem_that_does_not_fit_names_its_smallest_budget(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("p.csv").write_text("id,lower,upper,size\na,0,2,10\nb,1,3,20\nc,2,4,10\n")
    assert call("plan", "p.csv", "--pool", "ram=25") == 4
    assert capsys.readouterr().err.splitlines() == [
        "error[E401] pool ram: lacks 5 bytes: the best plan found needs 30 bytes, the limit is 25",
        "  most is alive at time 1:",
        "           20 bytes  b (activation)",
        "           10 bytes  a (activation)",
        "  these buffers need at least 30 bytes in any plan",
        "  the smallest budget for which a plan was found is 30 bytes",
        "help: try --pool ram=30, a board with that many bytes, a smaller model",
    ]
    assert call("plan", "p.csv", "--pool", "ram=30", "-q") == 0


def test_a_failed_build_leaves_the_old_folder_alone(capsys: pytest.CaptureFixture[str]) -> None:
    model = str(example_model())
    assert call("build", model, "--board", "host", "-o", "made") == 0
    before = {path: path.read_bytes() for path in sorted(Path("made").rglob("*")) if path.is_file()}
    assert call("build", model, "--board", "host", "-o", "made", "--pool", "sram=100") == 4
    assert {path: path.read_bytes() for path in sorted(Path("made").rglob("*")) if path.is_file()} == before
    capsys.readouterr()
    assert not [path for path in Path().iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("verb", ["boards", "ops", "planners", "doctor"])
def test_telling_verbs(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(verb) in (0, 5)
    assert capsys.readouterr().out.strip()
    assert call(verb, "--json") in (0, 5)
    assert json.loads(capsys.readouterr().out)["schema"] == 1


def test_ops_lists_all_that_is_imported(capsys: pytest.CaptureFixture[str]) -> None:
    """SQUEEZE, PADV2, SPLIT and others, which become another operator, were missing."""
    assert call("ops", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["imported_as"]["SPLIT"] == "STRIDED_SLICE" and document["imported_as"]["ADD"] == "ADD"
    assert document["ops"].keys() == document["imported_as"].keys()
    assert document["ops"]["SQUEEZE"] == document["ops"]["RESHAPE"] == ["reshape_view"]
    assert call("ops") == 0
    assert "as RESHAPE: reshape_view" in capsys.readouterr().out


def test_ops_lists_each_onnx_node_type_that_imports(capsys: pytest.CaptureFixture[str]) -> None:
    """Gelu, Celu and others, which import as ONNX's own functions, were missing; all stood in one line."""
    assert call("ops", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    imported = {*document["onnx"], *document["onnx_functions"]}
    with (ROOT / "benchmarks" / "results" / "onnx_nodes.csv").open() as file:
        passing = {row["operator"] for row in csv.DictReader(file) if row["result"] == "passes"}
    assert passing - {"function"} <= {name.rpartition(".")[2] for name in imported}
    assert {name.rpartition(".")[2] for name in document["onnx_functions"]} <= passing
    assert {"Gelu", "Celu", "Loop", "SequenceAt", "If"} <= imported
    assert not {"Bernoulli", "SequenceMap", "NonMaxSuppression"} & imported
    assert call("ops") == 0
    listed = capsys.readouterr().out.partition("ONNX node types")[2]
    assert all(len(line) <= 80 for line in listed.splitlines())
    words = set(listed.replace(",", " ").split())
    assert imported <= words


def test_boards_are_listed_by_how_they_run_and_in_detail(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("boards") == 0
    listed = capsys.readouterr().out
    assert all(len(line.rstrip()) <= 80 for line in listed.splitlines())
    qemu, host, built_only = (
        listed.index(text) for text in ("run on QEMU", "run on this machine", "built only")
    )
    assert qemu < listed.index("STM32F405RG, stm32") < host < built_only < listed.index("nucleo-h743zi")
    assert call("boards", "nucleo-h743zi") == 0
    told = capsys.readouterr().out
    for text in ("480 MHz", "0x38000000", "pool sram4", "untested", "pyocd, openocd, probe-rs", "RM0433"):
        assert text in told
    assert call("boards", "nucleo-h743zi", "--json") == 0
    (board,) = json.loads(capsys.readouterr().out)["boards"]
    assert board["runner"] == "none" and board["port"]["untested"] and board["rated_clock_hz"] == 480_000_000
    axi = board["regions"][1]
    assert (axi["name"], axi["cacheable"], axi["dma"], axi["retained"]) == ("AXI", True, True, False)
    assert [cache["kind"] for cache in board["caches"]] == ["instruction", "data"]
    assert call("boards", "nucleo-h743") == 2
    assert "did you mean nucleo-h743zi?" in capsys.readouterr().err


def test_boards_tells_of_a_file_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    text = (resources.folder("boards") / "nucleo-g071rb.toml").read_text()
    path.write_text(text.replace('name = "nucleo-g071rb"', 'name = "mine"'))
    assert call("boards", str(path)) == 0
    assert "board       mine" in capsys.readouterr().out
    path.write_text(text.replace("size_bytes = 36_864", "size_bytes = 36.5"))
    assert call("boards", str(path)) == 2
    number = 1 + next(index for index, line in enumerate(text.splitlines()) if "36_864" in line)
    assert f"error[E252] mine.toml:{number}: regions[0].size_bytes: must be a size" in capsys.readouterr().err


NOT_EMULATED = "QEMU does not emulate this board ({}): it can be built for, not run"
NO_DRIVER = "there is no driver for its UART, so its firmware could not answer on any port"
ON_QEMU = "boards on QEMU "
REAL = "--port PORT runs it on the real board; "
BUILDS = "`codegen build` works for it"


@pytest.mark.parametrize(
    ("board", "port", "code", "text", "advice"),
    [
        (
            *("nucleo-h743zi", None, "E609", NOT_EMULATED.format("cortex-m7")),
            f"{ON_QEMU}with this core: mps2-an500; {REAL}{BUILDS}",
        ),
        (
            *("ek-ra8m1", None, "E609", NOT_EMULATED.format("cortex-m85")),
            f"{ON_QEMU}whose core (cortex-m55) runs this code: mps3-an547; {BUILDS}",
        ),
        (
            *("rpi-pico", None, "E609", NOT_EMULATED.format("cortex-m0plus")),
            f"{ON_QEMU}whose core (cortex-m0) runs this code: microbit; {REAL}{BUILDS}",
        ),
        (
            *("nrf5340-dk", "loop://", "E608", NO_DRIVER),
            f"{BUILDS}; `codegen boards` says which boards have a port; with "
            'uart.driver = "rtt" in a board file of your own a debugger carries it (docs/boards.md)',
        ),
    ],
)
def test_a_board_that_cannot_be_reached_is_refused_before_anything_is_built(
    board: str, port: str | None, code: str, text: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--board", board, *(["--port", port] if port else [])]
    for words in (["run", "-o", "made"], ["validate", str(example_model())]):
        assert call(*words, *flags) == 6
        told = capsys.readouterr().err.splitlines()
        assert told == [f"error[{code}] {board}: {text}", f"help: {advice}"]
    assert not Path("made").exists()


def test_plan_of_a_problem_with_several_pools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two buffers of 8 at once, room for one in the fast pool: the one that is read more often stays."""
    two = {"start": 0, "stop": 1, "size_bytes": 8, "pool_candidates": ["slow", "fast"]}
    document = {
        "schema": 1,
        "buffers": [{"id": "a", "reads": 2, **two}, {"id": "b", "reads": 9, **two}],
        "conflicts": [{"first": "a", "second": "b", "first_below": 8, "second_below": 8}],
        "pools": [
            {"name": "slow", "region": "S", "limit_bytes": 100, "read_cost": 4, "write_cost": 4},
            {"name": "fast", "region": "F", "limit_bytes": 12},
        ],
    }
    path = tmp_path / "two.json"
    path.write_text(json.dumps(document))
    assert call("plan", str(path), "--planner", "optimal", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["in_pools"] == {"a": "slow", "b": "fast"}
    # a: 8 * (2 * 4 + 4); b: 8 * (9 + 1).
    assert (found["plan"]["access_cost"], found["plan"]["access_cost_bound"]) == (176, 176)
    assert [pool["peak_bytes"] for pool in found["plan"]["pools"]] == [8, 8]
    assert found["plan"]["proved_optimal"] and found["plan"]["peak_bytes"] == 16
    assert call("plan", str(path), "--planner", "optimal") == 0
    text = capsys.readouterr().out
    assert "pool fast: peak 8 bytes, lower bound 8" in text
    assert "access 176 weighted byte accesses an inference; no choice of pools costs less" in text
    assert call("plan", str(path), "--planner", "greedy_by_size") == 0
    # It knows only what everything would cost in the fast pool: 8 * 3 + 8 * 10.
    assert "no choice costs less than 104" in capsys.readouterr().out
