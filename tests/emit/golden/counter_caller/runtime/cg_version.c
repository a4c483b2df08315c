/* SPDX-License-Identifier: 0BSD */
/*
 * cg_version.c -- generated; do not edit. Which runtime this is: models ask for theirs by this name.
 */
#include "cg_runtime.h"

extern const uint8_t cg_runtime_of_version_000102030405;
const uint8_t cg_runtime_of_version_000102030405 = 0;

/* The linker finds it twice where an image would have the runtimes of two versions of codegen. */
extern const uint8_t cg_ERROR_two_versions_of_codegen__build_all_folders_with_one;
const uint8_t cg_ERROR_two_versions_of_codegen__build_all_folders_with_one = 0;
