/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_model.h -- functional model of Arm's Ethos-U55 and Ethos-U65: runs a register command
 * stream on memory regions and checks every byte that it reads or writes.
 *
 * Results are those of the device, not its cycles. A command stream refers to memory by region and
 * offset; region 0 holds constants by Vela's convention, 1 the scratch, 2 the fast scratch.
 * Commands run one after the other: waits have no effect, since each command ends before the next
 * begins.
 */
#ifndef CODEGEN_NPU_MODEL_H
#define CODEGEN_NPU_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NPU_REGIONS 8

typedef enum {
    NPU_OK = 0,
    NPU_NO_STOP,          /* the stream ends without a stop command */
    NPU_CUT_COMMAND,      /* the last command lacks its payload */
    NPU_UNKNOWN_COMMAND,  /* a command that neither device has */
    NPU_NOT_MODELLED,     /* a command or mode of the device that this model leaves out */
    NPU_OUTSIDE_REGION,   /* an access before or behind its region, or to a region that is absent */
    NPU_WRITES_CONSTANTS, /* a write to a region that may only be read */
    NPU_BAD_WEIGHTS,      /* a weight stream that ends early or breaks its own format */
    NPU_TOO_MANY_WEIGHTS, /* one command's weights exceed the memory that the caller lends */
    NPU_TOO_MUCH_WORK,    /* more element steps than the caller allows */
    NPU_NOT_CLEANED,      /* a read of a byte that the core changed in its cache alone */
    NPU_DIRTY_LINE,       /* a write into a line that the core's cache will write over it */
    NPU_READS_UNWRITTEN,  /* a read of a byte that nobody has written */
    NPU_TOUCHES_KEPT,     /* an access to a value of another step */
    NPU_UNDOES_RESULT,    /* the core's cache writes an older copy over the NPU's result */
    NPU_LOST_WRITE,       /* an invalidation drops what the core wrote */
    NPU_NOT_INVALIDATED   /* the core would read an older copy of the NPU's result */
} npu_status;

typedef struct {
    uint8_t *bytes; /* NULL: the region is absent */
    uint64_t length;
    bool writable;
} npu_region;

/* One configuration, as `npu_device_named` gives it. */
typedef struct {
    uint32_t cores;            /* 2 for U65-512: each computes every other channel of a result */
    uint32_t ifm_ublock_depth; /* channels of the input that one step of the weight order takes */
    uint32_t ofm_ublock_depth; /* channels of the result, likewise */
    uint32_t lut_address;      /* offset of the lookup tables in the device's own memory */
} npu_device;

/* Memory that a run borrows, and its bound. */
typedef struct {
    int16_t *weights;
    size_t weight_capacity; /* in weights: kernel height x width x input depth x output depth */
    uint64_t most_steps;    /* multiply-accumulates and element accesses of the whole run */
} npu_work;

typedef struct {
    npu_status status;
    uint32_t word;    /* index of the command in the stream */
    uint32_t region;  /* of an access outside or a write to constants */
    uint64_t address; /* offset in the region, likewise; code of an unknown command */
} npu_fault;

/* The device of a name such as "ethos-u55-128" or "ethos-u65-512"; NULL for any other name. */
const npu_device *npu_device_named(const char *name);

/*
 * Runs `words` words of a command stream. Contract: `stream` and every region's bytes are readable
 * (writable where the region says so), `fault` may be NULL. Returns NPU_OK, or the first fault;
 * what earlier commands wrote stays written.
 */
npu_status npu_run(const npu_device *device, const uint32_t *stream, size_t words,
                   const npu_region regions[NPU_REGIONS], npu_work work, npu_fault *fault);

#endif
