"""SHIFT: frames go down in memory, by blocks, words or bytes; nothing around the window changes."""

import subprocess
from pathlib import Path

from codegen.toolchain import gcc
from tests.checkout import ROOT

RUNTIME = ROOT / "runtime_c"
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined")
MAIN = """
#include <stdlib.h>
#include <string.h>

#include "cg_kernels.h"

/* Every number of frame bytes and kept bytes up to 80, the window at each distance from a word. */
int main(void)
{
    for (int32_t added = 1; added <= 80; added++) {
        for (int32_t kept = 0; kept <= 80; kept++) {
            for (int32_t off = 0; off < 4; off++) {
                uint8_t *const frame = malloc((size_t)added);
                uint8_t *const bytes = malloc((size_t)(off + added + kept));
                for (int32_t i = 0; i < off + added + kept; i++) {
                    bytes[i] = (uint8_t)i;
                }
                memset(frame, 0xf7, (size_t)added);
                cg_shift(frame, added, &bytes[off], kept);
                for (int32_t i = 0; i < off + added + kept; i++) {
                    const int32_t at = i - off;
                    const uint8_t want =
                        (uint8_t)(at < 0 ? i : (at < kept ? i + added : 0xf7));
                    if (bytes[i] != want) {
                        return 1;
                    }
                }
                free(frame);
                free(bytes);
            }
        }
    }
    return 0;
}
"""


def test_every_size_at_every_address(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(MAIN)
    source = RUNTIME / "kernels" / "portable" / "shift.c"
    command = [gcc.tool("gcc"), *FLAGS, f"-I{RUNTIME / 'include'}", str(source), "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([str(tmp_path / "main")], check=True)
