"""Formulas of a range with parts, in C: one line, or one for each part, and tables within their part."""

from codegen.emit.c.c_text import COLUMNS, assignment
from codegen.emit.c.formula_text import SizeText
from codegen.ir.formulas import Extent, Formula, Lookup, Stepwise, Sum, Symbol, named, number
from codegen.program.size_ranges import Ranges

T = Symbol(name="T", low=1, high=90)
PART = Stepwise(value=named("T"), starts=(40,), items=(number(0), number(1)))


def sizes(*extents: Extent) -> SizeText:
    ranges = Ranges(
        symbols=(T,),
        extents=extents,
        values={},
        workspaces={},
        buffers={},
        pools={},
        peaks={},
        proved=True,
        part="part",
    )
    return SizeText("model", ranges)


def extent(name: str, formula: Formula) -> Extent:
    return Extent(name=name, formula=formula, low=0, high=1, of=name)


def test_an_offset_is_chosen_by_the_part() -> None:
    table = Lookup(values=(5, 9), index=Sum(constant=-1, terms=((1, ("T",)),)))
    at = Stepwise(value=named("part"), starts=(1,), items=(table, Sum(constant=8, terms=((16, ("T",)),))))
    own = sizes(extent("part", PART), extent("at_x", at))
    assert own.spelled(at) == "at_x"
    lines = own.declarations(["&pool[at_x]"])
    assert lines == [
        "    const int32_t T = (int32_t)dims->T;",
        "    /* part: 0 to 1 */",
        "    const int32_t part = T < 40 ? 0 : 1;",
        "    /* at_x: 0 to 1 */",
        "    const int32_t at_x = part < 1 ? model_sizes_table0[T - 1] : 16 * T + 8;",
    ]
    unnamed = Stepwise(value=named("part"), starts=(1,), items=(number(3), number(4)))
    assert own.spelled(unnamed) == "(part < 1 ? 3 : 4)"


def test_a_choice_that_is_too_long_has_a_line_for_each_part() -> None:
    arms = [f"{'conv_dim1 * ' * 6}{i}" for i in range(2)]
    text = assignment(f"    const int32_t at_x = part < 1 ? {arms[0]} : {arms[1]};")
    assert text.splitlines() == [
        "    /* clang-format off */",
        "    const int32_t at_x =",
        f"        part < 1 ? {arms[0]} :",
        f"        {arms[1]};",
        "    /* clang-format on */",
    ]
    assert all(len(line) <= COLUMNS for line in text.splitlines())
