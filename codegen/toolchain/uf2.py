"""Firmware as a UF2 file: blocks that a boot loader takes from a copy onto its USB drive.

The format is microsoft/uf2: blocks of 512 bytes with an address and 256 bytes of the flash. The boot ROMs of
RP2040 and RP2350 erase whole sectors and leave undefined what no block brings. So touched sectors are filled.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

PAYLOAD_BYTES = 256
SECTOR_BYTES = 4096
_DATA_BYTES = 476
_MAGIC = (0x0A324655, 0x9E5D5157)
_MAGIC_END = 0x0AB16F30
_FAMILY_PRESENT = 0x2000
_ERASED = b"\xff"


def write_uf2(image: Path, family: int) -> Path:
    """Write the linked file `image` as `.uf2` beside it; `family` is that of the chip. Returns the path."""
    path = image.with_suffix(".uf2")
    path.write_bytes(b"".join(_blocks(_sectors(image), family)))
    return path


def _sectors(image: Path) -> dict[int, bytearray]:
    """Address -> bytes of each sector of the flash that the image has something in."""
    sectors: dict[int, bytearray] = {}
    for start, data in _loaded(image):
        done = 0
        while done < len(data):
            sector, place = divmod(start + done, SECTOR_BYTES)
            part = data[done : done + SECTOR_BYTES - place]
            sectors.setdefault(sector, bytearray(_ERASED * SECTOR_BYTES))[place : place + len(part)] = part
            done += len(part)
    return {sector * SECTOR_BYTES: sectors[sector] for sector in sorted(sectors)}


def _loaded(image: Path) -> Iterator[tuple[int, bytes]]:
    """Address in the flash and bytes of each section that a loader writes."""
    with image.open("rb") as file:
        elf = ELFFile(file)
        segments = [segment for segment in elf.iter_segments() if segment["p_type"] == "PT_LOAD"]
        for section in elf.iter_sections():
            is_loaded = section["sh_flags"] & SH_FLAGS.SHF_ALLOC and section["sh_type"] != "SHT_NOBITS"
            if is_loaded and section["sh_size"]:
                segment = next(segment for segment in segments if segment.section_in_segment(section))
                yield segment["p_paddr"] + section["sh_offset"] - segment["p_offset"], section.data()


def _blocks(sectors: dict[int, bytearray], family: int) -> Iterator[bytes]:
    count = len(sectors) * SECTOR_BYTES // PAYLOAD_BYTES
    number = 0
    for address, sector in sectors.items():
        for offset in range(0, SECTOR_BYTES, PAYLOAD_BYTES):
            payload = bytes(sector[offset : offset + PAYLOAD_BYTES])
            head = (*_MAGIC, _FAMILY_PRESENT, address + offset, PAYLOAD_BYTES, number, count, family)
            yield (
                struct.pack("<8I", *head) + payload.ljust(_DATA_BYTES, b"\0") + struct.pack("<I", _MAGIC_END)
            )
            number += 1
