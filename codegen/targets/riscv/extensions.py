"""RISC-V extensions: the instruction set that code is compiled for, the one that libraries are linked for,
and the emulator's words for a core are three facts.

A compiler for RV32 has C libraries of a few instruction sets. With any other name in `-march` it takes those
of RV64 in silence, and the link fails: so a program is compiled for all that the core has, and linked for the
letters alone.
"""

from codegen.ir import Target
from codegen.targets.core_family import Words

LETTERS = ("a", "f", "c")
"""Extensions of one letter beside I and M, in the order in which an instruction set is spelled."""
NAMED = ("zba", "zbb", "zbs", "zbkb", "zve32x")
"""Extensions with names, in the order in which an instruction set is spelled."""
_COMPILED = tuple(name for name in NAMED if name != "zbs")
"""Extensions that code is compiled for. With Zbs gcc 12 ends in an internal error where a loop holds 2048."""
VECTOR_BITS = {"zvl64b": 64, "zvl128b": 128, "zvl256b": 256, "zvl512b": 512}
"""Least bits of a vector register. Code asks at run time: they say what an emulator is to have."""
FEATURES = frozenset({*LETTERS, *NAMED, *VECTOR_BITS})

_LIBRARIES = frozenset({"", "a", "f", "af", "ac", "afc"})
"""Letters beside `rv32im` that compilers have libraries of."""
_DEFAULT_VECTOR_BITS = 128


def compile_flags(target: Target) -> Words:
    """Extensions that the core has and compilers can use, and further flags that the board's file names."""
    named = "".join(f"_{name}" for name in _COMPILED if name in target.features)
    letters = "".join(letter for letter in LETTERS if letter in target.features)
    return (f"-march=rv32im{letters}{named}", f"-mabi={_abi(target)}", *target.compiler_flags)


def link_flags(target: Target) -> Words:
    """The widest instruction set of a C library that the core runs, with the same calling convention."""
    fitting = [
        letters
        for letters in _LIBRARIES
        if {*letters} <= target.features and ("f" in letters) == ("f" in target.features)
    ]
    return (f"-march=rv32im{max(fitting, key=len)}", f"-mabi={_abi(target)}")


def _abi(target: Target) -> str:
    return "ilp32f" if "f" in target.features else "ilp32"


def cpu_words(target: Target) -> Words:
    """A core of QEMU without what a microcontroller lacks: no supervisor, no doubles.

    QEMU runs the integers of vectors only beside vectors of floats. Its cores have F, used or not:
    QEMU 10 has Zfa, which needs F, and QEMU 7 knows no Zfa to leave out.
    """
    if target.cpu not in _ANY_CORE:
        return ()
    has_vectors = "zve32x" in target.features
    flags = {name: name in target.features for name in NAMED if name != "zve32x"}
    flags |= {"f": True, "c": "c" in target.features}
    words = [f"{name}={'true' if has else 'false'}" for name, has in sorted(flags.items())]
    if has_vectors:
        bits = [count for name, count in VECTOR_BITS.items() if name in target.features]
        words += ["Zve32f=true", f"vlen={max(bits, default=_DEFAULT_VECTOR_BITS)}"]
    return ("-cpu", ",".join(["rv32", "s=false", "h=false", "d=false", *words]))


_ANY_CORE = frozenset({"rv32"})
"""Cores that the emulator's machine does not choose by itself."""


def refusal(cpu: str) -> str | None:
    """Why no core of this kind is built for; None: nothing is known against it."""
    return next((reason for start, reason in _REFUSED.items() if cpu.startswith(start)), None)


_NO_MULTIPLIER = (
    "it has no multiplier (extension M): every product would be a call of some 40 instructions, and such "
    "parts have 2 KiB of RAM"
)
_REFUSED = {
    "rv64": "it is a RISC-V of 64 bits: addresses in tables of the generated C and in the test link have 32",
    "rv32be": "it is big-endian: packed weights and the test link are little-endian",
    "rv32e": f"{_NO_MULTIPLIER}; its 16 registers are too few for the kernels besides",
    "qingke-v2": f"{_NO_MULTIPLIER}; its 16 registers are too few for the kernels besides",
    "rv32ic": _NO_MULTIPLIER,
}
"""By what a core's name begins with."""
