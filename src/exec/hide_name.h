/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_EXEC_HIDE_NAME_H
#define CUSHIM_EXEC_HIDE_NAME_H

/* Removes a name from the exports of this library, so that neither dlsym() nor a library that is opened later finds
 * it. */
void exec_hide_name(const char *name);

#endif
