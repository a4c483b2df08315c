"""Buffers of which each excludes each other: any pile without gaps is optimal, and nothing needs a search."""

from codegen.program.problem import Problem


def stacked(problem: Problem) -> list[tuple[int, int]] | None:
    """(Pool index, offset) of every buffer, one on top of the other; None where that is not surely optimal.

    That is: one pool, every pair alive together and in plain conflict, and a pile that alignments leave
    without a gap. Offsets are in bytes.
    """
    buffers = problem.buffers
    count = len(buffers)
    pools = {buffer.pool_candidates for buffer in buffers}
    if len(pools) != 1 or any(len(pool) > 1 for pool in pools):
        return None
    if len(problem.conflicts) * 2 != count * (count - 1):
        return None
    if max(buffer.start for buffer in buffers) >= min(buffer.stop for buffer in buffers):
        return None
    sizes = {buffer.id: buffer.size_bytes for buffer in buffers}
    for conflict in problem.conflicts:
        if conflict.first_below != sizes[conflict.first] or conflict.second_below != sizes[conflict.second]:
            return None
    name = buffers[0].pool_candidates[0]
    pool = next(index for index, pool in enumerate(problem.pools) if pool.name == name)
    offsets = dict.fromkeys(sizes, 0)
    end = 0
    # The strictest alignment first.
    for buffer in sorted(buffers, key=lambda b: -b.alignment):
        if end % buffer.alignment:
            return None
        offsets[buffer.id] = end
        end += buffer.size_bytes
    return [(pool, offsets[buffer.id]) for buffer in buffers]
