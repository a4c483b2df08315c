"""Smaller forms of a kernel's source, for a build whose layers leave part of what it can do unused.

A form is a source of its own with functions of its own names, so that a name always means the same code:
models that were built apart, of other forms, can be linked into one image. PrimFuncs are bound to the largest
form; which one a build takes is known when all its steps are.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.kernels.primfunc import PrimFunc


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceForm:
    """`source` does what `largest` does without calling anything of the sources `without`."""

    largest: str
    source: str
    without: frozenset[str]
    names: Mapping[str, str]
    """C function of `largest` -> that of `source`."""


_FORMS: list[SourceForm] = []


def register_form(form: SourceForm) -> None:
    """Add a form; of two that fit a build the one that was added first is taken."""
    _FORMS.append(form)


def in_smallest_forms(prims: Sequence[Sequence[PrimFunc]]) -> tuple[tuple[PrimFunc, ...], ...]:
    """PrimFuncs of the models of one build, which share sources, as the smallest forms that do for all."""
    linked = [prim.sources for model_prims in prims for prim in model_prims]
    forms = {form.largest: form for form in reversed(_FORMS) if _fits(form, linked)}
    names = {old: new for form in forms.values() for old, new in form.names.items()}
    return tuple(tuple(_renamed(prim, forms, names) for prim in model_prims) for model_prims in prims)


def _fits(form: SourceForm, linked: Sequence[Collection[str]]) -> bool:
    """True if kernels that link `form.largest` link nothing of `form.without`. `linked`: sources of each
    PrimFunc. Other kernels do not count: they may share one of `without`."""
    users = [sources for sources in linked if form.largest in sources]
    return bool(users) and all(form.without.isdisjoint(sources) for sources in users)


def _renamed(prim: PrimFunc, forms: Mapping[str, SourceForm], names: Mapping[str, str]) -> PrimFunc:
    if forms.keys().isdisjoint(prim.sources):
        return prim
    reverse = prim.reverse
    return replace(
        prim,
        symbol=names.get(prim.symbol, prim.symbol),
        sources=_sources(prim.sources, forms),
        rows=prim.rows and prim.rows.renamed(names),
        reverse=reverse
        and replace(
            reverse,
            symbol=names.get(reverse.symbol, reverse.symbol),
            sources=_sources(reverse.sources, forms),
        ),
        block=prim.block and prim.block.renamed(names),
        loop=prim.loop and prim.loop.renamed(names),
    )


def _sources(sources: Sequence[str], forms: Mapping[str, SourceForm]) -> tuple[str, ...]:
    return tuple(forms[source].source if source in forms else source for source in sources)
