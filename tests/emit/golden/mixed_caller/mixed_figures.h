/* SPDX-License-Identifier: 0BSD */
/*
 * mixed_figures.h -- generated; do not edit.
 *
 * Figures of this build: which one it is, and the stack that it takes.
 */
#ifndef MIXED_FIGURES_H
#define MIXED_FIGURES_H

/* One hash of all code, kernels, constants, compiler and flags: build.sha256 of report.json. */
#define MIXED_BUILD_SHA256 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

#endif /* MIXED_FIGURES_H */
