/* SPDX-License-Identifier: MIT */
#include "launch.h"

#if !defined(CUSHIM_HAS_EXEC)
enum status command_exec(const struct options *options)
{
    (void)options;
    text_complain("exec: this command is not available on this system");
    return STATUS_USAGE;
}
#else
#    include <errno.h>
#    include <stdio.h>
#    include <stdlib.h>
#    include <string.h>
#    include <unistd.h>
#    if defined(__GLIBC__)
#        include <gnu/libc-version.h>
#    endif

#    include "cushim/slot.h"
#    include "settings.h"
#    include "machine.h"
#    include "platform.h"
#    include "selected_driver.h"

static const char oldest_set[] = "6050";

#    define LAYERS "CUSHIM_LAYERS"

static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL ? value : "";
}

static bool is_driver_named(const struct options *options)
{
    return options->load.path != NULL || value_of("CUSHIM_DRIVER")[0] != '\0';
}

/* The driver of another root directory, or that it has none, is not what the program finds itself. */
static bool is_driver_chosen(const struct options *options)
{
    return is_driver_named(options) || options->load.root != NULL;
}

/* Without a driver, the program starts as on a machine without one. A driver that is present but unusable is an
 * error. */
static enum status report_no_driver(const struct options *options)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    if (diagnosis->reason == CUSHIM_REASON_NOT_WANTED)
        return STATUS_USABLE;
    driver_complain();
    if (is_driver_named(options) || (!driver_is_absent(diagnosis->reason) && diagnosis->reason != CUSHIM_REASON_STUB))
        return STATUS_UNUSABLE;
    text_complain("exec: the program starts without a driver; with --softcuda " CUSHIM_SOFTCUDA_NEWEST
                  ", it starts on a software driver");
    return STATUS_USABLE;
}

/* Whether a path that this process has tried is our own library, which stays mapped even if it was no use. A file that
 * could not be opened is not asked: that can block. */
static bool is_own_library(const struct cushim_attempt *attempt)
{
    return (attempt->reason == CUSHIM_REASON_NONE || attempt->reason == CUSHIM_REASON_NOT_A_DRIVER)
           && platform_symbol(attempt->path, "cushim_exec_start") != NULL;
}

static enum status find_driver(const struct options *options, char *path, size_t size)
{
    enum status status = driver_load(options);
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    for (size_t i = 0; i < diagnosis->attempt_count; i++) {
        if (is_own_library(&diagnosis->attempts[i]))
            return text_refuse("exec: this driver is the library of cushim exec itself: %s",
                               diagnosis->attempts[i].path);
    }
    snprintf(path, size, "none");
    if (status == STATUS_UNUSABLE)
        return options->quiet ? STATUS_USABLE : report_no_driver(options);
    if (status != STATUS_USABLE)
        return status;
    /* A spelling that no program uses: if a program opens the driver's own path, the dynamic loader gives that name to
     * our library, which must still find the driver. */
    memcpy(path, "/.", sizeof "/.");
    if (!platform_real_path(diagnosis->path, path + 2, size - 2))
        return text_refuse("exec: the driver has no file: %s", diagnosis->path);
    if (cushim_driver_version() > CUSHIM_LIST_VERSION && !options->quiet)
        text_complain("exec: this driver (CUDA %s) is newer than cushim's list (CUDA %s): all names of the list are "
                      "exported, and only cuGetProcAddress finds newer functions",
                      text_version(diagnosis->cuda_version).text, text_version(CUSHIM_LIST_VERSION).text);
    return STATUS_USABLE;
}

/* The version whose names the program sees. */
static int effective_version(const struct options *options)
{
    const char *variable = getenv("CUSHIM_MAX_VERSION");
    if (cushim_driver_version() != 0)
        return cushim_driver_version();
    if (options->load.max_version != 0)
        return options->load.max_version;
    int limit = variable != NULL ? cush_version_parse(variable) : 0;
    return limit != 0 ? limit : CUSHIM_LIST_VERSION;
}

/* Finds the directory of our libraries: in the build directory of this program, or where both are installed. */
static bool find_libraries(char *path, size_t size)
{
    static const char *const directories[] = {"../exec", CUSHIM_EXEC_DIRECTORY};
    char own[PLATFORM_PATH_SIZE], file[PLATFORM_PATH_SIZE];
    if (!platform_own_directory(own, sizeof own))
        return false;
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        int length = snprintf(file, sizeof file, "%s/%s/%s/libcuda.so.1", own, directories[i], oldest_set);
        if (length < 0 || (size_t)length >= sizeof file || !platform_exists(file))
            continue;
        file[(size_t)length - strlen(oldest_set) - strlen("//libcuda.so.1")] = '\0';
        return platform_real_path(file, path, size);
    }
    return false;
}

/* Finds the newest set of names that the version has. */
static bool find_set(const char *libraries, int version, char *path, size_t size)
{
    int oldest = cush_version_parse(oldest_set);
    for (int set = version > oldest ? version : oldest; set >= oldest; set -= 10) {
        int length = snprintf(path, size, "%s/%d", libraries, set);
        if (length > 0 && (size_t)length < size && platform_is_directory(path))
            return true;
    }
    return false;
}

static bool is_auditor_free_of_cost(void)
{
#    if defined(__GLIBC__)
    int major = 0, minor = 0;
    return sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 && (major > 2 || minor >= 35);
#    else
    return false;
#    endif
}

/* Sets a variable to two paths or lists of paths. */
static bool variable_set_list(const char *variable, const char *first, const char *second)
{
    size_t size = strlen(first) + strlen(second) + 2;
    char *text = malloc(size);
    if (text == NULL)
        return false;
    snprintf(text, size, "%s%s%s", first, first[0] != '\0' && second[0] != '\0' ? ":" : "", second);
    bool done = setenv(variable, text, 1) == 0;
    free(text);
    return done;
}

static bool variable_prepend(const char *variable, const char *path)
{
    return variable_set_list(variable, path, value_of(variable));
}

static bool variable_append(const char *variable, const char *path)
{
    return variable_set_list(variable, value_of(variable), path);
}

/* Returns false after a message if a path has a character that the dynamic loader or the settings give a meaning. */
static bool path_can_be_used(const char *path, const char *unusable)
{
    const char *found = strpbrk(path, unusable);
    if (found != NULL)
        text_refuse("exec: a path with '%c' cannot be used: %s", *found, path);
    return found == NULL;
}

static enum status fail_no_memory(void)
{
    text_complain("exec: not enough memory");
    return STATUS_UNUSABLE;
}

static enum status layer_append(const char *path)
{
    if (!path_can_be_used(path, ":;"))
        return STATUS_USAGE;
    return variable_append(LAYERS, path) ? STATUS_USABLE : fail_no_memory();
}

/* Makes the paths of the variable absolute, because the program can change its directory, and puts the layers of the
 * command line on top. The load of this process then checks them. */
static enum status set_layers(const struct options *options)
{
    char item[PLATFORM_PATH_SIZE], path[PLATFORM_PATH_SIZE];
    enum status status = STATUS_USABLE;
    char *list = strdup(value_of(LAYERS));
    const char *rest = list;
    if (list == NULL)
        return fail_no_memory();
    unsetenv(LAYERS);
    while (status == STATUS_USABLE && text_next_item(&rest, ":", item, sizeof item)) {
        bool is_file = strchr(item, '/') != NULL && platform_real_path(item, path, sizeof path);
        status = item[0] != '\0' ? layer_append(is_file ? path : item) : STATUS_USABLE;
    }
    free(list);
    for (size_t i = 0; status == STATUS_USABLE && i < options->name_count; i++) {
        if (!platform_real_path(options->names[i], path, sizeof path))
            return text_refuse("--layer: there is no file \"%s\"", options->names[i]);
        status = layer_append(path);
    }
    return status;
}

static bool set_settings(const struct options *options, const char *set, const char *driver)
{
    const char *hide = options->load.hide != NULL ? options->load.hide : value_of("CUSHIM_HIDE");
    const char *layers = value_of(LAYERS), *notes = options->notes != NULL ? options->notes : "";
    const char *images = options->images != NULL ? options->images : "";
    char limit[32] = "";
    if (cushim_driver_version() < driver_diagnosis()->cuda_version)
        snprintf(limit, sizeof limit, ";max-version=%d", cushim_driver_version());
    size_t size = strlen(set) + strlen(driver) + strlen(hide) + strlen(layers) + strlen(notes) + strlen(images)
                  + sizeof limit + 80;
    char *text = malloc(size);
    if (text == NULL)
        return false;
    snprintf(text, size, "names=%s;driver=%s%s%s%s;hide=%s;layers=%s%s%s%s%s", set, driver,
             is_driver_chosen(options) ? ";chosen=1" : "", options->quiet ? ";quiet=1" : "", limit, hide, layers,
             notes[0] != '\0' ? ";notes=" : "", notes, images[0] != '\0' ? ";images=" : "", images);
    bool done = setenv(EXEC_VARIABLE, text, 1) == 0;
    free(text);
    return done;
}

/* glibc keeps room for the thread-local data of libraries that are opened later, and an auditor uses up some of it. The
 * user's own setting is larger than the default for the same reason. */
static bool variable_keep_room(void)
{
    static const char variable[] = "GLIBC_TUNABLES", room[] = "glibc.rtld.optional_static_tls";
    return strstr(value_of(variable), room) != NULL || variable_append(variable, "glibc.rtld.optional_static_tls=4096");
}

/* The variables for cushim go to our library: the program's own cushim finds an ordinary driver. */
static bool set_environment(const struct options *options, const char *libraries, const char *set, const char *driver)
{
    static const char *const moved[] = {"CUSHIM_DRIVER", "CUSHIM_MAX_VERSION", "CUSHIM_HIDE", LAYERS};
    char auditor[PLATFORM_PATH_SIZE + 16];
    snprintf(auditor, sizeof auditor, "%s/auditor.so", libraries);
    if (!set_settings(options, set, driver))
        return false;
    if (is_auditor_free_of_cost()) {
        if (!variable_prepend("LD_AUDIT", auditor) || !variable_keep_room())
            return false;
    } else if (strcmp(driver, "none") != 0 || is_driver_chosen(options)) {
        /* Otherwise the program finds what it finds without this command. */
        if (!variable_prepend("LD_LIBRARY_PATH", set))
            return false;
        if (!options->quiet)
            text_complain(
                "exec: this C library is older than glibc 2.35, or not glibc: a program that opens the driver by "
                "an absolute path gets the driver itself");
    }
    for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++)
        unsetenv(moved[i]);
    return true;
}

static enum status run_program(const struct options *options)
{
    char **program = options->program;
    const char *obstacle = options->quiet ? NULL : exec_target_obstacle(program[0]);
    if (obstacle != NULL)
        text_complain("exec: %s %s", program[0], obstacle);
    fflush(NULL);
    int error = options->before_program != NULL ? options->before_program(options->notes) : 0;
    if (error != 0)
        text_complain("doctor: --watch: ptrace(2) is not possible: %s", strerror(error));
    execvp(program[0], program);
    error = errno; /* the message can change it */
    text_complain("exec: cannot run %s: %s", program[0], strerror(error));
    return error == ENOENT ? STATUS_NO_PROGRAM : STATUS_CANNOT_EXECUTE;
}

enum status command_exec(const struct options *options)
{
    char driver[PLATFORM_PATH_SIZE], libraries[PLATFORM_PATH_SIZE], set[PLATFORM_PATH_SIZE];
    if (getenv(EXEC_VARIABLE) != NULL)
        return text_refuse("exec: this process already runs under cushim exec");
    enum status status = set_layers(options);
    if (status == STATUS_USABLE)
        status = find_driver(options, driver, sizeof driver);
    if (status != STATUS_USABLE)
        return status;
    if (!find_libraries(libraries, sizeof libraries)
        || !find_set(libraries, effective_version(options), set, sizeof set)) {
        text_complain("exec: the libraries of cushim exec were not found beside this program");
        return STATUS_UNUSABLE;
    }
    if (!path_can_be_used(set, ":;$") || !path_can_be_used(driver, ";"))
        return STATUS_USAGE;
    return set_environment(options, libraries, set, driver) ? run_program(options) : fail_no_memory();
}
#endif
