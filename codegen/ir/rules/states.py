"""Which output becomes which input of the next inference: `[[state]]` of codegen.toml as a plain value."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class StateRule:
    """Output `output` of one inference is input `input` of the next; names are the file's, or of C fields."""

    who: str
    """How messages name it, e.g. `codegen.toml, state 2`."""
    input: str
    output: str
    model: str | None = None
    """C prefix of the only model that it is for."""

    @property
    def spelled(self) -> str:
        """It as one word, e.g. `state:input=window:output=window_out`."""
        mine = [] if self.model is None else [f"model={self.model}"]
        return ":".join(["state", *mine, f"input={self.input}", f"output={self.output}"])
