/* SPDX-License-Identifier: MIT */
/*
 * The settings that `cushim exec` passes to its libcuda.so.1 and to its auditor, in one environment variable. Children
 * inherit it. The text is "key=value;key=value": a value cannot contain a semicolon, and neither can a directory in
 * LD_LIBRARY_PATH.
 */
#ifndef CUSHIM_EXEC_SETTINGS_H
#define CUSHIM_EXEC_SETTINGS_H

#define EXEC_VARIABLE "CUSHIM_EXEC"

/* Each member is NULL if it was not given. */
struct exec_settings {
    char *shim;        /* the directory with our libcuda.so.1 */
    char *driver;      /* the path of the driver, or "none" */
    char *max_version; /* "12040" */
    char *hide;        /* as CUSHIM_HIDE */
    char *layers;      /* as CUSHIM_LAYERS */
};

/* Reads the variable. The strings are in a copy of it that is never freed; if it is unset, all members are NULL. */
struct exec_settings exec_settings_read(void);

#endif
