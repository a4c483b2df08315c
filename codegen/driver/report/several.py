"""report.json of several models: what they share once, the rest once a model."""

from collections.abc import Mapping, Sequence
from typing import cast

from codegen.driver.report.single import members_report, staged_report, workspace_bytes
from codegen.driver.report.summary_sentence import summary
from codegen.driver.report.totals import totals
from codegen.joint import heaviest_group
from codegen.program.program import Bundle, BundlePool, Program, bundle_peak, own_pools

_SHARED = ("schema", "board", "options", "elf", "constants", "totals", "summary")
"""Parts of a model's document that are one for all; `plan` is both."""


def joint_report(bundle: Bundle, documents: Sequence[dict[str, object]]) -> dict[str, object]:
    """The document of a bundle out of those of its models, in order.

    `plan` is about the shared pools; every model keeps its own plan, with where it begins in each pool.
    """
    first = documents[0]
    head: dict[str, object] = {
        "schema": first["schema"],
        "board": first["board"],
        "options": first["options"],
        "plan": joint_plan(bundle, documents),
        "constants": constants_report(bundle),
    }
    if "elf" in first:
        head["elf"] = first["elf"]
    board = bundle.programs[0].board
    head["totals"] = totals(head, board, bundle.programs[0].memory.problem.pools)
    models = [
        {key: part for key, part in document.items() if key not in _SHARED}
        | {"plan": _based(bundle, program.name, _part(document, "plan"))}
        for program, document in zip(bundle.programs, documents, strict=True)
    ]
    whole = {**head, "models": models}
    return {**whole, "summary": summary(whole, board)}


def constants_report(bundle: Bundle) -> dict[str, object]:
    """`constants`: of all models, merged."""
    return {
        "total_bytes": sum(pool.size_bytes for pool in bundle.constants),
        "merged_bytes": sum(pool.merged_bytes for pool in bundle.constants),
        "mode": bundle.programs[0].interface.constants.value,
        "pools": [
            {
                "name": pool.name,
                "region": pool.region,
                "section": pool.section,
                "size_bytes": pool.size_bytes,
                "members": members_report(pool),
            }
            for pool in bundle.constants
        ],
        "staged": {program.name: staged_report(program) for program in bundle.programs},
    }


def joint_plan(bundle: Bundle, documents: Sequence[dict[str, object]]) -> dict[str, object]:
    """`plan`: the pools as the firmware has them, and what is proved about them."""
    plans = [_part(document, "plan") for document in documents]
    pools = [_pool(bundle, pool) for pool in bundle.pools]
    peak = sum(bundle_peak(bundle, pool.name) for pool in bundle.pools)
    bound = sum(pool_bound(bundle, pool.name) for pool in bundle.pools)
    solver = "bases" if bundle.plan is None else bundle.plan.solver
    return {
        "planner": plans[0]["planner"],
        "solver": ", ".join(dict.fromkeys([*(str(plan["solver"]) for plan in plans), solver])),
        "proved_optimal": is_proved(bundle),
        "peak_bytes": peak,
        "lower_bound_bytes": bound,
        "reproducible": all(plan["reproducible"] for plan in plans)
        and (bundle.plan is None or bundle.plan.reproducible),
        "certificate": {
            "fixed": ["plans of the models"],
            "optimised": ["bases"],
            "reordered": False,
            "closed_by": _closed_by(bundle),
            "concurrent": [list(group) for group in bundle.concurrent],
            "words": [_words(bundle)],
        },
        "pools": pools,
    }


def _words(bundle: Bundle) -> str:
    apart = "; ".join(" and ".join(group) for group in bundle.concurrent)
    proved = "proved optimal for the plans of the models" if is_proved(bundle) else "not proved optimal"
    return f"where each model begins in the shared pools: {proved}; at the same time run: {apart or 'none'}"


def is_proved(bundle: Bundle) -> bool:
    """True if no plan and no bases of these models need fewer bytes in the pools that they share."""
    bases = bundle.plan is None or bundle.plan.proved_optimal
    return bases and all(program.memory.plan.proved_optimal for program in bundle.programs)


def pool_bound(bundle: Bundle, pool: str) -> int:
    """Lower bound of `bundle_peak` for the pools that each model's plan chose: the most that concurrent
    models need together by their own bounds; what the search for the bases proved, where theirs are."""
    bounds = {
        program.name: program.memory.plan.lower_bounds.get(pool, 0)
        for program in bundle.programs
        if (program.name, pool) in bundle.bases
    }
    bound = sum(bounds[name] for name in heaviest_group(bounds, bundle.concurrent))
    if bundle.plan is not None and all(program.memory.plan.proved_optimal for program in bundle.programs):
        bound = max(bound, bundle.plan.lower_bounds.get(pool, 0))
    return bound


def _closed_by(bundle: Bundle) -> str | None:
    if not is_proved(bundle):
        return None
    met = all(bundle_peak(bundle, pool.name) == pool_bound(bundle, pool.name) for pool in bundle.pools)
    return "bound" if met else "search"


def _pool(bundle: Bundle, pool: BundlePool) -> dict[str, object]:
    sizes = {
        program.name: mine.size_bytes
        for program in bundle.programs
        for mine in own_pools(program)
        if mine.name == pool.name
    }
    without = {
        program.name: bundle.base(program.name, pool.name)
        + program.memory.peak_bytes(pool.name)
        - workspace_bytes(program, pool.name)
        for program in bundle.programs
        if program.name in sizes
    }
    return {
        "name": pool.name,
        "region": pool.region,
        "section": pool.section,
        "alignment_bytes": pool.alignment,
        "peak_bytes": bundle_peak(bundle, pool.name),
        "size_bytes": pool.size_bytes,
        "lower_bound_bytes": pool_bound(bundle, pool.name),
        "workspace_bytes": bundle_peak(bundle, pool.name) - max(without.values()),
        "separate_bytes": sum(sizes.values()),
    }


def _based(bundle: Bundle, model: str, plan: Mapping[str, object]) -> dict[str, object]:
    """A model's own plan, with where it begins in each pool."""
    pools = cast("Sequence[Mapping[str, object]]", plan["pools"])
    based = [{**pool, "base_bytes": bundle.base(model, str(pool["name"]))} for pool in pools]
    return {**plan, "pools": based}


def _part(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    return cast("Mapping[str, object]", document[key])


def used_pools(program: Program) -> tuple[str, ...]:
    """Pools that hold at least one byte, in the board's order."""
    return tuple(name for name, peak in program.memory.peaks.items() if peak)
