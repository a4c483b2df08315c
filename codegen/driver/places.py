"""Places of several models: which of them are one model's."""

from collections.abc import Sequence

from codegen.errors import Messages
from codegen.ir.places import Place


def places_of(places: Sequence[Place], model: str) -> tuple[Place, ...]:
    """Those for all models, and those for this one."""
    return tuple(place for place in places if place.model in (None, model))


def check_models(places: Sequence[Place], models: Sequence[str]) -> None:
    """Raise CodegenError E244 naming every place of a model that is not built, where several are.

    Who builds one model of a project may leave the places of the others in its codegen.toml.
    """
    messages = Messages()
    for place in places if len(models) > 1 else ():
        if place.model is not None and place.model not in models:
            messages.add(
                "E244",
                f"no model is called {place.model}",
                where=place.who,
                help=f"models of this build are {', '.join(models)}",
            )
    messages.raise_if_any()
