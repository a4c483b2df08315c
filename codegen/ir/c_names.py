"""Names that go into C: the one list of words that C, C++ and their libraries have taken, and names that are
none of them, from whatever a file calls its tensors."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

from codegen import resources

_KEYWORDS = """
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool break case
catch char char16_t char32_t char8_t class co_await co_return co_yield compl concept const const_cast
consteval constexpr constinit continue contract_assert decltype default delete do double dynamic_cast else
enum explicit export extern false float for friend goto if import inline int long module mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr
register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast
struct switch synchronized template this thread_local throw true try typedef typeid typename typeof
typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
"""Keywords of C11, C23 and C++20, C++23, with the words of technical specifications; GNU's `asm` and
`typeof`."""

_LIBRARY = """
complex errno far huge i386 imaginary interrupt linux near noreturn offsetof stderr stdin stdout unix va_arg
va_copy va_end va_list va_start main memcpy memset NULL EOF NAN INFINITY HUGE
MAXFLOAT DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS
ptrdiff_t size_t max_align_t nullptr_t intmax_t uintmax_t intptr_t uintptr_t
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
"""
"""Macros, types and functions of headers that generated code or an application includes, macros that
compilers define."""

_OWN = "inputs outputs copy_tensor"
"""Names that generated code uses."""

WORDS = frozenset(f"{_KEYWORDS} {_LIBRARY} {_OWN}".split())

_PATTERNS = re.compile(r"cg|cg_.*[^_]|[A-Z][A-Z0-9]*_[A-Z0-9_]*[^_]")
"""Names of the runtime, and such as macros have."""

_LONGEST = 32
"""Characters of a name that is made of a longer text."""

_STANDARD_HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg
stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar
wchar wctype
"""
_PLATFORM_HEADERS = """
aio alloca ar arm_acle arm_bf16 arm_cde arm_cmse arm_fp16 arm_mve arm_mve_types arm_neon argz byteswap cpio
devctl dirent dlfcn elf endian envlock envz err error execinfo fastmath fcntl features fnmatch ftw gcov
getopt glob grp iconv ieeefp intrinsics langinfo libgen libintl link malloc memory monetary mqueue ndbm
netdb newlib paths picolibc poll pthread pwd reent regdef regex sched search semaphore spawn stdfix strings
syslimits syslog tar termios unctrl unistd unwind utime utmp values varargs wait wordexp xlocale
"""
"""Headers of POSIX, newlib, picolibc and glibc, and those that gcc brings."""


_DEVICES = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")


def is_taken(name: str) -> bool:
    """True if C, C++, a library or generated code uses the word. Names that end in `_` are free: they were
    changed to get out of the way."""
    return name in WORDS or _PATTERNS.fullmatch(name) is not None


@cache
def headers() -> frozenset[str]:
    """Names, without `.h`, of headers that a header called alike in front of them would hide: of the C
    standard, of C libraries, and of the runtime."""
    runtime_headers = (path.stem for path in resources.folder("runtime_c").rglob("*.h"))
    return frozenset([*f"{_STANDARD_HEADERS} {_PLATFORM_HEADERS}".split(), *runtime_headers])


def is_reserved_file(name: str) -> bool:
    """True if Windows opens a device where a file is called `name`, whatever its suffix."""
    return _DEVICES.fullmatch(name.lower()) is not None


def identifier(text: str, fallback: str, *, keep: Literal["head", "tail"] = "tail") -> str:
    """A lower-case C identifier close to `text`, never a word that is taken in C or C++.

    Longer text is cut to 32 characters: of a tensor's name (a path of scopes) the end says most, of a
    file's name (`keep="head"`) the start.
    """
    text = re.sub(r"^(serving_default_|StatefulPartitionedCall[/:]?)", "", text)
    text = re.sub(r":\d+$", "", text)
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if len(words) > _LONGEST:
        words = (words[:_LONGEST] if keep == "head" else words[-_LONGEST:]).strip("_")
    if not words or words[0].isdigit():
        words = f"{fallback}_{words}".strip("_")
    return f"{words}_" if is_taken(words) else words


def unique(names: Iterable[str]) -> list[str]:
    """The names in order, later duplicates numbered."""
    taken: set[str] = set()
    unique_names: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        unique_names.append(candidate)
    return unique_names
