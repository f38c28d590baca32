/* SPDX-License-Identifier: MIT */
/* opens_driver LIBRARY: starts the driver, and does something with a file before and after. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void use_file(void)
{
    int file = open("/dev/null", O_RDWR);
    if (write(file, "", 1) == 1)
        close(file);
}

int main(int count, char **arguments)
{
    int (*init)(unsigned) = NULL;
    use_file();
    void *driver = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    void *found = driver != NULL ? dlsym(driver, "cuInit") : NULL;
    memcpy(&init, &found, sizeof init);
    printf("%d\n", init != NULL ? init(0) : -1);
    use_file();
    return 0;
}
