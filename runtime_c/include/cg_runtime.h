/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_runtime.h -- what every generated file includes: status, attributes, step hooks.
 *
 * Needs C11 (macros fall back where C++ or an older C reads a generated header). No heap, no
 * recursion; from libraries only memcpy and memset.
 */
#ifndef CG_RUNTIME_H
#define CG_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Generated code and runtime must come from the same generator version line. */
#define CG_RUNTIME_ABI 1

typedef enum {
    CG_OK = 0,
    CG_ERR_NULL_POINTER = 1,
    CG_ERR_INPUT = 2, /* the application could not deliver a row of a streamed input */
    CG_ERR_STEP = 3,  /* there is no step of that number */
    CG_ERR_POOL_SIZE = 4,
    CG_ERR_POOL_ALIGNMENT = 5,
    CG_ERR_CONSTANTS_MISSING = 6, /* no image of constants has been accepted yet */
    CG_ERR_CONSTANTS_ALIGNMENT = 7,
    CG_ERR_CONSTANTS_SIZE = 8,
    CG_ERR_CONSTANTS_FORMAT = 9,   /* it does not begin like an image of constants */
    CG_ERR_CONSTANTS_ABI = 10,     /* its header is of another version */
    CG_ERR_CONSTANTS_LAYOUT = 11,  /* it was made for other code */
    CG_ERR_CONSTANTS_CONTENT = 12, /* its bytes are not those that were written */
    CG_ERR_SIZE = 13,              /* a size is outside its range */
    CG_ERR_STATE_SIZE = 14,
    CG_ERR_STATE_FORMAT = 15,  /* it does not begin like saved state */
    CG_ERR_STATE_LAYOUT = 16,  /* it is of another model, or of other state */
    CG_ERR_STATE_CONTENT = 17, /* its bytes are not those that were saved */
    CG_ERR_BUSY = 18,          /* another call is inside; see the option --busy-flag */
    CG_ERR_NPU_FAULT = 19,     /* the NPU did not run a command stream to its end */
    CG_ERR_NPU_TIMEOUT = 20    /* the NPU did not end in time, or was not free */
} cg_status;

/* A status in words, for logs. Inline, so that nothing of it is linked where nobody calls it. */
static inline const char *cg_status_text(cg_status status)
{
    switch (status) {
    case CG_OK:
        return "done";
    case CG_ERR_NULL_POINTER:
        return "a pointer that is needed is NULL";
    case CG_ERR_INPUT:
        return "the application could not deliver a row of the streamed input";
    case CG_ERR_STEP:
        return "there is no step of that number";
    case CG_ERR_POOL_SIZE:
        return "a pool is too small";
    case CG_ERR_POOL_ALIGNMENT:
        return "a pool's address is not a multiple of its alignment";
    case CG_ERR_CONSTANTS_MISSING:
        return "no image of constants has been accepted yet";
    case CG_ERR_CONSTANTS_ALIGNMENT:
        return "the image of constants is not aligned";
    case CG_ERR_CONSTANTS_SIZE:
        return "the image of constants has another size";
    case CG_ERR_CONSTANTS_FORMAT:
        return "these bytes do not begin like an image of constants";
    case CG_ERR_CONSTANTS_ABI:
        return "the image of constants has a header of another version";
    case CG_ERR_CONSTANTS_LAYOUT:
        return "the image of constants was made for other code";
    case CG_ERR_CONSTANTS_CONTENT:
        return "the image of constants is damaged";
    case CG_ERR_SIZE:
        return "a size is outside its range";
    case CG_ERR_STATE_SIZE:
        return "saved state has another size";
    case CG_ERR_STATE_FORMAT:
        return "these bytes do not begin like saved state";
    case CG_ERR_STATE_LAYOUT:
        return "saved state is of another model, or of other state";
    case CG_ERR_STATE_CONTENT:
        return "saved state is damaged";
    case CG_ERR_BUSY:
        return "another call has not ended: an interrupt or a task was here first";
    case CG_ERR_NPU_FAULT:
        return "the NPU did not run a command stream to its end";
    case CG_ERR_NPU_TIMEOUT:
        return "the NPU did not end in time, or was not free";
    default:
        return "no status of this runtime";
    }
}

#if defined(__GNUC__) || defined(__clang__)
#define CG_CHECK_RESULT   __attribute__((warn_unused_result))
#define CG_SECTION(name)  __attribute__((section(name)))
#define CG_ALIGNED(bytes) __attribute__((aligned(bytes)))
#define CG_MAY_ALIAS      __attribute__((may_alias))
#define CG_USED           __attribute__((used))
#else
#error "cg_runtime.h knows gcc and clang; add your compiler's attributes here"
#endif

#if defined(__cplusplus)
#define CG_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define CG_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/*
 * Asks the linker for the library with `symbol`, so that it sees what does not belong together.
 * Costs nothing where it drops what nobody reads (-fdata-sections and --gc-sections), else an
 * address. CG_NO_LINK_CHECKS leaves it out: for a unit test with a <model>_run of its own.
 */
#ifdef CG_NO_LINK_CHECKS
#define CG_REQUIRE(symbol) extern const uint8_t symbol
#else
#define CG_REQUIRE(symbol)                                                                         \
    extern const uint8_t symbol;                                                                   \
    CG_USED static const uint8_t *const symbol##_is_there = &(symbol)
#endif

/*
 * Says which version of the runtime a folder's kernels are of. Folders of one version share their
 * kernels, so the linker keeps one of such groups. Of two versions it keeps both, and finds a name
 * twice that says what to do. Objects other than ELF go unchecked.
 */
#if defined(__ELF__)
#define CG_RUNTIME_VERSION(version) CG_RUNTIME_GROUP(cg_runtime_of_version_##version)
#define CG_RUNTIME_GROUP(symbol)                                                                   \
    extern const uint8_t symbol;                                                                   \
    __asm__(".pushsection .rodata." #symbol ",\"aG\",%progbits," #symbol ",comdat\n"               \
            ".globl " #symbol "\n" #symbol ":\n"                                                   \
            ".globl cg_ERROR_two_versions_of_codegen__build_all_folders_with_one\n"                \
            "cg_ERROR_two_versions_of_codegen__build_all_folders_with_one:\n"                      \
            ".byte 0\n.popsection")
#else
#define CG_RUNTIME_VERSION(version)                                                                \
    extern const uint8_t cg_runtime_of_version_##version __attribute__((weak));                    \
    const uint8_t cg_runtime_of_version_##version = 0
#endif

/* Values of several types share the bytes of a pool, so wide ones are accessed through these. */
typedef float CG_MAY_ALIAS cg_f32;
typedef int16_t CG_MAY_ALIAS cg_s16;
typedef uint16_t CG_MAY_ALIAS cg_u16;
typedef int32_t CG_MAY_ALIAS cg_s32;
typedef uint32_t CG_MAY_ALIAS cg_u32;

/*
 * A real number as a quantised tensor stores it: value / scale + zero_point, rounded to the
 * nearest, halves away from zero, and clamped to [low, high]. NaN gives low. The zero point and the
 * limits are those of an element of 8 or 16 bits.
 */
static inline int32_t cg_quantize(float value, float scale, int32_t zero_point, int32_t low,
                                  int32_t high)
{
    const float limit = 131072.0f; /* beyond twice 16 bits; up to here float still has fractions */
    const float scaled = value / scale;
    if (!(scaled > -limit)) {
        return low;
    }
    if (scaled > limit) {
        return high;
    }
    const int32_t whole = (int32_t)scaled;
    const float rest = scaled - (float)whole;
    const int32_t up = (rest >= 0.5f) ? 1 : 0;
    const int32_t down = (rest <= -0.5f) ? 1 : 0;
    const int32_t stored = whole + up - down + zero_point;
    return (stored < low) ? low : ((stored > high) ? high : stored);
}

/* The real number that a stored element stands for. */
static inline float cg_dequantize(int32_t stored, float scale, int32_t zero_point)
{
    return scale * (float)(stored - zero_point);
}

/* A model, as hooks are told of it: <model>_model. */
typedef struct {
    const char *name;
    const char *const *step_names; /* `steps` of them, the rows of the memory map of <model>.c */
    uint32_t steps;
} cg_model;

/*
 * Step hooks: functions of yours that are called right before and right after the work of every
 * step of every model, by <model>_run and by <model>_step alike; a step without code has none. They
 * run on the caller's stack and must not call the model. Compile <model>.c
 *   with CG_MODEL_HOOKS for cg_model_step_begin and cg_model_step_end, which are told the model,
 *   or with CG_STEP_HOOKS for cg_step_begin and cg_step_end, which are told the step only.
 * Without either no code and no name is left of them.
 */
#if defined(CG_MODEL_HOOKS)
void cg_model_step_begin(const cg_model *model, uint32_t step);
void cg_model_step_end(const cg_model *model, uint32_t step);
#define CG_STEP_BEGIN(step) cg_model_step_begin(&(CG_MODEL), step)
#define CG_STEP_END(step)   cg_model_step_end(&(CG_MODEL), step)
#elif defined(CG_STEP_HOOKS)
void cg_step_begin(uint32_t step);
void cg_step_end(uint32_t step);
#define CG_STEP_BEGIN(step) cg_step_begin(step)
#define CG_STEP_END(step)   cg_step_end(step)
#else
#define CG_STEP_BEGIN(step) ((void)0)
#define CG_STEP_END(step)   ((void)0)
#endif

/*
 * Copy hooks: where kernels are compiled with CG_DEVICE_COPY_HOOK, cg_device_copy_hook moves values
 * from one memory into another, say by DMA. It returns when all bytes are at `to` and the core sees
 * them there: where a data cache sits in front of either memory, cleaning `from` before and
 * invalidating `to` after is its job.
 * With CG_STAGE_HOOKS, for kernels and models alike, cg_stage_hook may begin to copy constants and
 * return; cg_stage_wait_hook returns when all that was begun is there and the core sees it.
 */
#ifdef CG_DEVICE_COPY_HOOK
void cg_device_copy_hook(void *to, const void *from, size_t bytes);
#endif
#ifdef CG_STAGE_HOOKS
void cg_stage_hook(void *to, const void *from, size_t bytes);
void cg_stage_wait_hook(void);
#endif

/*
 * The loop of the second core, for a model with steps on it: start it before the first call, with a
 * stack of its own for this function's frame and the deepest step, after .bss was cleared. Both
 * cores see pools, constants and code at the same addresses, uncached or coherent. Models share the
 * mailbox: one context of core 0 calls their entry functions at a time.
 */
void cg_core1_main(void) __attribute__((noreturn));
#if !defined(__arm__)
/*
 * Functions of such a model's application, on cores that have no WFE and SEV. Either core calls
 * them, at the level that it runs at. The first wakes the other core, or keeps it from its next
 * sleep. The second returns once the other core has called the first since the last return, or
 * earlier.
 */
void cg_core1_wake(void);
void cg_core1_sleep(void);
#endif

#ifdef __cplusplus
}
#endif

#endif /* CG_RUNTIME_H */
