"""`--port` on the command line and in the environment."""

import pytest

from codegen.cli.main import main
from codegen.driver.example import example_model
from codegen.errors import ExitCode


@pytest.mark.parametrize("verb", ["run", "validate"])
def test_the_port_may_stand_in_the_environment(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`CODEGEN_PORT` was ignored without a word: the figures were QEMU's."""
    monkeypatch.setenv("CODEGEN_PORT", "/dev/ttyACM0")
    with pytest.raises(SystemExit) as left:
        main([verb, str(example_model()), "--board", "host"])
    assert left.value.code == ExitCode.TARGET
    assert "error[E608] board host runs in this process and has no port" in capsys.readouterr().err
