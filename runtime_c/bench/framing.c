/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framing.c -- frames over the UART: COBS, CRC-32 (reflected, polynomial 0x04C11DB7, as zlib's).
 */
#include "cg_link.h"
#include "cg_port.h"

static uint32_t crc_step(uint32_t crc, uint32_t byte)
{
    /* Remainders of the 16 values of four bits: a table of 64 bytes, two look-ups a byte. */
    static const uint32_t table[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u,
        0x4DB26158u, 0x5005713Cu, 0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
        0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu,
    };
    crc ^= byte;
    crc = table[crc & 15u] ^ (crc >> 4);
    return table[crc & 15u] ^ (crc >> 4);
}

static uint32_t crc32(const uint8_t *bytes, uint32_t count)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < count; i++) {
        crc = crc_step(crc, bytes[i]);
    }
    return ~crc;
}

/* A decoder of one frame; more bytes than the buffer takes make it garbled. */
typedef struct {
    uint32_t count;
    bool garbled;
} decoded_frame;

static void append(decoded_frame *frame, uint8_t byte)
{
    if (frame->count == cg_board.frame_bytes) {
        frame->garbled = true;
    } else {
        cg_board.frame[frame->count] = byte;
        frame->count++;
    }
}

/* Decodes up to the next zero byte. Blocks: code byte c, then c - 1 bytes, then (c < 255) a zero.
 */
static decoded_frame receive_decoded(void)
{
    decoded_frame frame = {0, false};
    uint32_t left = 0;     /* bytes until the next code byte */
    bool zero_due = false; /* the last block stands for a zero behind it, unless the frame ends */
    for (;;) {
        const uint8_t byte = cg_uart_get();
        if (byte == 0) {
            frame.garbled = frame.garbled || left != 0;
            return frame;
        }
        if (left != 0) {
            left--;
            append(&frame, byte);
            continue;
        }
        if (zero_due) {
            append(&frame, 0);
        }
        left = byte - 1u;
        zero_due = byte != 0xFFu;
    }
}

static uint32_t word_at(uint32_t at)
{
    uint32_t value = 0;
    for (uint32_t i = 4; i > 0; i--) {
        value = (value << 8) | cg_board.frame[at + i - 1u];
    }
    return value;
}

static void put_word(uint32_t at, uint32_t value)
{
    for (uint32_t i = 0; i < 4u; i++) {
        cg_board.frame[at + i] = (uint8_t)(value >> (8u * i));
    }
}

uint32_t cg_link_receive(uint32_t *session)
{
    decoded_frame frame;
    do { /* nothing between two zeros: the end of one frame and the start of the next */
        frame = receive_decoded();
    } while (frame.count == 0 && !frame.garbled);
    if (frame.garbled || frame.count < CG_LINK_HEADER_BYTES + CG_LINK_CRC_BYTES) {
        return 0;
    }
    const uint32_t bytes = frame.count - CG_LINK_CRC_BYTES;
    if (word_at(bytes) != crc32(cg_board.frame, bytes)) {
        return 0;
    }
    *session = 0;
    if (bytes < CG_LINK_HEADER_BYTES + CG_LINK_SESSION_BYTES) {
        return bytes;
    }
    *session = word_at(bytes - CG_LINK_SESSION_BYTES);
    return bytes - CG_LINK_SESSION_BYTES;
}

/* Bytes from `start` to the next zero, at most 254. */
static uint32_t block_length(const uint8_t *bytes, uint32_t start, uint32_t end)
{
    uint32_t length = 0;
    while (length < 254u && start + length < end && bytes[start + length] != 0) {
        length++;
    }
    return length;
}

static void send_encoded(const uint8_t *bytes, uint32_t count)
{
    uint32_t at = 0;
    bool more = true;
    while (more) {
        const uint32_t length = block_length(bytes, at, count);
        cg_uart_put((uint8_t)(length + 1u));
        for (uint32_t i = 0; i < length; i++) {
            cg_uart_put(bytes[at + i]);
        }
        at += length;
        more = at < count;
        if (more && length < 254u) {
            at++; /* the zero this block stands for; a frame may end with it, then one block is left
                   */
        }
    }
}

void cg_link_send(uint32_t bytes, uint32_t session)
{
    put_word(bytes, session);
    const uint32_t checked = bytes + CG_LINK_SESSION_BYTES;
    put_word(checked, crc32(cg_board.frame, checked));
    cg_uart_put(0);
    send_encoded(cg_board.frame, checked + CG_LINK_CRC_BYTES);
    cg_uart_put(0);
}
