"""What rendering gives beside C text: lists of files, the test link's tables, build files, refusals."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codegen.board import load_board
from codegen.driver.build import plan_model
from codegen.driver.options import Options
from codegen.emit import render, write
from codegen.emit.values.model_data import constant_views
from codegen.importers.tflite.writing.writer import ModelBuilder
from codegen.joint import together
from codegen.kernels.call import CStruct, ValueArg
from codegen.program.constants import ConstantMember, ConstantPart, ConstantPool
from codegen.program.interface import EntryMode, Interface, IoMode
from tests.emit import samples
from tests.emit.compiling import call, compile_all, run_main
from tests.emit.variants import changed


def test_a_build_is_identified_by_all_that_is_linked_not_by_its_model() -> None:
    """A board held another build of the same model (other `--optimize`, other entry): the model's hash was
    the same, and figures of the wrong binary were reported."""
    counter = samples.counter(board=samples.ARM)
    first = render(together([counter]), "-O2", "gcc 12 -mcpu=cortex-m4")
    others = [
        render(together([counter]), "-O3", "gcc 12 -mcpu=cortex-m4"),
        render(together([counter]), "-O2", "gcc 14 -mcpu=cortex-m4"),
        render(together([replace(counter, interface=Interface(entry=EntryMode.STEPS))]), "-O2", "gcc 12"),
        render(together([counter, samples.mixed(board=samples.ARM)]), "-O2", "gcc 12 -mcpu=cortex-m4"),
    ]
    found = [sources.build_sha256 for sources in (first, *others)]
    assert len(set(found)) == len(found)
    again = render(together([counter]), "-O2", "gcc 12 -mcpu=cortex-m4")
    assert again.build_sha256 == first.build_sha256 and again.files == first.files
    told = re.findall(r"0x([0-9a-f]{2})", first.files["firmware/bench_build.c"])
    assert "".join(told) == first.build_sha256
    assert "firmware/bench_build.c" in first.c_files


def test_only_used_kernels_and_the_headers_they_need_are_copied() -> None:
    sources = render(together([samples.counter()]))
    assert {path for path in sources.files if not path.startswith("firmware/")} == {
        *("counter.c", "counter.h", "counter_data.c", "counter_data.h", "counter_kernels.c"),
        *("counter_kernels.h", "cg_runtime.h", "CMakeLists.txt", "LICENSE"),
    }
    assert sources.files.keys() >= {"firmware/cg_bench.h"}
    chapters = re.findall(r"^ \* (\w+) -- (?!generated)", sources.files["counter_kernels.c"], re.MULTILINE)
    assert {"concat", "lut_s8", "mean_s8"} <= set(chapters)
    assert sources.model_files == ("counter.c", "counter_data.c", "counter_kernels.c")
    assert set(sources.c_files) - set(sources.model_files) == {
        *("firmware/counter_bench.c", "firmware/bench_build.c", "firmware/bench_models.c")
    }
    assert sources.linker_script is None and sources.include_dirs == (".", "firmware")


BENCH_MAIN = """
#include <stdio.h>
#include <string.h>
#include "cg_bench.h"
#include "counter.h"
#include "counter_data.h"
int main(void)
{
    const cg_bench_model *const m = cg_bench_models[0];
    printf("%s %u %02x%02x\\n", m->name, cg_bench_model_count, m->sha256[0], m->sha256[31]);
    for (unsigned i = 0; i < m->pool_count; i++) {
        const cg_bench_pool *const p = &m->pools[i];
        printf("%s %u %u %u\\n", p->name, p->size_bytes, p->peak_bytes, p->guard_bytes);
    }
    for (unsigned i = 0; i < m->live_count; i++) {
        printf("%u/%u:%u+%u ", m->live[i].step, m->live[i].pool, m->live[i].offset, m->live[i].size_bytes);
    }
    printf("\\n%d %d\\n", m->inputs[0].data == counter_input_x(), m->outputs[0].data == counter_output_sum());
    memset(m->inputs[0].data, 5, m->inputs[0].size_bytes);
    printf("%d ", (int)m->run());
    printf("%d\\n", ((const int8_t *)m->outputs[0].data)[3]);
    for (unsigned i = 0; i < m->step_count; i++) {
        const cg_bench_step *const s = &m->steps[i];
        const uint8_t *const base = m->pools[0].base;
        const int offset = (s->data == NULL) ? -1 : (int)((const uint8_t *)s->data - base);
        printf("%s %d %u\\n", s->name, offset, s->size_bytes);
    }
    return 0;
}
"""


def test_the_test_link_knows_pools_steps_and_live_bytes(tmp_path: Path) -> None:
    """By the offsets in samples.py: x, lut0 at 8, lut1 at 12, concat2 at 16, mean4 at 8, workspace in ccm.
    Step 3 is a view: nothing runs in it."""
    sources = render(together([samples.counter()]))
    write(sources, tmp_path / "out")
    firmware = tuple(path for path in sources.c_files if path.startswith("firmware/"))
    both = replace(sources, model_files=(*sources.model_files, *firmware))
    assert run_main(both, tmp_path / "out", BENCH_MAIN).splitlines() == [
        "counter 1 00ff",
        "sram 24 24 32",
        "ccm 16 16 32",
        "0/0:8+4 1/0:8+8 2/0:8+16 4/0:8+4 4/0:16+8 4/1:0+16 ",
        "1 1",
        "0 8",
        *("lut0 8 4", "lut1 12 4", "concat2 16 8", "reshape3 -1 0", "mean4 8 4"),
    ]


def test_headers_say_when_an_inputs_bytes_are_lost() -> None:
    header = render(together([samples.counter()])).files["counter.h"]
    assert " *   x: overwritten from step 0 (lut0) on\n" in header
    header = render(together([samples.mixed(io=IoMode.POOL)])).files["mixed.h"]
    assert " *   double_: overwritten from step 3 (quantize3) on\n" in header
    assert " *   int8_t_: nothing overwrites it\n" in header


def test_headers_say_when_an_input_is_replaced(tmp_path: Path) -> None:
    """A depthwise step that writes over the graph input in its place is the first to do so."""
    model = ModelBuilder()
    x, y = (model.tensor(name, (1, 6, 6, 4), "int8", scale=0.5) for name in "xy")
    w = model.tensor("w", (1, 3, 3, 4), "int8", scale=0.1, data=np.ones((1, 3, 3, 4), np.int8))
    model.op("DEPTHWISE_CONV_2D", [x, w, None], [y], padding="SAME")
    model.inputs(x)
    model.outputs(y)
    path = tmp_path / "net.tflite"
    path.write_bytes(model.build())
    program = plan_model(path, load_board("host"), Options(board="host", optimize="size")).program
    assert [prim.in_place for prim in program.steps.prim_funcs] == [0]
    assert " *   x: overwritten from step 0 (dw0) on\n" in render(together([program])).files["net.h"]


def test_equal_parameters_are_there_once(tmp_path: Path) -> None:
    """Two layers of one kind and size had a struct each, equal in every byte."""
    model = ModelBuilder()
    inputs = [model.tensor(name, (1, 4, 4, 2), "int8", scale=0.5) for name in "abc"]
    outputs = [model.tensor(f"of_{name}", (1, 2, 2, 2), "int8", scale=0.5) for name in "abc"]
    for x, y, wide, stride in zip(inputs, outputs, (2, 2, 3), (2, 2, 1), strict=True):
        sizes: dict[str, Any] = {"filter_width": wide, "filter_height": 2, "stride_w": stride, "stride_h": 2}
        model.op("MAX_POOL_2D", [x], [y], padding="VALID", **sizes)
    model.inputs(*inputs)
    model.outputs(*outputs)
    (tmp_path / "net.tflite").write_bytes(model.build())
    program = plan_model(tmp_path / "net.tflite", load_board("host"), Options(board="host")).program
    sources = render(together([program]))
    defined = re.findall(r"static const cg_pool\w* (\w+) = ", sources.files["net.c"])
    called = re.findall(r"cg_max_pool2d_s8\(&(\w+),", sources.files["net.c"])
    assert len(defined) == 2 and len(called) == 3 and set(called) == set(defined)
    told = re.findall(r"parameters[\s*]+equal[\s*]+(\w+)", sources.files["net.c"])
    assert told == [name for name in defined if called.count(name) == 2]
    assert not re.search(r"pad_top|pad_left", sources.files["net.c"])  # 0, as C sets it without a word
    write(sources, tmp_path / "out")
    main = """
#include <stdio.h>
#include "net.h"
int main(void)
{
    int8_t in[32], of[3][8];
    for (int i = 0; i < 32; i++) {
        in[i] = (int8_t)i;
    }
    const cg_status status = net_run(&(net_inputs){in, in, in}, &(net_outputs){of[0], of[1], of[2]});
    printf("%d %d %d %d\\n", (int)status, of[0][0], of[1][7], of[2][2]);
    return 0;
}
"""
    # 4x4x2 counted up from 0: the largest of rows and columns 0 and 1 is 10, of the last four 31; 3 wide, of
    # columns 1 to 3, 14.
    assert run_main(sources, tmp_path / "out", main) == "0 10 31 14\n"


def test_an_input_that_says_so_is_not_called_input_twice() -> None:
    """`serving_default_input_1` gave `model_input_input_1()`."""
    once = render(together([samples.counter(field="input_1")])).files["counter.h"]
    assert "int8_t *counter_input_1(void);" in once and "input_input" not in once
    bare = render(together([samples.counter(field="input")])).files["counter.h"]
    assert "int8_t *counter_input(void);" in bare
    program = samples.mixed(io=IoMode.POOL)
    first, second = program.signature.inputs
    both = changed(program, "signature", inputs=(replace(first, field="b"), replace(second, field="input_b")))
    header = render(together([both])).files["mixed.h"]
    assert "*mixed_input_b(void)" in header and "*mixed_input_input_b(void)" in header


def test_padding_shows_in_the_layout() -> None:
    pool = _pool(("small", 0, np.array([1], np.int8)), ("word", 4, np.array([1], np.int32)), size_bytes=12)
    program = samples.counter()
    program = changed(program, "constants", pools=(*program.constants.pools, replace(pool, name="qspi")))
    header = render(together([program])).files["counter_data.h"]
    assert re.search(r"uint8_t padding_001\[3\]; +/\* 0x001 \*/", header)
    assert re.search(r"uint8_t padding_008\[4\]; +/\* 0x008 \*/", header)


def test_merged_constants_show_in_the_layout() -> None:
    header = render(together([samples.counter()])).files["counter_data.h"]
    assert re.search(r"int8_t lut0_table\[256\]; +/\* 0x008  shared: lut0, lut1 \*/", header)
    assert " * Equal constants were merged, which saved 256 bytes.\n" in header


def _pool(*members: tuple[str, int, np.ndarray], size_bytes: int = 64) -> ConstantPool:
    return ConstantPool(
        name="flash",
        region="FLASH",
        section=".rodata.cg.flash",
        alignment=16,
        size_bytes=size_bytes,
        members=tuple(
            ConstantMember(
                name=name,
                offset=offset,
                data=data,
                alignment=1,
                parts=(
                    ConstantPart(user=(name, "w"), offset_bytes=0, size_bytes=data.nbytes, dtype=data.dtype),
                ),
            )
            for name, offset, data in members
        ),
        merged_bytes=0,
    )


def test_every_element_type_and_gap_compiles_where_it_was_planned(tmp_path: Path) -> None:
    limits = np.array([-(2**31), 2**31 - 1, 0], np.int32)
    floats = np.array([0.1, -0.0, np.inf, -np.inf, np.nan, 1e-45], np.float32)
    wide = np.array([-(2**63), 2**63 - 1], np.int64)
    pool = _pool(
        ("small", 0, np.array([-128, 127, 0], np.int8)),
        ("odd", 5, np.array([255], np.uint8)),
        ("limits", 8, limits),
        ("floats", 24, floats),
        ("wide", 48, wide),
        ("packed", 64, np.array([2**32 - 1], np.uint32)),
        ("halves", 70, np.array([-32768], np.int16)),
        size_bytes=80,
    )
    program = changed(
        samples.counter("typed"), "constants", pools=(*samples.counter("typed").constants.pools, pool)
    )
    # Two constant pools of one name would clash; this one is called otherwise.
    program = changed(program, "constants", pools=(program.constants.pools[0], replace(pool, name="qspi")))
    sources = render(together([program]))
    write(sources, tmp_path / "out")
    compile_all(sources, tmp_path / "out", ("gcc",))
    main = """
#include <stdio.h>
#include "typed_data.h"
int main(void)
{
    const typed_qspi_pool_layout *const p = &typed_qspi_pool;
    printf("%d %d %d %lld %u %d %d", p->limits[0], p->small[0], p->odd[0], (long long)p->wide[0],
           p->packed[0], p->halves[0], p->floats[5] > 0.0f);
    return 0;
}
"""
    printed = run_main(sources, tmp_path / "out", main)
    assert printed == "-2147483648 -128 255 -9223372036854775808 4294967295 -32768 1"


@pytest.mark.parametrize(
    ("pool", "text"),
    [
        (_pool(("a", 0, np.zeros(8, np.int8)), ("b", 4, np.zeros(1, np.int8))), "overlaps or is misaligned"),
        (_pool(("a", 2, np.zeros(1, np.int32))), "overlaps or is misaligned"),
        (_pool(("a", 0, np.zeros(65, np.int8))), "members end at 65"),
        (_pool(("a", 0, np.zeros(1, np.int8)), ("a", 1, np.zeros(1, np.int8))), "two of one name"),
        (_pool(), "no members"),
    ],
)
def test_layouts_that_no_struct_can_have_are_refused(pool: ConstantPool, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        constant_views(together([changed(samples.counter(), "constants", pools=(pool,))]))


def test_a_pool_and_constants_in_one_memory_do_not_clash(tmp_path: Path) -> None:
    program = samples.counter()
    constants = tuple(replace(pool, name="sram") for pool in program.constants.pools)
    sources = render(together([changed(program, "constants", pools=constants)]))
    write(sources, tmp_path / "out")
    compile_all(sources, tmp_path / "out", ("gcc",))
    assert "COUNTER_SRAM_CONSTANTS_POOL_SIZE" in sources.files["counter.h"]


def test_what_cannot_stand_in_one_folder_is_refused() -> None:
    counter = samples.counter()
    with pytest.raises(ValueError, match="same C prefix"):
        render(together([counter, counter]))
    with pytest.raises(ValueError, match="nothing to render"):
        render(together(()))
    other = replace(samples.mixed(), board=replace(samples.HOST, name="other"))
    with pytest.raises(ValueError, match="several boards"):
        render(together([counter, other]))


def test_what_c_cannot_express_is_refused() -> None:
    counter = samples.counter()
    odd = CStruct(suffix="odd", c_type="cg_odd", fields=(("text", "no string"),))
    first = replace(counter.steps.prim_funcs[0], structs=(odd,))
    with pytest.raises(ValueError, match="'no string' has no form in C"):
        render(together([counter.running((first, *counter.steps.prim_funcs[1:]))]))
    mixed = samples.mixed()
    third = replace(mixed.steps.prim_funcs[2], call_args=(ValueArg(index=1),))
    with pytest.raises(ValueError, match="argument 1 is constant"):
        render(together([mixed.running((*mixed.steps.prim_funcs[:2], third, mixed.steps.prim_funcs[3]))]))
    with pytest.raises(ValueError, match="without outputs"):
        render(together([changed(counter, "signature", outputs=())]))


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_builds_the_folder_alone(tmp_path: Path) -> None:
    """`test` and `all` are names that CMake keeps for itself."""
    write(render(together([samples.counter("test"), samples.mixed("all")])), tmp_path / "out")
    call(["cmake", "-S", "out", "-B", "build"], tmp_path)
    call(["cmake", "--build", "build"], tmp_path)
    built = {path.name for path in (tmp_path / "build").glob("*.a")}
    assert built == {"libtest_model.a", "liball_model.a", "libtest_model_shared.a", "libtest_model_runtime.a"}


@pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("arm-none-eabi-gcc") is None, reason="tools are missing"
)
@pytest.mark.thorough
def test_cmake_builds_the_firmware_with_the_toolchain_file(tmp_path: Path) -> None:
    sources = render(together([samples.counter(board=samples.ARM), samples.mixed(board=samples.ARM)]))
    assert sources.linker_script == "firmware/link.ld"
    write(sources, tmp_path / "out")
    call(["cmake", "-S", "out", "-B", "build", "-DCMAKE_TOOLCHAIN_FILE=toolchain.cmake"], tmp_path)
    call(["cmake", "--build", "build"], tmp_path)
    symbols = call(["arm-none-eabi-nm", "-S", "build/firmware.elf"], tmp_path)
    # counter plans 24 and 16 bytes, mixed 60 of sram.
    assert re.search(r"^2000\w{4} 0000003c [bB] models_sram_pool$", symbols, re.MULTILINE)
    assert re.search(r"^1000\w{4} 00000010 [bB] models_ccm_pool$", symbols, re.MULTILINE)
    assert re.search(r"^0800\w{4} \w{8} [rR] models_flash_pool$", symbols, re.MULTILINE)


@pytest.mark.parametrize("emulated", [True, False])
def test_inputs_are_kept_in_memory_that_the_emulator_has(emulated: bool) -> None:
    """An image of 62 kB was kept behind the pools of the widest memory, which QEMU lacked: a BusFault at its
    first byte."""
    regions = tuple(
        region if region.name == samples.ARM.data_region else replace(region, emulated=emulated)
        for region in samples.ARM.regions
    )
    board = replace(samples.ARM, regions=regions)
    script = render(together([samples.counter(board=board)])).files["firmware/link.ld"]
    chosen = script.split("__cg__free_start", 1)[1]
    assert ("__cg_ccm_guard_end" in chosen) == emulated


def test_a_model_without_pools_and_constants_computes(tmp_path: Path) -> None:
    sources = render(together([samples.bare()]))
    write(sources, tmp_path / "out")
    main = """
#include <stdio.h>
#include "bare.h"
int main(void)
{
    const float x[4] = {-1.0f, 2.5f, 6.0f, 7.0f};
    float y[4];
    const bare_inputs inputs = {.x = x};
    const bare_outputs outputs = {.y = y};
    const cg_status status = bare_run(&inputs, &outputs);
    printf("%.1f %.1f %.1f %.1f", (double)y[0], (double)y[1], (double)y[2], (double)y[3]);
    return (int)status;
}
"""
    assert run_main(sources, tmp_path / "out", main) == "0.0 2.5 6.0 6.0"
    assert "This model has no constants" in sources.files["bare_data.h"]
    assert "none: no pools, no constants" in sources.files["bare.h"]
