"""Every message code is documented, and no documented code is left over."""

import re

from tests.checkout import ROOT


def test_codes_and_documentation_agree() -> None:
    used: set[str] = set()
    for path in (ROOT / "codegen").rglob("*.py"):
        used |= set(re.findall(r'"(E[2-8]\d\d)"', path.read_text(encoding="utf-8")))
    documented = set(re.findall(r"\bE[2-8]\d\d\b", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")))
    assert used - documented == set()
    assert documented - used == set()
