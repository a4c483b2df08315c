"""`run` and `validate` at the sizes of `--dim`, as a user meets them."""

import json
from pathlib import Path

import numpy as np
import pytest

from codegen.cli import main
from tests.e2e.test_sized_state import counting
from tests.importers.onnx.models import model, node
from tests.search.ranges.networks import residual


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


def test_sizes_that_are_ranges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`run` draws what it measured, `validate` looks at every step at every one of the sizes."""
    model = tmp_path / "m.tflite"
    model.write_bytes(residual().data)
    words = (str(model), "--board", "host", "--dim", "T=10..12")
    assert call("run", *words, "--at", "all", "--svg", str(tmp_path / "m.svg")) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:5]]
    assert [row[0] for row in rows] == ["10", "11", "12"]
    drawing = (tmp_path / "m.svg").read_text()
    assert all(f"T={row[0]}: {row[2]} bytes measured" in drawing for row in rows)
    assert call("validate", *words) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()[:1].isdigit()]
    assert table == [["10", "7", "0"], ["12", "7", "0"]]
    assert call("validate", *words, "--at", "T=11", "--json") == 0
    [run] = json.loads(capsys.readouterr().out)["runs_at_sizes"]
    assert (run["at"], run["steps_compared"], run["steps_that_differ"]) == ([11], 7, [])
    assert call("validate", *words, "--input", "x.npz") == 2


def test_several_models_run_at_their_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One has state, which calls of the other, and of other sizes, leave alone. A run of two was refused."""
    one = tmp_path / "residual.tflite"
    one.write_bytes(residual().data)
    config = tmp_path / "c.toml"
    config.write_text('[[state]]\nmodel = "counting"\ninput = "h0"\noutput = "v8"\n')
    words = (str(one), str(counting(tmp_path)), "--board", "host", "--config", str(config))
    words = (*words, "--dim", "x0.1=10..12")
    assert call("run", *words, "--json") == 0
    found = json.loads(capsys.readouterr().out)["models"]
    assert [[run["at"] for run in each["runs_at_sizes"]] for each in found] == [[[10], [12]]] * 2
    for each in found:
        for run in each["runs_at_sizes"]:
            assert run["outputs_equal"] and run["guards_intact"]
            assert all(pool["planned_bytes"] == pool["measured_bytes"] for pool in run["pools"])
    assert [pool["name"] for pool in found[1]["runs_at_sizes"][0]["pools"]] == ["sram", "sram_state"]
    assert call("run", *words, "--svg", str(tmp_path / "m.svg")) == 2
    assert "a picture of 2 models" in capsys.readouterr().err


def open_sizes(*shape: int | str) -> str:
    """A Relu over an input with these extents, written here; names are those of the file."""
    made = model(node("Relu", "x", "y"), x=shape)
    path = Path("open.onnx")
    path.write_bytes(made.SerializeToString())
    x = np.linspace(-2, 2, 37, dtype=np.float32)[None]
    np.savez("arrays.npz", x0=x, y0=np.maximum(x, 0))
    return str(path)


@pytest.mark.parametrize("shape", [(1, "sequence"), ("batch", "sequence")])
@pytest.mark.parametrize("size", ["sequence=37..37", "sequence=37", "x.1=37", "T=37"])
@pytest.mark.sampled(3)
def test_one_size_is_no_range(
    shape: tuple[int | str, ...], size: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--dim T=37..37 --input` was refused by a help that said to write it; `T=37` was not understood."""
    monkeypatch.chdir(tmp_path)
    words = ("--board", "host", "--dim", size, "--input", "arrays.npz", "--expect", "arrays.npz")
    assert call("run", open_sizes(*shape), *words) == 0


def test_refusals_name_the_files_dimensions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = open_sizes("batch", "height", "width")
    assert call("plan", path) == 3
    assert capsys.readouterr().err == (
        'error[E301] graph input 0 "x": has shape [batch, height, width]: '
        "only the first extent may be unknown\n"
        "help: say how large it is: --dim height=37 --dim width=37, or a range: --dim height=10..200\n"
    )
    assert call("plan", path, "--dim", "T=3..37") == 2
    assert capsys.readouterr().err == (
        "error[E282] --dim T=3..37: which size T is does not follow from the file, which leaves open: "
        "x.1 (height), x.2 (width)\n"
        "help: call it as the file does: --dim height=3..37\n"
    )
    assert call("run", open_sizes(1, "sequence"), "--dim", "sequence=3..37", "--input", "arrays.npz") == 2
    assert "help: leave one of them out: one size goes with them all, --dim sequence=37\n" in (
        capsys.readouterr().err
    )
