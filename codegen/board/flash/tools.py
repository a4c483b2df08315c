"""The table of flash tools: how each is asked to load a file and to reset a board, and how to get it.

Words of a command: `{elf}`, `{uf2}`, `{hex}`, `{bin}` and `{script}` are files, `{objcopy}` is the program
of the board's compiler, `{address}` is where the code begins. `<name>` stands for the words that name the
part or the board, `<probe>` for those that choose the probe, none without `--probe`, `<drive>` for the
folder where the boot loader's USB drive is mounted. Where the words are from: decision 064.
"""

from collections.abc import Mapping
from dataclasses import dataclass

Words = tuple[str, ...]
NAME, PROBE, DRIVE = "<name>", "<probe>", "<drive>"

OBJCOPY = "{objcopy}"
_HEX: Words = (OBJCOPY, "-O", "ihex", "{elf}", "{hex}")
_BIN: Words = (OBJCOPY, "-O", "binary", "{elf}", "{bin}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scripts:
    """Lines of the file `{script}` in commands."""

    load: Words = ()
    reset: Words = ()


NO_SCRIPTS = Scripts()


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """One program. Commands run one after the other, until one fails."""

    name: str
    """Name in `flash_tool` and `--tool`."""
    program: str
    key: str
    """Key of the board file's [flash] that names the part, or is true where the tool finds it itself."""
    name_words: Words = ()
    """How a name is said, for each word of it: `{name}`."""
    probe_words: Words = ()
    """How a probe is said: `{probe}`; none where the tool takes none."""
    usb_probe: bool = False
    """It knows a probe by `VID:PID` or `VID:PID:SERIAL`, not by the serial number alone."""
    load: tuple[Words, ...]
    """Commands that write firmware.elf and start it."""
    reset: tuple[Words, ...]
    """Commands that reset; none where the tool cannot."""
    scripts: Scripts = NO_SCRIPTS
    probes: str
    """The command that lists the probes it sees."""
    install: str
    """How to get it."""
    needs_drive: bool = False
    """It copies onto the USB drive that the board's boot loader shows: it is there while that is mounted."""


_STM32_CUBE = ("STM32_Programmer_CLI", "-c", "port=SWD", PROBE)
_JLINK: Words = (
    "JLinkExe", "-NoGui", "1", "-ExitOnError", "1", PROBE, NAME, "-if", "SWD", "-speed", "4000",
    "-autoconnect", "1", "-CommandFile", "{script}",
)  # fmt: skip

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            name="uf2",
            program="cp",
            key="uf2",
            load=(("cp", "{uf2}", DRIVE), ("sync",)),
            reset=(),
            probes="ls /media/$USER",
            install="hold BOOTSEL, plug the board in, mount its drive",
            needs_drive=True,
        ),
        Tool(
            name="pyocd",
            program="pyocd",
            key="pyocd",
            name_words=("--target", "{name}"),
            probe_words=("--uid", "{probe}"),
            load=(("pyocd", "load", "--no-wait", "-O", "keep_unwritten=true", NAME, PROBE, "{elf}"),),
            reset=(("pyocd", "reset", "--no-wait", NAME, PROBE),),
            probes="pyocd list",
            install="python3 -m pip install pyocd; for parts it lacks: pyocd pack install PART",
        ),
        Tool(
            name="openocd",
            program="openocd",
            key="openocd",
            name_words=("-f", "{name}"),
            probe_words=("-c", "adapter serial {probe}"),
            load=(("openocd", NAME, PROBE, "-c", "program {{{elf}}} verify reset exit"),),
            reset=(("openocd", NAME, PROBE, "-c", "init", "-c", "reset run", "-c", "shutdown"),),
            probes="lsusb -v",
            install="sudo apt-get install openocd",
        ),
        Tool(
            name="probe-rs",
            program="probe-rs",
            key="probe_rs",
            name_words=("--chip", "{name}"),
            probe_words=("--probe", "{probe}"),
            usb_probe=True,
            load=(
                (
                    "probe-rs",
                    "download",
                    "--non-interactive",
                    "--restore-unwritten",
                    "--verify",
                    NAME,
                    PROBE,
                    "{elf}",
                ),
                ("probe-rs", "reset", "--non-interactive", NAME, PROBE),
            ),
            reset=(("probe-rs", "reset", "--non-interactive", NAME, PROBE),),
            probes="probe-rs list",
            install="see https://probe.rs, installation",
        ),
        Tool(
            name="st-flash",
            program="st-flash",
            key="stm32",
            probe_words=("--serial", "{probe}"),
            load=(_HEX, ("st-flash", PROBE, "--reset", "--format", "ihex", "write", "{hex}")),
            reset=(("st-flash", PROBE, "reset"),),
            probes="st-info --probe",
            install="sudo apt-get install stlink-tools",
        ),
        Tool(
            name="STM32_Programmer_CLI",
            program="STM32_Programmer_CLI",
            key="stm32",
            probe_words=("sn={probe}",),
            load=((*_STM32_CUBE, "-w", "{elf}", "-v", "-rst"),),
            reset=((*_STM32_CUBE, "-rst"),),
            probes="STM32_Programmer_CLI -l",
            install="STM32CubeProgrammer from www.st.com",
        ),
        Tool(
            name="JLinkExe",
            program="JLinkExe",
            key="jlink",
            name_words=("-device", "{name}"),
            probe_words=("-USB", "{probe}"),
            load=(_JLINK,),
            reset=(_JLINK,),
            scripts=Scripts(load=("r", 'loadfile "{elf}"', "r", "g", "exit"), reset=("r", "g", "exit")),
            probes="JLinkExe, then ShowEmuList",
            install="the J-Link software from www.segger.com",
        ),
        Tool(
            name="dfu-util",
            program="dfu-util",
            key="dfu",
            name_words=("-d", "{name}"),
            probe_words=("-S", "{probe}"),
            load=(_BIN, ("dfu-util", NAME, PROBE, "-a", "0", "-s", "{address}:leave", "-D", "{bin}")),
            reset=(),
            probes="dfu-util -l",
            install="sudo apt-get install dfu-util",
        ),
        Tool(
            name="picotool",
            program="picotool",
            key="picotool",
            probe_words=("--ser", "{probe}"),
            load=(("picotool", "load", "-v", "-x", "{elf}", PROBE),),
            reset=(("picotool", "reboot", PROBE),),
            probes="picotool info -l",
            install="https://github.com/raspberrypi/picotool/releases; hold BOOTSEL at power-up",
        ),
        Tool(
            name="west",
            program="west",
            key="west",
            name_words=("--build-dir", "{name}"),
            probe_words=("--dev-id", "{probe}"),
            load=(("west", "flash", "--skip-rebuild", NAME, PROBE, "--elf-file", "{elf}"),),
            reset=(),
            probes="lsusb -v",
            install="python3 -m pip install west; it needs a build folder of Zephyr for this board",
        ),
    )
}
"""By name. Without `flash_tool` and `--tool` the first one is taken that the board names and that is here."""
