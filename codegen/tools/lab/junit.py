"""Results as JUnit XML, as CI servers read it: a suite a board, a case a model."""

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from codegen.tools.lab.results import JobResult, State

_ELEMENTS = {
    State.WRONG: "failure",
    State.NO_FIT: "skipped",
    State.HUNG: "error",
    State.GARBAGE: "error",
    State.FAILED: "error",
    State.NOT_RUN: "error",
}
_FIGURES = ("ram_bytes", "flash_bytes", "stack_bytes", "instructions", "cycles", "build_sha256")


def junit(results: Sequence[JobResult]) -> bytes:
    """The document."""
    root = Element("testsuites", {"name": "codegen lab", **_counts(results)})
    for board in dict.fromkeys(result.board for result in results):
        cases = [result for result in results if result.board == board]
        suite = SubElement(root, "testsuite", {"name": board, **_counts(cases)})
        for result in cases:
            _case(suite, result)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _case(suite: Element, result: JobResult) -> None:
    case = SubElement(
        suite,
        "testcase",
        classname=f"{result.kind}.{result.board}",
        name=result.model,
        time=f"{result.seconds:.2f}",
    )
    figures = [(name, getattr(result, name)) for name in _FIGURES if getattr(result, name) is not None]
    if figures:
        properties = SubElement(case, "properties")
        for name, value in figures:
            SubElement(properties, "property", name=name, value=str(value))
    kind = _ELEMENTS.get(result.state)
    if kind is not None:
        told = SubElement(case, kind, message=_plain(f"{result.state}: {first_line(result)}"))
        if kind != "skipped":
            told.set("type", result.code)
        told.text = _plain(result.message)
    if result.recovery:
        SubElement(case, "system-out").text = _plain(result.recovery)


def first_line(result: JobResult) -> str:
    """First line of the message of a result."""
    return result.message.partition("\n")[0]


def _counts(results: Sequence[JobResult]) -> dict[str, str]:
    kinds = [_ELEMENTS.get(result.state) for result in results]
    return {
        "tests": str(len(results)),
        "failures": str(kinds.count("failure")),
        "errors": str(kinds.count("error")),
        "skipped": str(kinds.count("skipped")),
        "time": f"{sum(result.seconds for result in results):.2f}",
    }


def _plain(text: str) -> str:
    """Without characters that XML 1.0 cannot say."""
    return "".join(
        letter if letter in "\t\n" or (letter >= " " and not "\ud800" <= letter <= "\udfff") else "?"
        for letter in text
        if letter not in "\ufffe\uffff"
    )
