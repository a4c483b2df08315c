/* SPDX-License-Identifier: 0BSD */
/*
 * bare_data.h -- generated; do not edit. Private to this model.
 *
 * This model has no constants.
 */
#ifndef BARE_DATA_H
#define BARE_DATA_H

#include <stdint.h>

#include "bare.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

#endif /* BARE_DATA_H */
