/* SPDX-License-Identifier: Apache-2.0 */
/* setup_none.c -- boards whose UART and counter work after reset. */
#include "cg_port.h"

void cg_setup_board(void)
{
}
