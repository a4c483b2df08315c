/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_user_kernel.h -- the C functions that users declare in codegen.toml for operators of theirs.
 *
 *     CG_USER_KERNEL(my_kernel)
 *     {
 *         const int8_t *const image = arguments[0];
 *         int8_t *const out = result;
 *         ...
 *     }
 *
 * `call` says what the call is about, in constants that never change. `arguments[i]` is the address
 * of argument i, dense and row-major, NULL where the model leaves an optional one out; an argument
 * that is constant in the model is read-only data. `result` has `call->result.size_bytes` bytes,
 * `workspace` has `call->workspace_bytes` (NULL if that is 0) and holds anything when the call
 * begins. Addresses are multiples of the declared `argument_alignment` and `workspace_alignment`,
 * arguments and result at least of their elements' size, up to 4.
 *
 * The function writes all of the result, and nothing but result and workspace. It depends on its
 * arguments alone: no state between calls, since a plan may run a step twice. The result overlaps
 * argument 0 as far as the declaration permits, and no other argument. Bytes of a pool hold values
 * of several types: it is compiled with -fno-strict-aliasing. It may call memcpy, memset and what
 * else its own file defines; calls through pointers and recursion leave the stack without a bound
 * and are refused.
 */
#ifndef CG_USER_KERNEL_H
#define CG_USER_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CG_USER_MAX_RANK 8

/* Element types: values of cg_user_tensor.dtype. */
typedef enum {
    CG_USER_NONE = 0, /* an optional argument left out */
    CG_USER_INT8 = 1,
    CG_USER_UINT8 = 2,
    CG_USER_INT16 = 3,
    CG_USER_INT32 = 4,
    CG_USER_INT64 = 5,
    CG_USER_FLOAT32 = 6,
    CG_USER_BOOL = 7, /* a byte, 0 or 1 */
    CG_USER_UINT32 = 8,
    CG_USER_UINT64 = 9,
    CG_USER_UINT16 = 10,
    CG_USER_FLOAT64 = 11
} cg_user_dtype;

typedef struct {
    int32_t dtype;                  /* cg_user_dtype */
    int32_t rank;                   /* dimensions; 0 for a single number */
    int32_t dims[CG_USER_MAX_RANK]; /* extents, outermost first; `rank` of them count */
    int32_t size_bytes;             /* of all elements */
    float scale; /* real = scale * (stored - zero_point); 0 without quantisation */
    int32_t zero_point;
    const float *scales; /* one an index along axis `channel_axis`; NULL: `scale` is the one */
    const int32_t *zero_points; /* the same */
    int32_t channel_axis;
} cg_user_tensor;

typedef struct {
    int32_t argument_count;
    const cg_user_tensor *arguments;
    cg_user_tensor result;
    int32_t workspace_bytes;
    const uint8_t *options; /* bytes that the model holds for a custom operator; else NULL */
    int32_t options_bytes;
} cg_user_call;

/* The signature of a declared kernel: generated code declares it so, a source may define it so. */
#define CG_USER_KERNEL(symbol)                                                                     \
    void symbol(const cg_user_call *call, const void *const *arguments, void *result,              \
                void *workspace)

#ifdef __cplusplus
}
#endif

#endif /* CG_USER_KERNEL_H */
