/* SPDX-License-Identifier: Apache-2.0 */
/* bench_host.c -- the toy's code is called in process, as that of this machine. */
#include "../host/bench_host.c"
