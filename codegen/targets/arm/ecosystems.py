"""Names of Cortex-M cores in Arduino, PlatformIO, Zephyr and CMSIS-Packs."""

from codegen.targets.arm.architectures import ARCHITECTURES
from codegen.targets.core_family import Ecosystems

_ARDUINO = "mbed mbed_nano mbed_giga mbed_portenta nrf52 renesas_uno renesas_portenta stm32 samd"
_REGISTERED = "atmelsam nordicnrf52 renesas-ra ststm32 teensy"

ECOSYSTEMS = Ecosystems(
    platforms={
        "mve": ("stm32", "ststm32"),
        "dsp": (_ARDUINO, _REGISTERED),
        "v7m": (f"{_ARDUINO} sam", _REGISTERED),
        "v6m": (f"{_ARDUINO} sam mbed_rp2040 rp2040", f"{_REGISTERED} nordicnrf51 raspberrypi"),
    },
    platformio={
        "cortex-m0": ("nordicnrf51", "bbcmicrobit"),
        "cortex-m0plus": ("ststm32", "nucleo_l053r8"),
        "cortex-m3": ("ststm32", "nucleo_f103rb"),
        "cortex-m4": ("ststm32", "nucleo_f446re"),
        "cortex-m7": ("ststm32", "nucleo_f767zi"),
        "cortex-m33": ("ststm32", "nucleo_u575zi_q"),
    },
    kconfig={
        "dsp": "CPU_CORTEX_M4 || CPU_CORTEX_M7 || ARMV8_M_DSP",
        "fpu": "FPU",
        "mve": "ARMV8_1_M_MVEI",
        "v6m": "CPU_CORTEX_M",
        "v7m": "ARMV7_M_ARMV8_M_MAINLINE",
    },
    cmsis_cores={
        cpu: "Cortex-M" + cpu.removeprefix("cortex-m").replace("plus", "+")
        for architecture in ARCHITECTURES
        for cpu in architecture.cpus
    },
    optional_dsp=frozenset({"cortex-m33"}),
)
