"""What the network reduction took out of a model, for report.json and for people."""

from dataclasses import asdict

from codegen.passes import Reduction


def reduction_report(reduction: Reduction | None) -> dict[str, object] | None:
    """The `reduction` object of report.json; None if it was turned off."""
    if reduction is None:
        return None
    return {
        "macs_before": reduction.before.macs,
        "macs_after": reduction.after.macs,
        "weight_bytes_before": reduction.before.weight_bytes,
        "weight_bytes_after": reduction.after.weight_bytes,
        "steps": [asdict(removal) for removal in reduction.removed],
    }


def reduction_line(reduction: Reduction | None) -> str | None:
    """One line about what is left; None if nothing was taken out."""
    if reduction is None or not reduction.removed:
        return None
    lost = sum(removal.channels_before - removal.channels_after for removal in reduction.removed)
    return (
        f"reduced   to {reduction.after.macs:,} of {reduction.before.macs:,} multiply-accumulates, "
        f"{reduction.after.weight_bytes:,} of {reduction.before.weight_bytes:,} weight bytes "
        f"({lost:,} channels constant or unread)"
    )
