/* SPDX-License-Identifier: MIT */
/* An interpreter of a version that the trace layer does not know. */
const char *Py_GetVersion(void);
const char *Py_GetVersion(void)
{
    return "3.99.0 (main)";
}
