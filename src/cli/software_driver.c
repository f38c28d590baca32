/* SPDX-License-Identifier: MIT */
#include "software_driver.h"

#include <stdio.h>
#include <string.h>

#include "platform.h"

bool software_driver_find(const char *driver, char *path, size_t size)
{
    static const char *const directories[] = {"../../subprojects/softcuda", CUSHIM_SOFTCUDA_DIRECTORY};
    char own[PLATFORM_PATH_SIZE], file[PLATFORM_PATH_SIZE];
    if (driver[0] == '\0' || driver[strspn(driver, "0123456789")] != '\0' || !platform_own_directory(own, sizeof own))
        return false;
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        int length = snprintf(file, sizeof file, "%s/%s/%s/%s", own, directories[i], driver, CUSHIM_SOFTCUDA_FILE);
        if (length > 0 && (size_t)length < sizeof file && platform_exists(file) && platform_real_path(file, path, size))
            return true;
    }
    return false;
}

enum status software_driver_select(struct options *options, char *path, size_t size)
{
    if (options->softcuda == NULL)
        return STATUS_USABLE;
    if (options->load.path != NULL)
        return options_complain("--driver and --softcuda cannot be combined");
    if (!software_driver_find(options->softcuda, path, size))
        return options_complain("--softcuda: no software driver \"%s\" was found", options->softcuda);
    options->load.path = path;
    options->load.root = NULL;
    return STATUS_USABLE;
}
