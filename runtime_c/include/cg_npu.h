/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_npu.h -- layers that Vela compiled for an Ethos-U: the steps NPU and NPU_VALUE.
 *
 * The application defines the three hooks below, or compiles the kernels with CG_NPU_ETHOS_U_DRIVER
 * defined: then Arm's ethos-u-core-driver runs the streams.
 */
#ifndef CG_NPU_H
#define CG_NPU_H

#include "cg_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CG_NPU_BASES 3u /* constants, scratch, fast scratch */

/* Place of an argument in the scratch. */
typedef struct {
    int32_t offset;
    int32_t size_bytes;
} cg_npu_place;

typedef struct {
    const void *stream; /* as Vela wrote it, with the driver's header */
    int32_t stream_bytes;
    const void *constants; /* NULL: there are none */
    int32_t constants_bytes;
    int32_t scratch_bytes;
    int32_t tail_bytes; /* the last of them are padding of channels, of which nothing is read */
    int32_t fast_bytes; /* 0: the fast scratch is the scratch */
    int32_t place_count;
    const cg_npu_place *places; /* of the arguments */
} cg_npu_params;

/*
 * Runs a command stream. arguments[i] is copied to its place in the scratch; NULL: it is there
 * already. The tail is set to zero. All of the scratch and the fast scratch (NULL if there is none)
 * is overwritten. Addresses of stream, constants and scratches are multiples of 16.
 */
CG_CHECK_RESULT cg_status cg_npu_run(const cg_npu_params *params, const void *const *arguments,
                                     void *scratch, void *fast);

/* The `bytes` from `offset` on in the scratch are then also at `result`. No overlap. */
void cg_npu_value(const void *scratch, int32_t offset, int32_t bytes, void *result);

/* ---- hooks of the application ---------------------------------------------------------- */

/*
 * Runs the stream with these base addresses, the first read only, and returns when it has ended:
 * CG_OK, CG_ERR_NPU_FAULT or CG_ERR_NPU_TIMEOUT.
 */
CG_CHECK_RESULT cg_status cg_npu_invoke(const void *stream, size_t stream_bytes,
                                        void *const bases[CG_NPU_BASES],
                                        const size_t sizes[CG_NPU_BASES]);

/*
 * The data cache's lines of these bytes are written back, and forgotten: before the NPU begins, so
 * that it reads what the core wrote and no line is written over what it writes.
 */
void cg_npu_clean(void *address, size_t bytes);

/* The lines of these bytes are forgotten: the core may have read ahead while the NPU ran. */
void cg_npu_invalidate(void *address, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* CG_NPU_H */
