/* SPDX-License-Identifier: MIT */
/* To be preloaded: it defines a function of the driver. */
int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    return 999 + (int)(flags & 0);
}
