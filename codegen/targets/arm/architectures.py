"""Arm cores: Cortex-M by architecture."""

from functools import partial

from codegen.targets.core_family import CoreFamily, FaultWords, KernelSet

ARM_PREFIX = "arm-none-eabi-"
INSTALL_ARM_GCC = "sudo apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi"
FEATURES = frozenset({"dsp", "fpu", "mve", "mvef", "div"})

V6M = KernelSet(folder="v6m", wanted="is for cores of ARMv6-M and Cortex-M23")
"""32 bits times 32 bits to 32."""
V7M = KernelSet(
    folder="v7m",
    wanted="is for ARMv7-M cores without the DSP extension",
    lacks=frozenset({"dsp"}),
)
DSP = KernelSet(folder="dsp", wanted="needs a core with the DSP extension", needs=frozenset({"dsp"}))
"""Two products of 16 bits an instruction."""
ROUNDING_DSP = KernelSet(
    folder="dsp",
    wanted="needs a core with the DSP extension and an FPU",
    needs=frozenset({"dsp", "fpu"}),
)
"""The same, with results that floats round as ONNX does."""
MVE = KernelSet(folder="mve", wanted="needs a core with Helium (MVE)", needs=frozenset({"mve"}))
"""Helium on integers."""
ROUNDING_MVE = KernelSet(
    folder="mve",
    wanted="needs a core with Helium (MVE) on integers and floats",
    needs=frozenset({"mve", "mvef"}),
)
"""The same, with results that floats round as ONNX does."""
FPU = KernelSet(
    folder="fpu",
    wanted="is for cores without float Helium",
    needs=frozenset({"fpu"}),
    lacks=frozenset({"mvef"}),
)
"""Single precision."""
FLOAT_MVE = KernelSet(
    folder="fpu",
    wanted="is for cores with float Helium",
    needs=frozenset({"fpu", "mvef"}),
)
"""Helium on floats: the same C as `FPU` around other loops."""

EXCEPTIONS = {
    2: "NMI",
    3: "HardFault",
    4: "MemManage fault",
    5: "BusFault",
    6: "UsageFault",
    7: "SecureFault",
}
CFSR_REASONS = {
    0: "code fetched from memory that is closed",
    1: "access to memory that is closed (outside the model's pools and stack, or the step's buffers)",
    3: "closed memory on return from an exception",
    4: "stack overflow (no room for an exception frame)",
    5: "closed memory while floating point state was saved",
    8: "code fetched from memory that does not exist",
    9: "access to memory that does not exist",
    10: "access to memory that does not exist (late)",
    12: "stack overflow (no memory for an exception frame)",
    16: "undefined instruction",
    17: "jump to an address without the Thumb bit",
    18: "bad exception return",
    19: "coprocessor or floating point unit that is off",
    20: "stack overflow (below the stack's limit)",
    24: "unaligned access",
    25: "division by zero",
}
"""Bits of CFSR. Source: Armv7-M and Armv8-M architecture reference manuals, B3.2.15 and D1.2.39."""
FAULTS = FaultWords(exceptions=EXCEPTIONS, reasons=CFSR_REASONS)

_family = partial(
    CoreFamily,
    folder="arm",
    features=FEATURES,
    compiler_prefix=ARM_PREFIX,
    faults=FAULTS,
)

FAMILIES = (
    _family(
        name="Armv6-M",
        cpus=frozenset({"cortex-m0", "cortex-m0plus", "cortex-m1"}),
        kernel_sets=(V6M,),
        has_long_multiply=False,
        has_system_control=False,
        emulated_as={"cortex-m0plus": "cortex-m0"},
    ),
    _family(
        name="Armv8-M Baseline",
        cpus=frozenset({"cortex-m23"}),
        kernel_sets=(V6M,),
        has_long_multiply=False,
    ),
    _family(name="Armv7-M", cpus=frozenset({"cortex-m3"}), kernel_sets=(V7M,)),
    _family(
        name="Armv7E-M",
        cpus=frozenset({"cortex-m4", "cortex-m7"}),
        kernel_sets=(DSP, ROUNDING_DSP, FPU),
        cached_cpus=frozenset({"cortex-m7"}),
    ),
    _family(
        name="Armv8-M Mainline",
        cpus=frozenset({"cortex-m33", "cortex-m35p"}),
        kernel_sets=(V7M, DSP, ROUNDING_DSP, FPU),
    ),
    _family(
        name="Armv8.1-M Mainline",
        cpus=frozenset({"cortex-m55", "cortex-m85"}),
        kernel_sets=(DSP, ROUNDING_DSP, MVE, ROUNDING_MVE, FPU, FLOAT_MVE),
        cached_cpus=frozenset({"cortex-m55", "cortex-m85"}),
        emulated_as={"cortex-m85": "cortex-m55"},
    ),
)
