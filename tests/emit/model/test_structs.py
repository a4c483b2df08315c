"""Parameter structs that hold what is known at run time only: what is copied, what is stored."""

from codegen.emit.model.structs import local_structs, shared_structs
from codegen.ir.formulas import named
from codegen.kernels.call import ConstantPointer, CStruct
from codegen.kernels.primfunc import PrimFunc
from tests.emit import samples


def _step(*fields: tuple[str, object]) -> PrimFunc:
    struct = CStruct(suffix="params", c_type="cg_conv_params", fields=fields)
    step = samples.let("conv", "RELU", samples.int8(4), samples.ir.Var(name="x", type=samples.int8(4)))
    return PrimFunc(name="conv", let=step, kernel="conv", symbol="cg_conv", structs=(struct,))


_FIXED = tuple((f"f{index}", index) for index in range(7))
_WINDOW = ("window", (("batch", named("N")), ("stride", 2)))


def test_a_batch_that_varies_is_stored_behind_a_copy_of_all_else():
    """vww_96_int8 of an open batch had 3,146 bytes of code more than for eight images alone on the host: each
    layer stored all fields of its parameters, for one that varied. What it copies is a struct at file scope,
    one for all layers that are alike."""
    prim = _step(_WINDOW, *_FIXED)
    [local] = local_structs(prim, frozenset())
    assert local.stored == ((".window.batch", named("N")),)
    assert local.copied is not None
    assert local.copied.fields == (("window", (("stride", 2),)), *_FIXED)
    [text], names = shared_structs((prim,), {}, {("conv", "params"): local}, copies=True)
    assert "batch" not in text and ".window = {.stride = 2}" in text
    assert names["conv", "params_copied"] == "conv_params_copied"
    assert shared_structs((prim,), {}, {("conv", "params"): local}, copies=False) == ((), {})


def test_few_fields_and_addresses_are_stored_one_by_one():
    """To copy seven fields is no shorter; addresses of constants come with the image that holds them."""
    [few] = local_structs(_step(_WINDOW, *_FIXED[:-1]), frozenset())
    assert few.copied is None
    weight = ("weight", ConstantPointer(role="weight"))
    [linked] = local_structs(_step(weight, *_FIXED, *_FIXED), frozenset(["weight"]))
    assert linked.copied is None


def test_elements_of_arrays_stay_though_they_are_0():
    """The last element says how long an array is; members that are 0 are left out."""
    prim = _step(("[0]", (("n", 0), ("m", 3))), ("[1]", 0), ("pad", 0))
    [text], _ = shared_structs((prim,), {}, {}, copies=False)
    assert "[0] = {.m = 3}" in text and "[1] = 0" in text and ".pad" not in text


def test_a_struct_of_zeros_keeps_a_member():
    """C11 has no empty initialiser."""
    [text], _ = shared_structs((_step(("rows", 0), ("pad", None)),), {}, {}, copies=False)
    assert ".rows = 0" in text and ".pad" not in text
