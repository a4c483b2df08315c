/* SPDX-License-Identifier: 0BSD */
/*
 * bare_data.c -- generated; do not edit. Weights, biases, tables.
 */
#include "bare_data.h"

#include <stddef.h>

/* Nothing to define: this model has no constants. */
