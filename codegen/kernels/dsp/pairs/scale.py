"""One scale of a whole tensor, as `scale` of cg_requantize_dsp.inc takes it."""

from codegen.kernels.base.walk import Fields

LEAST_MULTIPLIER = 1 << 30


def scale_reason(multiplier: int, shift: int) -> str | None:
    """Why the short requantization is not exact, or None."""
    if multiplier < LEAST_MULTIPLIER or not -31 <= shift <= -1:
        return "a scale is not below one half"
    return None


def scale_fields(multiplier: int, shift: int) -> Fields:
    """As `scale` of cg_requantize_dsp.inc takes them."""
    return (("multiplier", 2 * multiplier - (1 << 32)), ("shift", -shift))
