"""The doctor: what it finds here, and what it says on a machine that lacks everything."""

import dataclasses
from pathlib import Path

import pytest

from codegen.toolchain import doctor
from tests.toolchain import fake_model


def board(machine: str) -> object:
    return dataclasses.replace(fake_model.arm_board(), name=f"on-{machine}", qemu_machine=machine)


def test_this_machine_has_what_the_tests_use() -> None:
    findings = {finding.name: finding for finding in doctor([board("netduinoplus2"), board("pdp11")])}  # type: ignore[list-item]
    for name in (
        "python",
        "cffi",
        "numpy",
        "pyelftools",
        "arm-none-eabi-gcc",
        "newlib for arm-none-eabi",
        "gcc",
    ):
        assert findings[name].ok and not findings[name].optional, name
    assert findings["QEMU machine netduinoplus2"].ok
    unknown = findings["QEMU machine pdp11"]
    assert not unknown.ok and unknown.required_for == "running on on-pdp11"
    assert unknown.install == "sudo apt-get install qemu-system-arm"


def test_an_empty_machine_gets_exact_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = {finding.name: finding for finding in doctor([board("netduinoplus2")])}  # type: ignore[list-item]
    commands = {
        "arm-none-eabi-gcc": "sudo apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi",
        "newlib for arm-none-eabi": "sudo apt-get install libnewlib-arm-none-eabi",
        "qemu-system-arm": "sudo apt-get install qemu-system-arm",
        "QEMU machine netduinoplus2": "sudo apt-get install qemu-system-arm",
        "gcc": "sudo apt-get install gcc libc6-dev",
        "cmake": "sudo apt-get install cmake",
    }
    for name, command in commands.items():
        assert not findings[name].ok and findings[name].install == command
    assert findings["arm-none-eabi-gcc"].detail == "not in PATH"
    assert findings["cmake"].optional and not findings["arm-none-eabi-gcc"].optional


def test_every_declared_dependency_is_looked_for() -> None:
    names = {finding.name: finding for finding in doctor()}
    for name in (
        "cffi",
        "click",
        "cobs",
        "flatbuffers",
        "jinja2",
        "msgspec",
        "numpy",
        "pyelftools",
        "pyserial",
    ):
        assert names[name].required_for == "everything" and "pip install" in names[name].install
    assert names["scikit-learn"].optional and names["hypothesis"].optional
