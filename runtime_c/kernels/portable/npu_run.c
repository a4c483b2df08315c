/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_run.c -- a command stream on the NPU, with the data cache in step.
 */
#include <stdbool.h>
#include <string.h>

#include "cg_npu.h"
#ifdef CG_NPU_ETHOS_U_DRIVER
#include "ethosu_driver.h"
#endif

cg_status cg_npu_run(const cg_npu_params *params, const void *const *arguments, void *scratch,
                     void *fast)
{
    uint8_t *const bytes = scratch;
    for (int32_t i = 0; i < params->place_count; i++) {
        const cg_npu_place *const place = &params->places[i];
        if (arguments[i] != NULL) {
            memcpy(&bytes[place->offset], arguments[i], (size_t)place->size_bytes);
        }
    }
    memset(&bytes[params->scratch_bytes - params->tail_bytes], 0, (size_t)params->tail_bytes);
    const bool has_fast = params->fast_bytes != 0;
    const uintptr_t constants = (uintptr_t)params->constants; /* the device only reads them */
    void *const bases[CG_NPU_BASES] = {(void *)constants, scratch, has_fast ? fast : scratch};
    const size_t scratch_bytes = (size_t)params->scratch_bytes;
    const size_t fast_bytes = (size_t)params->fast_bytes;
    const size_t sizes[CG_NPU_BASES] = {(size_t)params->constants_bytes, scratch_bytes,
                                        has_fast ? fast_bytes : scratch_bytes};
    cg_npu_clean(scratch, scratch_bytes);
    if (has_fast) {
        cg_npu_clean(fast, fast_bytes);
    }
    const cg_status status =
        cg_npu_invoke(params->stream, (size_t)params->stream_bytes, bases, sizes);
    cg_npu_invalidate(scratch, scratch_bytes);
    return status;
}

#ifdef CG_NPU_ETHOS_U_DRIVER
cg_status cg_npu_invoke(const void *stream, size_t stream_bytes, void *const bases[CG_NPU_BASES],
                        const size_t sizes[CG_NPU_BASES])
{
    uint64_t addresses[CG_NPU_BASES];
    for (size_t i = 0; i < CG_NPU_BASES; i++) {
        addresses[i] = (uintptr_t)bases[i];
    }
    struct ethosu_driver *const driver = ethosu_reserve_driver();
    if (driver == NULL) {
        return CG_ERR_NPU_TIMEOUT;
    }
    const int result = ethosu_invoke_v3(driver, stream, (int)stream_bytes, addresses, sizes,
                                        (int)CG_NPU_BASES, NULL);
    ethosu_release_driver(driver);
    return result == 0 ? CG_OK : CG_ERR_NPU_FAULT;
}
#endif
