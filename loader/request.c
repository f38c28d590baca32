/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <stdio.h>
#include <string.h>

#include "version.h"

static bool fail_bad_setting(struct diagnosis_builder *builder, const char *source, const char *value, const char *why)
{
    cush_diagnosis_set_outcome(builder, CUSHIM_REASON_BAD_OPTION, cush_reason_code(CUSHIM_REASON_BAD_OPTION),
                               "%s is \"%.200s\": %s.", source, value, why);
    return false;
}

static bool request_read_hide(struct hidden_set *hidden, const char *names, const char *source,
                              struct diagnosis_builder *builder)
{
    const char *separators = ", \t\n";
    for (const char *name = names + strspn(names, separators); *name != '\0'; name += strspn(name, separators)) {
        size_t length = strcspn(name, separators);
        if (!cush_hidden_set_add(hidden, name, length)) {
            char unknown[128];
            snprintf(unknown, sizeof unknown, "%.*s", length < 100 ? (int)length : 100, name);
            return fail_bad_setting(builder, source, unknown, "no entry point has that name");
        }
        name += length;
    }
    return true;
}

static bool request_read_path(const char **to, const char *path, const char *source, struct diagnosis_builder *builder)
{
    if (path == NULL)
        return true;
    if (path[0] == '\0')
        return fail_bad_setting(builder, source, path, "a path cannot be empty");
    if (strlen(path) >= OS_PATH_SIZE)
        return fail_bad_setting(builder, source, path, "the path is too long");
    *to = path;
    return true;
}

/* The value of a version option is 0 or a CUDA version such as 11020. */
static bool request_check_version(int version, const char *source, struct diagnosis_builder *builder)
{
    if (version == 0 || (version >= OLDEST_VERSION && version <= LARGEST_VERSION && version % 10 == 0))
        return true;
    char value[32];
    snprintf(value, sizeof value, "%d", version);
    return fail_bad_setting(builder, source, value, "CUDA versions are written as 11020 for CUDA 11.2");
}

/* A member that is not zero can be an option of newer headers, which must not be ignored. */
static bool request_check_reserved(const struct cushim_load_options *options, struct diagnosis_builder *builder)
{
    for (size_t i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++) {
        if (options->reserved[i] == NULL)
            continue;
        cush_diagnosis_set_outcome(builder, CUSHIM_REASON_BAD_OPTION, cush_reason_code(CUSHIM_REASON_BAD_OPTION),
                                   "A reserved member of struct cushim_load_options is not zero: the struct was not "
                                   "initialised, or the program was built with newer headers than cushim %s.",
                                   CUSHIM_VERSION_STRING);
        return false;
    }
    return true;
}

static bool request_merge_options(struct request *request, const struct cushim_load_options *options,
                                  struct diagnosis_builder *builder)
{
    if (!request_check_reserved(options, builder))
        return false;
    if (options->path != NULL && options->handle != NULL)
        return fail_bad_setting(builder, "The option path", options->path,
                                "a handle was given as well, and only one can be used");
    request->handle = options->handle;
    request->max_version = options->max_version;
    request->min_version = options->min_version;
    return request_read_path(&request->path, options->path, "The option path", builder)
           && request_read_path(&request->root, options->root, "The option root", builder)
           && request_check_version(options->max_version, "The option max_version", builder)
           && request_check_version(options->min_version, "The option min_version", builder)
           && (options->hide == NULL || request_read_hide(&request->hidden, options->hide, "The option hide", builder));
}

/* Returns the value of a variable; NULL if it is unset, empty or ignored. An option overrides it, and a privileged
 * process ignores all variables. */
static const char *request_read_variable(const char *name, bool is_overridden, struct diagnosis_builder *builder)
{
    const char *value = cush_os_environment(name);
    if (value == NULL || value[0] == '\0')
        return NULL;
    bool is_used = !is_overridden && !cush_os_privileged();
    cush_diagnosis_add_variable(builder, name, value, is_used);
    return is_used ? value : NULL;
}

static bool request_merge_environment(struct request *request, const struct cushim_load_options *options,
                                      struct diagnosis_builder *builder)
{
    const char *path =
        request_read_variable("CUSHIM_DRIVER", options->path != NULL || options->handle != NULL, builder);
    const char *limit = request_read_variable("CUSHIM_MAX_VERSION", options->max_version != 0, builder);
    const char *hidden = request_read_variable("CUSHIM_HIDE", options->hide != NULL, builder);
    const char *layers = request_read_variable("CUSHIM_LAYERS", false, builder);
    if (layers != NULL)
        request->layers = layers;
    if (!request_read_path(&request->path, path, "CUSHIM_DRIVER", builder))
        return false;
    if (limit != NULL) {
        request->max_version = cush_version_parse(limit);
        if (request->max_version == 0)
            return fail_bad_setting(builder, "CUSHIM_MAX_VERSION", limit,
                                    "a CUDA version such as 11.2, or a driver such as 460, is required");
    }
    return hidden == NULL || request_read_hide(&request->hidden, hidden, "CUSHIM_HIDE", builder);
}

bool cush_request_read_options(struct request *request, const struct cushim_load_options *options,
                               struct diagnosis_builder *builder)
{
    memset(request, 0, sizeof *request);
    request->path = "";
    request->root = "";
    request->layers = "";
    return request_merge_options(request, options, builder);
}

bool cush_request_read(struct request *request, const struct cushim_load_options *options,
                       struct diagnosis_builder *builder)
{
    return cush_request_read_options(request, options, builder) && request_merge_environment(request, options, builder);
}
