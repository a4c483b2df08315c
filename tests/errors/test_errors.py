"""Every message code is documented, and no documented code is left over.
Messages read as promised and choose the exit code.
"""

import re

import pytest

from codegen.errors import CodegenError, ExitCode, Message, Messages
from tests.checkout import ROOT


def test_codes_and_documentation_agree() -> None:
    used: set[str] = set()
    for path in (ROOT / "codegen").rglob("*.py"):
        used |= set(re.findall(r'"(E[2-8]\d\d)"', path.read_text(encoding="utf-8")))
    documented = set(re.findall(r"\bE[2-8]\d\d\b", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")))
    assert used - documented == set()
    assert documented - used == set()


def test_a_code_has_one_meaning() -> None:
    """E295 was an export over a build and an `init` over a file, E296 two things as well."""
    entries = re.findall(
        r"^- \*\*(E[^*]+)\*\*", (ROOT / "docs" / "errors.md").read_text("utf-8"), re.MULTILINE
    )
    codes = [code for entry in entries for code in re.findall(r"E\d\d\d", entry)]
    assert sorted(codes) == sorted(set(codes))


def test_message_text() -> None:
    message = Message(code="E301", where='op 12 CONV_2D "name"', text="no such type", help="use int8")
    assert str(message) == 'error[E301] op 12 CONV_2D "name": no such type\nhelp: use int8'
    assert str(Message(code="E201", text="no")) == "error[E201] no"


def test_first_code_selects_the_exit_code() -> None:
    error = CodegenError([Message(code="E401", text="a"), Message(code="E701", text="b")])
    assert error.exit_code is ExitCode.FIT
    assert str(error) == "error[E401] a\nerror[E701] b"


@pytest.mark.parametrize("code", ["E901", "E1", "301", "E3011"])
def test_codes_are_checked(code: str) -> None:
    with pytest.raises(ValueError, match="message code"):
        Message(code=code, text="x")


def test_collecting_keeps_order_and_drops_repeats() -> None:
    messages = Messages()
    messages.raise_if_any()
    messages.add("E302", "one")
    messages.add("E301", "two", where="op 1")
    messages.add("E302", "one")
    with pytest.raises(CodegenError) as caught:
        messages.raise_if_any()
    assert [message.code for message in caught.value.messages] == ["E302", "E301"]
