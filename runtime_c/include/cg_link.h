/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cg_link.h -- the test link: frames, commands and replies. codegen/board/link/protocol.py is the
 * other end and must say the same.
 *
 * A frame is COBS-encoded between zero bytes: sequence u16, kind u8, status u8, payload, session
 * u32, CRC-32 (as zlib's) of all before. Numbers are little-endian. Every request gets one reply of
 * the same sequence number and kind. A request that repeats the last sequence number is not
 * executed again (reads, which change nothing, are): its reply is sent again. A frame whose CRC is
 * wrong is answered by CG_LINK_GARBLED, so that the host need not wait.
 *
 * Session: a number that the host draws at random. The target takes it from IDENTIFY, keeps it in
 * RAM and puts it into every reply. A reset loses it: then it is 0, every request but IDENTIFY is
 * refused, and the host sees that inputs, a paused run and all else it had sent are gone. The first
 * word that IDENTIFY answers is the version, in every version.
 */
#ifndef CG_LINK_H
#define CG_LINK_H

#include <stdint.h>

#include "cg_runtime.h"

#define CG_LINK_VERSION       5u
#define CG_LINK_HEADER_BYTES  4u
#define CG_LINK_SESSION_BYTES 4u
#define CG_LINK_CRC_BYTES     4u
#define CG_LINK_FRAME_BYTES   (CG_LINK_HEADER_BYTES + CG_LINK_SESSION_BYTES + CG_LINK_CRC_BYTES)

/* Kinds of requests; payloads are packed u32 unless said otherwise. */
enum {
    CG_LINK_IDENTIFY = 1, /* -> version, ABI, models, payload bytes, counter bits, calibration
                                ticks, calibration instructions, MPU regions, free link stack,
                                u8 build_sha256[32], board name */
    CG_LINK_MODEL = 2,    /* model -> inputs, outputs, pools, steps, kept bytes, u8 sha256[32] */
    CG_LINK_ENTRY = 3, /* model, table, index -> size, peak, address (0: it has no bytes), name */
    CG_LINK_PAINT = 4, /* model, value: pools, bytes around them, free stack -> */
    CG_LINK_WRITE = 5, /* model, input, offset, bytes -> */
    CG_LINK_KEEP = 6,  /* model, offset, bytes: keeps them in unused memory -> */
    CG_LINK_RUN =
        7, /* model, flags, paint -> state, cg_status, step, ticks u64, and if it faulted: fault */
    CG_LINK_CONTINUE = 8, /* -> as RUN */
    CG_LINK_READ = 9,     /* model, table, index, offset, count -> bytes */
    CG_LINK_MARKS = 10,   /* model, pool, paint -> peak, intact, stack peak, core 1's */
    CG_LINK_COUNTER = 11, /* -> ticks u64 */
    CG_LINK_GARBLED = 0xFF
};

/* Tables of CG_LINK_ENTRY and CG_LINK_READ. */
enum { CG_LINK_INPUTS, CG_LINK_OUTPUTS, CG_LINK_POOLS, CG_LINK_STEPS };

/* Flags of CG_LINK_RUN. */
enum {
    CG_LINK_TRACED = 1,    /* pause behind every step */
    CG_LINK_KEPT = 2,      /* before, copy the kept bytes to the inputs, in order */
    CG_LINK_PAINTED = 4,   /* before that, paint as CG_LINK_PAINT does */
    CG_LINK_SANDBOXED = 8, /* of the pools, each step reaches what `touched` says, and no more */
    CG_LINK_FIRST = 16,    /* begin a sequence of inferences: set the model's state to zero */
    CG_LINK_NEXT = 32      /* go on with one, as an application does: prepare nothing */
};

/* States of a run. */
enum {
    CG_LINK_FINISHED,
    CG_LINK_PAUSED, /* behind a step of a traced run */
    CG_LINK_FAULTED,
    CG_LINK_REFUSED, /* the step cannot be sandboxed; the status says why; the model is given up */
    CG_LINK_BEGUN    /* in front of a step of a sandboxed run; never told: the link goes on */
};

/* Why a step is refused. */
enum {
    CG_LINK_NO_REGION = 1, /* it needs more MPU regions than there are */
    CG_LINK_INEXACT        /* a buffer does not start where an MPU region can */
};

/* Status of a reply. */
enum {
    CG_LINK_OK,
    CG_LINK_UNKNOWN,  /* no such kind */
    CG_LINK_ARGUMENT, /* an index, offset or count is out of range */
    CG_LINK_NOT_NOW,  /* nothing to continue, a run is paused, or no inputs came since the last */
    CG_LINK_FAULT,    /* the link itself faulted; payload: fault */
    CG_LINK_OTHER_SESSION /* the target was reset, or identified to another host */
};

#define CG_LINK_NO_STEP 0xFFFFFFFFu

#define CG_LINK_FAULT_WORDS 8u

/* Why a core faulted: its family writes and decodes it, the link only carries it. */
typedef struct {
    uint32_t cause; /* 0: no fault */
    uint32_t words[CG_LINK_FAULT_WORDS];
} cg_link_fault;

/*
 * framing.c: waits for a whole frame in cg_board.frame; its bytes without session and CRC, 0 if
 * garbled. `session`: that of the frame; 0 if it has none, as those of older hosts.
 */
uint32_t cg_link_receive(uint32_t *session);
/* Sends `bytes` of cg_board.frame, with session and CRC, which are put behind them. */
void cg_link_send(uint32_t bytes, uint32_t session);

/* context.c: the model runs unprivileged on a stack of its own. */
typedef struct {
    uint32_t state; /* CG_LINK_FINISHED, ... */
    uint32_t status;
    uint32_t step;  /* begun last */
    uint64_t ticks; /* since start or continue */
    cg_link_fault fault;
} cg_link_event;

/* State and cg_status: written by the model's side, its end by the core's cg_core_run_model. */
extern uint32_t cg_model_event[2];
extern cg_link_event cg_event; /* what the last start or continue ended with */
/* `flags`: of CG_LINK_RUN; here they say when to give way to the link before the end. */
void cg_context_start(cg_status (*run)(void), uint32_t flags);
void cg_context_continue(void);
/* The step begun last. */
uint32_t cg_context_step(void);
/* 1 if the model is paused. */
uint32_t cg_context_paused(void);
/* Gives a paused model up. */
void cg_context_give_up(void);
/* Instructions of a known loop and the ticks it took; start and stop cost `overhead`. */
void cg_context_calibrate(void);
extern uint32_t cg_calibration_ticks;
extern uint32_t cg_calibration_instructions;

/* The second core, where a model has steps on it (core1.c); cg_board.core1 is NULL elsewhere. */
struct cg_core1 {
    uint32_t registers; /* which start it */
    uint8_t *stack_start;
    uint8_t *stack_end;
    void (*follow)(void);        /* has its MPU open what core 0's opens to the model, no more */
    uint8_t *(*stack_top)(void); /* its stack pointer while it waits for steps */
    cg_link_fault *fault;        /* the first since `cause` was set to 0 */
    const uint32_t *fault_step;  /* the step that core 0 waited for then */
};

/* The link itself. */
void cg_link_main(void) __attribute__((noreturn));
/* Answers every request with the fault in cg_event, for ever. */
void cg_link_broken(void) __attribute__((noreturn));

#endif /* CG_LINK_H */
