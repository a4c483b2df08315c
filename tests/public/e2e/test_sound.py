"""Sound in, decision out: TFLM's audio front end and three streaming wake words in one firmware.

What an application adds is the C of `docs/guides/two-models.md`; it is run as it stands there. The
reference is tflite-micro, one interpreter a model and sequence.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from codegen import emit, joint, toolchain
from codegen.driver.build import build
from codegen.driver.inputs.cases import pattern_case
from codegen.driver.inputs.models import GivenNames
from codegen.driver.options import Options
from codegen.driver.run import execute
from tests import engines
from tests.checkout import ROOT
from tests.public.testdata import model_path

KEYS = (
    "tflm/audio_preprocessor_int8",
    "wake_word/v2_okay_nabu",
    "wake_word/v2_hey_jarvis",
    "wake_word/v2_vad",
)
NAMES = ("front_end", "okay_nabu", "hey_jarvis", "vad")
TFLM_ARENA_BYTES = 19_268 + 17_492 + 10_052
"""Of the three wake words on a Cortex-M4, each an arena of its own; the front end's comes on top."""
GUIDE = ROOT / "docs" / "guides" / "two-models.md"
NEW, WINDOW, FRAMES, CALLS = 160, 480, 3, 9
SEVERAL, MANY = 4, 1000

RUN = """
static const uint32_t sums[COUNT][CALLS] = {SUMS};
static const uint8_t decisions[COUNT][CALLS / FRAMES][WORDS] = {DECISIONS};

static cg_status run(void)
{
    uint32_t dice = 1;
    CG_BENCH_BEFORE_CALL();
    for (uint32_t i = 0; i < COUNT; i++) {
        begin();
        for (uint32_t call = 0; call < CALLS; call++) {
            int16_t samples[NEW_SAMPLES];
            for (uint32_t k = 0; k < NEW_SAMPLES; k++) {
                dice = dice * 1664525u + 1013904223u;
                samples[k] = (int16_t)(((int32_t)(dice >> 16) - 32768) / (1 << (i % 13u)));
            }
            uint8_t odds[WORDS];
            const cg_status status = hear(samples, odds);
            if (status != CG_OK) {
                return status;
            }
            uint32_t sum = 2166136261u;
            for (uint32_t k = 0; k < sizeof features[0]; k++) {
                sum = (sum ^ (uint8_t)features[call % FRAMES][k]) * 16777619u;
            }
            if (sum != sums[i][call]) {
                return (cg_status)100;
            }
            if ((heard % FRAMES == 0u) && (memcmp(odds, decisions[i][call / FRAMES], WORDS) != 0)) {
                return (cg_status)101;
            }
        }
    }
    CG_BENCH_AFTER_CALL();
    return CG_OK;
}
"""


def _sound(count: int) -> np.ndarray:
    """(sequence, call, sample), loud and soft ones: what the C above draws."""
    dice, drawn = 1, np.empty(count * CALLS * NEW, np.int32)
    for index in range(len(drawn)):
        dice = (dice * 1664525 + 1013904223) & 0xFFFFFFFF
        drawn[index] = (dice >> 16) - 32768
    samples = drawn.reshape(count, CALLS, NEW)
    softer = np.array([1 << (index % 13) for index in range(count)])[:, None, None]
    return (np.sign(samples) * (np.abs(samples) // softer)).astype(np.int16)


def _windows(sound: np.ndarray) -> np.ndarray:
    """The frame of each call of one sequence: its samples behind those before, silence before them."""
    whole = np.concatenate([np.zeros(WINDOW - NEW, np.int16), sound.ravel()])
    return np.stack([whole[call * NEW : call * NEW + WINDOW] for call in range(CALLS)])[:, None]


def _asked(key: str, sequences: list[np.ndarray]) -> np.ndarray:
    """tflite-micro's first output of every inference of every sequence."""
    model = model_path(key).read_bytes()
    requests = [
        engines.Request(
            engine=engines.TFLITE_MICRO,
            model=model,
            inputs=tuple((row,) for row in rows),
            is_sequence=True,
        )
        for rows in sequences
    ]
    answers = engines.evaluate(requests)
    assert not any(answer.error for answer in answers), answers[0].error
    return np.stack([np.stack([row[0] for row in answer.outputs]) for answer in answers])


def _sum(features: np.ndarray) -> int:
    found = 2166136261
    for byte in features.tobytes():
        found = ((found ^ byte) * 16777619) & 0xFFFFFFFF
    return found


def _rows(values: np.ndarray) -> str:
    return re.sub(r"\s", "", str(values.tolist())).replace("[", "{").replace("]", "}")


def _bench(text: str, count: int) -> str:
    """The file that knows the front end, with a run that hears `count` sequences."""
    [application] = re.findall(r"^```c\n(#include.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    features = _asked(KEYS[0], [_windows(each) for each in _sound(count)])
    rows = features.reshape(count, CALLS // FRAMES, 1, FRAMES, -1)
    decisions = [_asked(key, list(rows)).reshape(count, -1) for key in KEYS[1:]]
    sums = np.array([[_sum(call) for call in sequence] for sequence in features], np.uint32)
    head, _, rest = text.partition("static cg_status run(void)")
    _, _, tail = rest.partition("\n}\n")
    run = RUN.replace("{SUMS}", _rows(sums)).replace("{DECISIONS}", _rows(np.stack(decisions, axis=-1)))
    run = run.replace("CALLS", str(CALLS)).replace("COUNT", str(count))
    return head + application + run + tail


@pytest.mark.qemu
@pytest.mark.parametrize("count", [SEVERAL, pytest.param(MANY, marks=pytest.mark.long)])
def test_random_sound_is_heard_as_tflite_micro_hears_it(count: int, tmp_path: Path) -> None:
    """The four models take turns, so state that another one's workspace reached would be seen. Features are
    compared by a sum, decisions byte by byte."""
    options = Options(board="mps2-an386", names=GivenNames(words=NAMES))
    done = build([model_path(key) for key in KEYS], options, tmp_path / "build", emulated=True)
    peaks = {pool.name: pool.size_bytes for pool in done.bundle.pools}
    assert peaks["sram"] == max(program.memory.peak_bytes("sram") for program in done.bundle.programs)
    assert joint.faults(done.bundle) == []
    total, guide = sum(peaks.values()), GUIDE.read_text(encoding="utf-8")
    for figure in (*peaks.values(), total, TFLM_ARENA_BYTES):
        assert f" {figure:,} |" in guide, f"the guide does not say {figure:,}"
    assert 4 * total < TFLM_ARENA_BYTES

    sources, file = emit.render(done.bundle), "firmware/front_end_bench.c"
    files = {**sources.files, file: _bench(sources.files[file], count)}
    with emit.staged(replace(sources, files=files), tmp_path / "heard") as staging:
        image = toolchain.build(replace(sources, files=files), staging, done.board)
    image = replace(image, path=tmp_path / "heard" / image.path.relative_to(staging))
    case = pattern_case([tensor.type for tensor in done.bundle.programs[0].signature.inputs], 0)
    measured = execute(replace(done, image=image, folder=tmp_path / "heard"), [case])
    assert measured.result.cases[0].paints_agree
