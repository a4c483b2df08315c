"""Places of several models: which of them are one model's."""

from collections.abc import Mapping, Sequence

from codegen.errors import Message, Messages
from codegen.ir.rules import Place


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


def check_missed(missed: Mapping[str, Mapping[Place, Message]]) -> None:
    """Raise CodegenError (E240, E241 or E243) naming every place without a model that is of none of them.

    `missed`: model -> the places that name nothing in it (`Placed.missed`).
    """
    messages = Messages()
    models = tuple(missed)
    for place, first in missed[models[0]].items():
        misses = {name: each[place] for name, each in missed.items() if place in each}
        if len(misses) == len(models):
            texts = {
                miss.text: [n for n in models if misses[n].text == miss.text] for miss in misses.values()
            }
            said = [f"{text} ({', '.join(names)})" for text, names in texts.items()]
            help_ = "; ".join(f"{name}: {miss.help}" for name, miss in misses.items())
            messages.add(first.code, "; ".join(said), where=place.who, help=help_)
    messages.raise_if_any()
