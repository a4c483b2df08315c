/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu_weights.c -- the compressed weights of one command: from bits to a dense kernel.
 *
 * A stream is a sequence of slices. A slice's header gives how its values are coded: Golomb-Rice
 * with 2^div remainders or plain, by a palette or directly, with or without runs of zeros between
 * values. Values come in chunks: unary quotients of a chunk first, the remainders of the chunk
 * before it last. The order of values is that in which the device multiplies.
 */
#include <string.h>

#include "npu_parts.h"

#define RING        64U /* more values than two chunks hold */
#define PALETTE     32U
#define CHUNK       12U
#define NO_RUNS     6U /* code of a slice without runs of zeros */
#define END         7U /* code that ends a stream: the next byte begins another or is padding */
#define PLAIN       7U /* code of values without quotients */
#define KERNEL_PART 8U /* the device splits kernels into parts of 8x8 elements */

/* Values whose remainders come a chunk later than their quotients. */
typedef struct {
    uint32_t quotients[CHUNK];
    uint32_t count; /* quotients of the last chunk */
    bool waits;     /* their remainders have not been read */
    uint32_t carry; /* part of a quotient that goes on in the next chunk */
    uint32_t begun; /* values of the slice whose quotients are complete */
    uint32_t total; /* values of the slice */
    uint32_t read;  /* values of the slice whose remainders have been read */
    uint32_t taken; /* values of the slice that have been handed on */
    uint32_t ring[RING];
} coded_values;

typedef struct {
    const uint8_t *bytes;
    uint64_t bits; /* length of the stream */
    uint64_t position;
    bool broken;
    bool has_palette; /* a slice has set one since the stream began */
    uint32_t palette[PALETTE + 1];
    uint32_t palette_size;
    uint32_t palette_bits;
    uint32_t direct_offset;
    bool has_runs, is_plain, cuts_quotients;
    uint32_t weight_bits, run_bits; /* of a remainder */
    coded_values weights, runs;
    bool leads_with_run; /* zeros come before the slice's first value */
    uint32_t zeros;      /* zeros that are due before the next value */
} decoder;

static uint32_t take(decoder *stream, uint32_t bits)
{
    uint32_t value = 0;
    if (bits > stream->bits - stream->position) {
        stream->broken = true;
        return 0;
    }
    for (uint32_t i = 0; i < bits; i++, stream->position++) {
        const uint32_t bit = stream->bytes[stream->position >> 3] >> (stream->position & 7U) & 1U;
        value |= bit << i;
    }
    return value;
}

static void read_palette(decoder *stream)
{
    stream->has_palette = true;
    stream->direct_offset = take(stream, 5);
    const uint32_t size = take(stream, 5);
    stream->palette_size = size == 0 ? 0 : size + 1;
    stream->palette_bits = take(stream, 3) + 2;
    for (uint32_t i = 0; i < stream->palette_size; i++) {
        stream->palette[i] = take(stream, stream->palette_bits);
    }
}

static uint32_t plain_bits(const decoder *stream)
{
    uint32_t bits = 0;
    if (stream->palette_size == 0) {
        return stream->palette_bits;
    }
    while ((uint32_t)1 << bits < stream->palette_size) {
        bits++;
    }
    return bits;
}

static void begin_slice(decoder *stream)
{
    uint32_t run_code = take(stream, 3);
    while (run_code == END && !stream->broken) {
        stream->position = (stream->position + 7) & ~(uint64_t)7;
        stream->has_palette = false;
        run_code = take(stream, 3);
    }
    const uint32_t values = take(stream, 15) + 1;
    const uint32_t weight_code = take(stream, 3);
    stream->cuts_quotients = take(stream, 1) != 0;
    const bool new_palette = take(stream, 1) != 0;
    const bool had_runs = stream->has_runs;
    const bool had_palette = stream->has_palette;
    stream->has_runs = run_code != NO_RUNS;
    if (new_palette) {
        read_palette(stream);
    }
    stream->is_plain = weight_code == PLAIN;
    stream->weight_bits = stream->is_plain ? plain_bits(stream) : weight_code;
    stream->run_bits = run_code;
    stream->broken |= !new_palette && (!had_palette || had_runs != stream->has_runs);
    stream->broken |= (stream->has_runs && run_code > 3) || (!stream->is_plain && weight_code > 5);
    memset(&stream->weights, 0, sizeof stream->weights);
    memset(&stream->runs, 0, sizeof stream->runs);
    stream->weights.total = values;
    stream->runs.total = stream->has_runs ? values + (new_palette ? 1U : 0U) : 0;
    stream->leads_with_run = stream->has_runs && new_palette;
}

static void complete(coded_values *values, uint32_t quotient)
{
    values->quotients[values->count++] = quotient;
    values->carry = 0;
    values->begun++;
}

static void read_run_quotients(decoder *stream)
{
    coded_values *runs = &stream->runs;
    const uint32_t length = stream->run_bits < 3 ? 12 : 8;
    const uint32_t unary = take(stream, length);
    runs->count = 0;
    for (uint32_t i = 0; i < length; i++) {
        if (unary >> i & 1U) {
            runs->carry++;
        } else {
            complete(runs, runs->carry);
        }
    }
}

static void read_weight_quotients(decoder *stream, uint32_t first_unary)
{
    coded_values *weights = &stream->weights;
    const uint32_t symbols = stream->is_plain && stream->weight_bits > 5 ? 8 : 12;
    uint32_t ones = 0;
    for (uint32_t i = 0; i < symbols; i++) {
        ones += first_unary >> i & 1U;
    }
    uint32_t second_unary = take(stream, ones);
    weights->count = 0;
    for (uint32_t i = 0; i < symbols; i++) {
        uint32_t code = 0;
        if (first_unary >> i & 1U) {
            code = 1 + (second_unary & 1U);
            second_unary >>= 1;
        }
        weights->carry += code;
        if (code < 2 || stream->cuts_quotients) {
            complete(weights, weights->carry);
        }
    }
}

static void read_remainders(decoder *stream, coded_values *values, uint32_t bits)
{
    for (uint32_t i = 0; i < values->count && values->read < values->total; i++) {
        values->ring[values->read % RING] = (values->quotients[i] << bits) + take(stream, bits);
        values->read++;
    }
}

/* One chunk of a slice. Either kind of values pauses where it is too far ahead of the other. */
static void read_chunk(decoder *stream)
{
    coded_values *weights = &stream->weights;
    coded_values *runs = &stream->runs;
    const int64_t lead = stream->has_runs ? (int64_t)weights->begun - (int64_t)runs->begun : 0;
    const bool more_weights = (!stream->has_runs || lead < 8) && weights->begun < weights->total;
    const bool more_runs = stream->has_runs && lead >= 0 && runs->begun < runs->total;
    const coded_values earlier_weights = *weights;
    const coded_values earlier_runs = *runs;
    const uint32_t first_unary = more_weights && !stream->is_plain ? take(stream, CHUNK) : 0;
    if (more_runs) {
        read_run_quotients(stream);
    }
    if (more_weights) {
        read_weight_quotients(stream, first_unary);
    }
    coded_values *kinds[2] = {weights, runs};
    const coded_values *earlier[2] = {&earlier_weights, &earlier_runs};
    const uint32_t bits[2] = {stream->weight_bits, stream->run_bits};
    const bool more[2] = {more_weights, more_runs};
    for (int kind = 0; kind < 2; kind++) {
        coded_values now = *kinds[kind];
        if (earlier[kind]->waits) {
            memcpy(kinds[kind]->quotients, earlier[kind]->quotients, sizeof now.quotients);
            kinds[kind]->count = earlier[kind]->count;
            read_remainders(stream, kinds[kind], bits[kind]);
            memcpy(kinds[kind]->quotients, now.quotients, sizeof now.quotients);
            kinds[kind]->count = now.count;
        }
        kinds[kind]->waits = more[kind];
    }
    stream->broken |= !more_weights && !more_runs && !earlier_weights.waits && !earlier_runs.waits;
}

static bool has_value(const coded_values *values)
{
    return values->taken < values->read;
}

static uint32_t next_value(decoder *stream, coded_values *values)
{
    while (!has_value(values) && !stream->broken) {
        read_chunk(stream);
    }
    return values->ring[values->taken++ % RING];
}

static int16_t weight_of(const decoder *stream, uint32_t index)
{
    const uint32_t code = index < stream->palette_size
                              ? stream->palette[index]
                              : index - stream->palette_size + stream->direct_offset;
    const int16_t magnitude = (int16_t)(code >> 1);
    return code & 1U ? (int16_t)-magnitude : magnitude;
}

static int16_t next_weight(decoder *stream)
{
    if (stream->zeros == 0 && stream->weights.taken == stream->weights.total) {
        begin_slice(stream);
        if (stream->leads_with_run && !stream->broken) {
            stream->zeros = next_value(stream, &stream->runs);
        }
    }
    if (stream->zeros > 0) {
        stream->zeros--;
        return 0;
    }
    if (stream->broken) {
        return 0;
    }
    const int16_t weight = weight_of(stream, next_value(stream, &stream->weights));
    if (stream->has_runs) {
        stream->zeros = next_value(stream, &stream->runs);
    }
    return weight;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t rounded_up(uint32_t value, uint32_t step)
{
    return (value + step - 1) / step * step;
}

/* Weights that one core reads: channels `first`, `first + cores`, … of the result. */
typedef struct {
    uint32_t first, cores;
    uint32_t depth;       /* channels of the result that this core computes */
    uint32_t block_depth; /* channels of the result that one block computes */
    bool part_kernel_first;
    uint32_t input_block;  /* channels of the input that one block takes */
    uint32_t element_step; /* elements of a kernel part are padded to a multiple */
    uint32_t part_height, part_width;
} core_order;

static void place(npu_model *model, const npu_kernel_shape *shape, uint32_t result_channel,
                  uint32_t y, uint32_t x, uint32_t input_channel, int16_t weight)
{
    const size_t row = ((size_t)result_channel * shape->height + y) * shape->width + x;
    model->work.weights[row * shape->input_depth + input_channel] = weight;
}

typedef struct {
    uint32_t result_from, result_count; /* channels of the core's result */
    uint32_t input_from, input_count;   /* channels of the input, padding included */
    uint32_t y, x, height, width;       /* of the kernel */
} kernel_part;

/* All input channels of [from, to) for one group of result channels and one kernel element. */
static void read_element(npu_model *model, decoder *stream, const npu_kernel_shape *shape,
                         const core_order *order, kernel_part part, uint32_t result_group,
                         uint32_t input_from, uint32_t input_to, uint32_t element)
{
    const npu_device *device = model->device;
    const uint32_t y = part.y + element / part.width;
    const uint32_t x = part.x + element % part.width;
    const bool is_padding = element >= part.height * part.width;
    const uint32_t step = device->ifm_ublock_depth;
    for (uint32_t input = input_from; input < input_to; input += step) {
        for (uint32_t i = 0; i < device->ofm_ublock_depth; i++) {
            for (uint32_t j = 0; j < (shape->depthwise ? 1 : step); j++) {
                const uint32_t channel = part.result_from + result_group + i;
                const uint32_t input_channel = part.input_from + input + j;
                const int16_t weight = next_weight(stream);
                if (!is_padding && channel < order->depth && input_channel < shape->input_depth) {
                    place(model, shape, order->first + channel * order->cores, y, x, input_channel,
                          weight);
                }
            }
        }
    }
}

static void read_part(npu_model *model, decoder *stream, const npu_kernel_shape *shape,
                      const core_order *order, kernel_part part)
{
    const npu_device *device = model->device;
    const uint32_t elements = rounded_up(part.height * part.width, order->element_step);
    const uint32_t outer = order->part_kernel_first ? part.input_count : 1;
    for (uint32_t input = 0; input < outer; input += device->ifm_ublock_depth) {
        const uint32_t input_to = order->part_kernel_first ? input + 1 : part.input_count;
        for (uint32_t group = 0; group < part.result_count; group += device->ofm_ublock_depth) {
            for (uint32_t element = 0; element < elements && !stream->broken; element++) {
                read_element(model, stream, shape, order, part, group, input, input_to, element);
            }
        }
    }
}

static void read_block(npu_model *model, decoder *stream, const npu_kernel_shape *shape,
                       const core_order *order, uint32_t result_from)
{
    const uint32_t inputs = shape->depthwise ? 1 : shape->input_depth;
    kernel_part part = {.result_from = result_from,
                        .result_count = smaller(order->block_depth, order->depth - result_from)};
    for (; part.input_from < inputs; part.input_from += order->input_block) {
        part.input_count = shape->depthwise ? model->device->ifm_ublock_depth : order->input_block;
        if (order->part_kernel_first) {
            part.input_count = smaller(order->input_block, inputs - part.input_from);
        }
        for (part.y = 0; part.y < shape->height; part.y += order->part_height) {
            part.height = smaller(order->part_height, shape->height - part.y);
            for (part.x = 0; part.x < shape->width; part.x += order->part_width) {
                part.width = smaller(order->part_width, shape->width - part.x);
                read_part(model, stream, shape, order, part);
            }
        }
    }
}

static core_order order_of(const npu_model *model, const npu_kernel_shape *shape, uint32_t core)
{
    const uint16_t stride = model->short_registers[NPU_SET_KERNEL_STRIDE];
    const bool is_wide = (model->short_registers[NPU_SET_IFM_PRECISION] >> 2 & 3U) == 1;
    const uint32_t cores = model->device->cores;
    const uint32_t block = model->short_registers[NPU_SET_OFM_BLK_DEPTH_M1] + 1U;
    const bool part_kernel_first = !shape->depthwise && (stride & 4U) != 0;
    return (core_order){
        .first = core,
        .cores = cores,
        .depth = (shape->result_depth + cores - 1 - core) / cores,
        .block_depth = (block + cores - 1 - core) / cores,
        .part_kernel_first = part_kernel_first,
        .input_block = part_kernel_first || is_wide ? 16 : 32,
        .element_step = shape->depthwise     ? 4
                        : !part_kernel_first ? 1
                        : is_wide            ? 2
                                             : 4,
        .part_height = KERNEL_PART >> (stride >> 4 & 1U),
        .part_width = KERNEL_PART >> (stride >> 3 & 1U),
    };
}

static bool read_core(npu_model *model, const npu_kernel_shape *shape, uint32_t core)
{
    const core_order order = order_of(model, shape, core);
    const uint32_t base = core == 0 ? NPU_SET_WEIGHT_BASE : NPU_SET_WEIGHT1_BASE;
    const uint64_t length = model->long_registers[base + 1] & 0xffffffffU;
    const uint8_t *bytes = npu_readable(model, model->short_registers[NPU_SET_WEIGHT_REGION],
                                        model->long_registers[base], length);
    if (bytes == NULL || order.depth == 0) {
        return bytes != NULL;
    }
    if (order.block_depth == 0) {
        npu_fail(model, NPU_BAD_WEIGHTS, 0, 0);
        return false;
    }
    decoder stream = {.bytes = bytes, .bits = length * 8};
    for (uint32_t from = 0; from < order.depth && !stream.broken; from += order.block_depth) {
        read_block(model, &stream, shape, &order, from);
    }
    if (stream.broken) {
        npu_fail(model, NPU_BAD_WEIGHTS, model->short_registers[NPU_SET_WEIGHT_REGION],
                 model->long_registers[base] + stream.position / 8);
    }
    return !stream.broken;
}

/* Fills `work.weights` as [result channel][row][column][input channel]. */
bool npu_read_weights(npu_model *model, const npu_kernel_shape *shape)
{
    const uint64_t kernel = (uint64_t)shape->height * shape->width * shape->input_depth;
    if (kernel > model->work.weight_capacity / shape->result_depth) {
        npu_fail(model, NPU_TOO_MANY_WEIGHTS, 0, kernel * shape->result_depth);
        return false;
    }
    for (uint32_t core = 0; core < model->device->cores; core++) {
        if (!read_core(model, shape, core)) {
            return false;
        }
    }
    return true;
}
