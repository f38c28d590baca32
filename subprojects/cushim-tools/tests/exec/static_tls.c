/* SPDX-License-Identifier: MIT */
/* A library with as much static thread-local data as jemalloc, to which Debian's Blender is linked. */
static __thread char data[2600] __attribute__((tls_model("initial-exec")));

char *static_tls(void);
char *static_tls(void)
{
    return data;
}
