"""The module `serial` that the tests run with is pyserial's."""

import base64
import hashlib
from importlib.metadata import distribution


def test_no_file_of_pyserial_is_another_packages() -> None:
    """labgrid brings pyserial-labgrid, which writes over `serial/__init__.py` and `serial/rfc2217.py`; so the
    suite tested a fork, and users without labgrid have the other one. The Makefile puts pyserial's back."""
    files = [file for file in distribution("pyserial").files or () if file.suffix == ".py" and file.hash]
    assert len(files) > 20
    changed = [
        str(file)
        for file in files
        if file.hash and _digest(file.read_binary(), file.hash.mode) != file.hash.value
    ]
    assert changed == [], "pip install --force-reinstall --no-deps pyserial"


def _digest(data: bytes, algorithm: str) -> str:
    return base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).rstrip(b"=").decode()
