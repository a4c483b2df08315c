"""A board whose memories hold every shared model."""

from codegen.ir import Board, Region, Runner, Target

ROOM = 1 << 24
_ADDRESSES = {"SRAM": 0x20000000, "CCM": 0x10000000}


def roomy_board(*memories: str, cpu: str = "cortex-m4") -> Board:
    """With these memories: `SRAM`, `CCM`."""
    flash = Region(name="FLASH", address=0x08000000, size_bytes=ROOM, writable=False)
    return Board(
        name="roomy",
        title="large memories",
        target=Target(cpu=cpu),
        runner=Runner.HOST,
        regions=(
            *(Region(name=n, address=_ADDRESSES[n], size_bytes=ROOM, writable=True) for n in memories),
            flash,
        ),
        code_region="FLASH",
        data_region="SRAM",
        stack_bytes=1024,
        reserved_bytes=0,
    )
