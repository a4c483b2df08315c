/* SPDX-License-Identifier: 0BSD */
/*
 * counter_figures.h -- generated; do not edit.
 *
 * Figures of this build: which one it is, and the stack that it takes.
 */
#ifndef COUNTER_FIGURES_H
#define COUNTER_FIGURES_H

/* One hash of all code, kernels, constants, compiler and flags: build.sha256 of report.json. */
#define COUNTER_BUILD_SHA256 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

#endif /* COUNTER_FIGURES_H */
