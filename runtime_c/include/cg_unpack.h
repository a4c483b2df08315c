/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_unpack.h -- linked constants that are stored compressed, decoded in front of the step that
 * reads them.
 *
 * A packed constant is a table and a stream of bits. The table: the number of bits P of a prefix,
 * 1 to 4; for each of the 2^P classes the bits W of its index, 0 to 8; then the symbols, those of
 * class 0 first (2^W of every class, of the last one in use perhaps fewer). The stream: of each
 * byte its class in P bits, its index in that class in W bits, highest bit first. Where a constant
 * is decoded in pieces, each begins with a new byte.
 *
 * Nothing is refused here: the build decodes every stream before it writes it.
 */
#ifndef CG_UNPACK_H
#define CG_UNPACK_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Decodes `bytes` bytes, at least one, of the constant `packed` to `to`. The stream is read from
 * `from` on; where it ends, which is where the next piece begins, is returned. Up to 3 bytes behind
 * that end are read: the next piece's, or behind the last one padding that the build puts there.
 * Any alignment; `to` overlaps neither of the others. Less than 192 bytes of stack.
 */
const uint8_t *cg_unpack(void *to, size_t bytes, const uint8_t *packed, const uint8_t *from);

#ifdef __cplusplus
}
#endif

#endif /* CG_UNPACK_H */
