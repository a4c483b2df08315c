/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_parts.h -- what the files of the model share: registers, checked memory, feature maps,
 * scaling. Users include npu_model.h alone.
 */
#ifndef CODEGEN_NPU_PARTS_H
#define CODEGEN_NPU_PARTS_H

#include "npu_watch.h"

#define NPU_LUT_BYTES 2048

/* Commands without payload. Names are those of Arm's register description. */
enum {
    NPU_OP_STOP = 0x000,
    NPU_OP_IRQ = 0x001,
    NPU_OP_CONV = 0x002,
    NPU_OP_DEPTHWISE = 0x003,
    NPU_OP_POOL = 0x005,
    NPU_OP_ELEMENTWISE = 0x006,
    NPU_OP_DMA_START = 0x010,
    NPU_OP_DMA_WAIT = 0x011,
    NPU_OP_KERNEL_WAIT = 0x012,
    NPU_OP_PMU_MASK = 0x013,
    NPU_SET_IFM_PAD_TOP = 0x100,
    NPU_SET_IFM_PAD_LEFT = 0x101,
    NPU_SET_IFM_PAD_RIGHT = 0x102,
    NPU_SET_IFM_PAD_BOTTOM = 0x103,
    NPU_SET_IFM_DEPTH_M1 = 0x104,
    NPU_SET_IFM_PRECISION = 0x105,
    NPU_SET_IFM_UPSCALE = 0x107,
    NPU_SET_IFM_ZERO_POINT = 0x109,
    NPU_SET_IFM_WIDTH0_M1 = 0x10a,
    NPU_SET_IFM_HEIGHT0_M1 = 0x10b,
    NPU_SET_IFM_HEIGHT1_M1 = 0x10c,
    NPU_SET_IFM_IB_END = 0x10d,
    NPU_SET_IFM_REGION = 0x10f,
    NPU_SET_OFM_WIDTH_M1 = 0x111,
    NPU_SET_OFM_HEIGHT_M1 = 0x112,
    NPU_SET_OFM_DEPTH_M1 = 0x113,
    NPU_SET_OFM_PRECISION = 0x114,
    NPU_SET_OFM_BLK_WIDTH_M1 = 0x115,
    NPU_SET_OFM_BLK_HEIGHT_M1 = 0x116,
    NPU_SET_OFM_BLK_DEPTH_M1 = 0x117,
    NPU_SET_OFM_ZERO_POINT = 0x118,
    NPU_SET_OFM_WIDTH0_M1 = 0x11a,
    NPU_SET_OFM_HEIGHT0_M1 = 0x11b,
    NPU_SET_OFM_HEIGHT1_M1 = 0x11c,
    NPU_SET_OFM_REGION = 0x11f,
    NPU_SET_KERNEL_WIDTH_M1 = 0x120,
    NPU_SET_KERNEL_HEIGHT_M1 = 0x121,
    NPU_SET_KERNEL_STRIDE = 0x122,
    NPU_SET_PARALLEL_MODE = 0x123,
    NPU_SET_ACC_FORMAT = 0x124,
    NPU_SET_ACTIVATION = 0x125,
    NPU_SET_ACTIVATION_MIN = 0x126,
    NPU_SET_ACTIVATION_MAX = 0x127,
    NPU_SET_WEIGHT_REGION = 0x128,
    NPU_SET_SCALE_REGION = 0x129,
    NPU_SET_AB_START = 0x12d,
    NPU_SET_BLOCKDEP = 0x12f,
    NPU_SET_DMA0_SRC_REGION = 0x130,
    NPU_SET_DMA0_DST_REGION = 0x131,
    NPU_SET_DMA0_SIZE0 = 0x132,
    NPU_SET_DMA0_SIZE1 = 0x133,
    NPU_SET_IFM2_BROADCAST = 0x180,
    NPU_SET_IFM2_SCALAR = 0x181,
    NPU_SET_IFM2_PRECISION = 0x185,
    NPU_SET_IFM2_ZERO_POINT = 0x189,
    NPU_SET_IFM2_WIDTH0_M1 = 0x18a,
    NPU_SET_IFM2_HEIGHT0_M1 = 0x18b,
    NPU_SET_IFM2_HEIGHT1_M1 = 0x18c,
    NPU_SET_IFM2_IB_START = 0x18d,
    NPU_SET_IFM2_REGION = 0x18f
};

/* Commands with a payload of 32 bits, which the parameter extends to 48. */
enum {
    NPU_SET_IFM_BASE0 = 0x000,
    NPU_SET_IFM_STRIDE_X = 0x004,
    NPU_SET_IFM_STRIDE_Y = 0x005,
    NPU_SET_IFM_STRIDE_C = 0x006,
    NPU_SET_OFM_BASE0 = 0x010,
    NPU_SET_OFM_STRIDE_X = 0x014,
    NPU_SET_OFM_STRIDE_Y = 0x015,
    NPU_SET_OFM_STRIDE_C = 0x016,
    NPU_SET_WEIGHT_BASE = 0x020,
    NPU_SET_WEIGHT_LENGTH = 0x021,
    NPU_SET_SCALE_BASE = 0x022,
    NPU_SET_SCALE_LENGTH = 0x023,
    NPU_SET_OFM_SCALE = 0x024,
    NPU_SET_OPA_SCALE = 0x025,
    NPU_SET_OPB_SCALE = 0x026,
    NPU_SET_DMA0_SRC = 0x030,
    NPU_SET_DMA0_DST = 0x031,
    NPU_SET_DMA0_LEN = 0x032,
    NPU_SET_DMA0_SKIP0 = 0x033,
    NPU_SET_DMA0_SKIP1 = 0x034,
    NPU_SET_IFM2_BASE0 = 0x080,
    NPU_SET_IFM2_STRIDE_X = 0x084,
    NPU_SET_IFM2_STRIDE_Y = 0x085,
    NPU_SET_IFM2_STRIDE_C = 0x086,
    NPU_SET_WEIGHT1_BASE = 0x090,
    NPU_SET_WEIGHT1_LENGTH = 0x091,
    NPU_SET_SCALE1_BASE = 0x092,
    NPU_SET_SCALE1_LENGTH = 0x093
};

#define NPU_REGISTERS 0x190

typedef struct {
    const npu_device *device;
    const npu_region *regions;
    npu_work work;
    npu_watch *const *watches;               /* of the regions; NULL: none */
    uint16_t short_registers[NPU_REGISTERS]; /* parameters of commands without payload */
    uint64_t long_registers[NPU_REGISTERS];  /* payloads, with the parameter in bits 32 to 47 */
    uint8_t lut[NPU_LUT_BYTES];
    uint32_t word;   /* index of the command that runs */
    npu_fault fault; /* the first one; its status stays NPU_OK until then */
} npu_model;

/* A tensor of height x width x channels in a region, in up to four tiles of their own addresses. */
typedef struct {
    uint32_t region;
    uint64_t tile_addresses[4]; /* upper left, upper right, lower left, lower right */
    uint32_t left_width;        /* columns of the left tiles */
    uint32_t left_height;       /* rows of the upper left tile */
    uint32_t right_height;      /* rows of the upper right tile */
    int64_t column_stride, row_stride, brick_stride; /* in bytes */
    uint32_t element_bytes;                          /* 1, 2 or 4 */
    bool has_sign;
    bool in_bricks; /* 16 channels of every pixel of a row lie together (NHCWB16) */
    int32_t zero_point;
} npu_tensor;

typedef enum { NPU_ROUND_TWICE = 0, NPU_ROUND_TOWARDS_ZERO = 1, NPU_ROUND_UP = 2 } npu_rounding;

typedef struct {
    uint32_t multiplier; /* of value x multiplier / 2^shift */
    uint32_t shift;      /* 0 to 63 */
} npu_scale;

/* npu_stream.c: `npu_run` in two parts, for callers with a place of their own for the model. */
void npu_begin(npu_model *model, const npu_device *device, const npu_region *regions,
               npu_work work);
void npu_run_words(npu_model *model, const uint32_t *stream, size_t words);

/* npu_memory.c */
void npu_fail(npu_model *model, npu_status status, uint32_t region, uint64_t address);
bool npu_failed(const npu_model *model);
void npu_spend(npu_model *model, uint64_t steps);
const uint8_t *npu_readable(npu_model *model, uint32_t region, uint64_t address, uint64_t length);
uint8_t *npu_writable(npu_model *model, uint32_t region, uint64_t address, uint64_t length);
npu_tensor npu_input(const npu_model *model);
npu_tensor npu_second_input(const npu_model *model);
npu_tensor npu_result(const npu_model *model);
int32_t npu_load(npu_model *model, const npu_tensor *tensor, uint32_t y, uint32_t x, uint32_t c);
void npu_store(npu_model *model, const npu_tensor *tensor, uint32_t y, uint32_t x, uint32_t c,
               int32_t value);

/* npu_watch.c: a byte that may not be accessed is a fault; a written one is newer than the core's.
 */
void npu_watch_read(npu_model *model, uint32_t region, uint64_t address, uint64_t length);
void npu_watch_write(npu_model *model, uint32_t region, uint64_t address, uint64_t length);

/* npu_scaling.c */
int64_t npu_rescale(int64_t value, npu_scale scale, npu_rounding rounding);
npu_scale npu_scale_of(uint64_t reg);
npu_scale npu_mean_scale(uint32_t elements);
npu_rounding npu_result_rounding(const npu_model *model);
void npu_finish(npu_model *model, const npu_tensor *result, uint32_t y, uint32_t x, uint32_t c,
                int64_t scaled);

/* npu_modes.c */
void npu_check_modes(npu_model *model, uint32_t code);

/* npu_sigmoids.c: of arguments from 0 on in steps of 1 / 24, in units of 2^-16. */
extern const uint16_t npu_sigmoids[256];

/* npu_weights.c */
typedef struct {
    uint32_t height, width; /* of the kernel */
    uint32_t input_depth;   /* 1 where each channel has a kernel of its own */
    uint32_t result_depth;
    bool depthwise;
} npu_kernel_shape;

bool npu_read_weights(npu_model *model, const npu_kernel_shape *shape);

/* npu_convolution.c, npu_pooling.c, npu_elementwise.c */
typedef struct {
    uint32_t height, width, dilated_height, dilated_width; /* elements, and rows they span */
    uint32_t stride_y, stride_x, dilation_y, dilation_x;
    uint32_t pad_top, pad_left;
    uint32_t input_height, input_width; /* without padding, after upscaling */
    uint32_t upscale;                   /* 1 or 2 */
    bool zeros_between;                 /* upscaling puts zeros between elements */
} npu_window;

npu_window npu_window_of(const npu_model *model);
bool npu_window_pixel(const npu_window *window, uint32_t oy, uint32_t ox, uint32_t ky, uint32_t kx,
                      uint32_t *y, uint32_t *x);
void npu_convolve(npu_model *model, bool depthwise);
void npu_pool(npu_model *model, uint32_t mode);
void npu_elementwise(npu_model *model, uint32_t mode);

#endif
