"""What becomes of a file: refused in words, or planned and rendered. Runs in a child with limits."""

import hashlib
import resource
import signal
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

from codegen import board as boards
from codegen import emit, importers, toolchain
from codegen.driver.build import Share, plan_model
from codegen.driver.checks.fit import telling
from codegen.driver.inputs.planned import Planned
from codegen.driver.joining import joined
from codegen.driver.options import Options
from codegen.errors import CodegenError
from codegen.ir.text import print_module
from codegen.program.image import Sources

CPU_SECONDS = 2.0
GROWTH_BYTES = 512 << 20

_REFUSED = (3, 4)
"""Exit codes that a model file may lead to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """`what`: ok, same (as one planned before) or a message code; bad are bug, memory, time, killed."""

    what: str
    detail: str = ""
    runs: bool = False
    """Whether the mutant is one of those that run, if it is accepted."""

    @property
    def is_bad(self) -> bool:
        """Whether it must not happen."""
        return self.what in ("bug", "memory", "time", "killed")


def limit() -> None:
    """Let this process grow by `GROWTH_BYTES` and no more; warnings are errors from here on."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + GROWTH_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")


def options_of(board: str) -> Options:
    """What a mutant is planned with."""
    return Options(board=board)


def rendered(path: Path, board: str) -> tuple[Planned, Sources]:
    """The file planned and its C. Raises CodegenError as the stages do."""
    options, target = options_of(board), boards.load_board(board)
    with telling():
        models, bundle = joined(
            ("m",),
            options,
            lambda name, limits: plan_model(path, target, options, share=Share(name=name, limits=limits)),
        )
    return models[0], emit.render(bundle, toolchain.LEVELS[options.optimize])


class Examiner:
    """Examines file after file; one whose module was planned before is not planned again."""

    def __init__(self, folder: Path, suffix: str = ".tflite") -> None:
        self._path = folder / f"m{suffix}"
        self._planned: set[str] = set()

    def verdict(self, data: bytes, board: str) -> Verdict:
        """What becomes of the file within `CPU_SECONDS`, beyond which SIGPROF ends this process."""
        self._path.write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        try:
            return self._examined(board)
        except CodegenError as error:
            known = int(error.exit_code) in _REFUSED and all(message.text for message in error.messages)
            return Verdict(what=error.messages[0].code if known else "bug", detail=str(error)[:300])
        except MemoryError:
            return Verdict(what="memory", detail=traceback.format_exc())
        except Exception:
            return Verdict(what="bug", detail=traceback.format_exc())
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _examined(self, board: str) -> Verdict:
        text = print_module(importers.load(self._path)).partition("\n")[2]
        digest = hashlib.sha256(f"{board} {text}".encode()).hexdigest()
        if digest in self._planned:
            return Verdict(what="same")
        _, sources = rendered(self._path, board)
        assert sources.c_files
        self._planned.add(digest)
        return Verdict(what="ok")
