"""One scale of a whole tensor, for the macro `scale` of cg_requantize_dsp.inc."""

from codegen.kernels.base.walk import Fields

LEAST_MULTIPLIER = 1 << 30


def scale_reason(multiplier: int, shift: int) -> str | None:
    """Why the short requantization is not exact, or None."""
    if multiplier < LEAST_MULTIPLIER or not -31 <= shift <= -1:
        return "a scale is not below one half"
    return None


def scale_fields(multiplier: int, shift: int) -> Fields:
    """Fields that the macro `scale` of cg_requantize_dsp.inc reads."""
    return (("multiplier", 2 * multiplier - (1 << 32)), ("shift", -shift))
