"""Architectures of Cortex-M: cores, kernel sets, prices."""

from codegen.targets.core_family import Architecture, DecodeCost, KernelSet

FEATURES = frozenset({"dsp", "fpu", "mve", "mvef", "div"})
"""SMLAD, single precision, integer Helium, float Helium, division."""

V6M = KernelSet(folder="v6m", condition="is for cores of ARMv6-M and Cortex-M23")
"""32 bits times 32 bits to 32."""
V7M = KernelSet(
    folder="v7m",
    condition="is for ARMv7-M cores without the DSP extension",
    lacks=frozenset({"dsp"}),
)
DSP = KernelSet(folder="dsp", condition="needs a core with the DSP extension", needs=frozenset({"dsp"}))
"""Two products of 16 bits an instruction."""
ROUNDING_DSP = KernelSet(
    folder="dsp",
    condition="needs a core with the DSP extension and an FPU",
    needs=frozenset({"dsp", "fpu"}),
)
"""Kernels of the DSP extension whose results floats round as ONNX does."""
MVE = KernelSet(folder="mve", condition="needs a core with Helium (MVE)", needs=frozenset({"mve"}))
"""Helium on integers."""
ROUNDING_MVE = KernelSet(
    folder="mve",
    condition="needs a core with Helium (MVE) on integers and floats",
    needs=frozenset({"mve", "mvef"}),
)
"""Kernels of Helium whose results floats round as ONNX does."""
FPU = KernelSet(
    folder="fpu",
    condition="is for cores without float Helium",
    needs=frozenset({"fpu"}),
    lacks=frozenset({"mvef"}),
)
"""Single precision."""
FLOAT_MVE = KernelSet(
    folder="fpu",
    condition="is for cores with float Helium",
    needs=frozenset({"fpu", "mvef"}),
)
"""Helium on floats: the same C as `FPU` around other loops."""

_DECODE_V6M = {
    "speed": DecodeCost(call=30, group=18, byte=29, taking=13),
    "balanced": DecodeCost(call=120, group=11, byte=24, taking=15),
    "size": DecodeCost(call=77, group=15, byte=28, taking=11),
}
_DECODE = {
    "speed": DecodeCost(call=40, group=12, byte=16, taking=5),
    "balanced": DecodeCost(call=40, group=12, byte=16, taking=5),
    "size": DecodeCost(call=45, group=12, byte=17, taking=5),
}
"""With Thumb-2."""

ARCHITECTURES = (
    Architecture(
        name="Armv6-M",
        decode_costs=_DECODE_V6M,
        cpus=frozenset({"cortex-m0", "cortex-m0plus", "cortex-m1"}),
        kernel_sets=(V6M,),
        emulated_as={"cortex-m0plus": "cortex-m0"},
    ),
    Architecture(
        name="Armv8-M Baseline",
        decode_costs=_DECODE_V6M,
        cpus=frozenset({"cortex-m23"}),
        kernel_sets=(V6M,),
    ),
    Architecture(name="Armv7-M", decode_costs=_DECODE, cpus=frozenset({"cortex-m3"}), kernel_sets=(V7M,)),
    Architecture(
        name="Armv7E-M",
        decode_costs=_DECODE,
        cpus=frozenset({"cortex-m4", "cortex-m7"}),
        kernel_sets=(DSP, ROUNDING_DSP, FPU),
        cached_cpus=frozenset({"cortex-m7"}),
    ),
    Architecture(
        name="Armv8-M Mainline",
        decode_costs=_DECODE,
        cpus=frozenset({"cortex-m33", "cortex-m35p"}),
        kernel_sets=(V7M, DSP, ROUNDING_DSP, FPU),
    ),
    Architecture(
        name="Armv8.1-M Mainline",
        decode_costs=_DECODE,
        cpus=frozenset({"cortex-m55", "cortex-m85"}),
        kernel_sets=(DSP, ROUNDING_DSP, MVE, ROUNDING_MVE, FPU, FLOAT_MVE),
        cached_cpus=frozenset({"cortex-m55", "cortex-m85"}),
        emulated_as={"cortex-m85": "cortex-m55"},
    ),
)
