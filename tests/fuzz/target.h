/*
 * target.h -- what the generated half of a fuzz program tells the other half (target.c).
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdint.h>

#define FUZZ_PAINTED 0xFFFFFFFFu

/* Bytes of memory that a call is given. In the blob, laid out as BUFFER of image.py. */
typedef struct {
    uint32_t address;
    uint32_t size;
    uint32_t from;  /* where in the blob its first content is; FUZZ_PAINTED: it is painted */
    uint16_t front; /* painted bytes before and behind it that must stay as they are */
    uint16_t back;
    uint32_t is_kept; /* whether the call must leave it as it was */
} fuzz_buffer;

typedef enum {
    FUZZ_BYTES,
    FUZZ_FLOATS, /* equal numbers: 0 is -0, NaN is NaN */
    FUZZ_NEAR    /* floats, up to `tolerance` apart */
} fuzz_kind;

/* One call of a kernel at one place. The result is the first buffer. */
typedef struct {
    void (*call)(uint8_t *const *at, const void *const *of, const int32_t *n);
    const void *const *of; /* pointers and numbers that the function hands on */
    const int32_t *n;
    const fuzz_buffer *buffers;
    uint32_t count;
    uint32_t expected; /* in the blob */
    fuzz_kind kind;
    float tolerance;
    uint32_t paint;
} fuzz_entry;

/* A range of memory that is open to kernels; everything else is closed where there is an MPU. */
typedef struct {
    uint32_t start;
    uint32_t size; /* a power of two, which divides `start` */
    uint32_t is_read_only;
} fuzz_range;

#define FUZZ_MOST_BUFFERS 16

extern const uint8_t fuzz_blob[];
extern const fuzz_entry fuzz_entries[];
extern const uint32_t fuzz_entry_count;
extern const fuzz_range fuzz_ranges[];
extern const uint32_t fuzz_range_count;
extern uint8_t fuzz_stack_end[];

void fuzz_main(void); /* the first C function; never returns */
void fuzz_fault(void);

#endif /* FUZZ_TARGET_H */
