/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os_system.h"

static const struct cushim_load_options request_nothing;

bool cush_hidden_set_has(const struct hidden_set *hidden, size_t row)
{
    return (hidden->bits[row / 8] >> (row % 8) & 1) != 0;
}

bool cush_hidden_set_is_empty(const struct hidden_set *hidden)
{
    for (size_t i = 0; i < sizeof hidden->bits; i++) {
        if (hidden->bits[i] != 0)
            return false;
    }
    return true;
}

/* Hides what one name means: a slot's name its entry point, a function all of its entry points. */
static bool hidden_set_add(struct hidden_set *hidden, const char *name, size_t length)
{
    bool known = false;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        const char *function = cush_symbols_row(row).function;
        const char *symbol = cush_symbols_row(row).symbol;
        if (length < 2 || strncmp(name, "cu", 2) != 0) {
            function += 2;
            symbol += 2;
        }
        size_t function_length = strlen(function);
        bool is_function = length == function_length && strncmp(name, function, length) == 0;
        bool is_symbol = length == strlen(symbol) && strncmp(name, symbol, length) == 0;
        bool is_first = strcmp(function, symbol) == 0 && length == function_length + 3
                        && strncmp(name, function, function_length) == 0
                        && strncmp(name + function_length, "_v1", 3) == 0;
        if (is_function || is_symbol || is_first) {
            hidden->bits[row / 8] |= (unsigned char)(1u << (row % 8));
            known = true;
        }
    }
    return known;
}

static bool fail_bad_setting(struct diagnosis_builder *builder, const char *source, const char *value, const char *why)
{
    cush_diagnosis_set_outcome(builder, CUSHIM_REASON_BAD_OPTION, cush_reason_code(CUSHIM_REASON_BAD_OPTION),
                               "%s is \"%.200s\": %s.", source, value, why);
    return false;
}

static bool fail_bad_number(struct diagnosis_builder *builder, const char *source, int number, const char *why)
{
    char value[32];
    snprintf(value, sizeof value, "%d", number);
    return fail_bad_setting(builder, source, value, why);
}

static bool request_read_hide(struct hidden_set *hidden, const char *names, const char *source,
                              struct diagnosis_builder *builder)
{
    const char *separators = ", \t\n";
    for (const char *name = names + strspn(names, separators); *name != '\0'; name += strspn(name, separators)) {
        size_t length = strcspn(name, separators);
        if (!hidden_set_add(hidden, name, length)) {
            char unknown[128];
            snprintf(unknown, sizeof unknown, "%.*s", length < 100 ? (int)length : 100, name);
            return fail_bad_setting(builder, source, unknown, "no entry point has that name");
        }
        name += length;
    }
    return true;
}

/* "11.2" or "11" as 11020 or 11000; 0 if it is neither. */
static int request_parse_version(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9')
        return 0;
    long major = strtol(text, &end, 10);
    long minor = 0;
    if (*end == '.') {
        const char *digits = end + 1;
        if (*digits < '0' || *digits > '9')
            return 0;
        minor = strtol(digits, &end, 10);
    }
    return *end == '\0' && major >= 2 && major < 1000 && minor < 100 ? (int)(major * 1000 + minor * 10) : 0;
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

/* A version option is 0 or a CUDA version such as 11020. */
static bool request_check_version(int version, const char *source, struct diagnosis_builder *builder)
{
    if (version == 0 || (version >= OLDEST_VERSION && version <= LARGEST_VERSION && version % 10 == 0))
        return true;
    return fail_bad_number(builder, source, version, "CUDA versions are written as 11020 for CUDA 11.2");
}

static bool request_merge_options(struct request *request, const struct cushim_load_options *options,
                                  enum cushim_default_stream as_compiled, struct diagnosis_builder *builder)
{
    enum cushim_default_stream stream = options->default_stream;
    if (stream == CUSHIM_DEFAULT_STREAM_AS_COMPILED)
        stream = as_compiled;
    if (stream != CUSHIM_DEFAULT_STREAM_LEGACY && stream != CUSHIM_DEFAULT_STREAM_PER_THREAD)
        return fail_bad_number(builder, "The option default_stream", (int)stream, "it is none of the three kinds");
    request->per_thread = stream == CUSHIM_DEFAULT_STREAM_PER_THREAD;
    if (options->path != NULL && options->handle != NULL)
        return fail_bad_setting(builder, "The option path", options->path,
                                "a handle was given as well, and only one can be used");
    request->explain = options->log != NULL;
    request->handle = options->handle;
    request->max_version = options->max_version;
    request->min_version = options->min_version;
    return request_read_path(&request->path, options->path, "The option path", builder)
           && request_read_path(&request->root, options->root, "The option root", builder)
           && request_check_version(options->max_version, "The option max_version", builder)
           && request_check_version(options->min_version, "The option min_version", builder)
           && (options->hide == NULL || request_read_hide(&request->hidden, options->hide, "The option hide", builder));
}

/* The value of a variable that is to be followed; NULL where it is unset, empty, overruled or not to be trusted. */
static const char *request_follow_variable(const char *name, bool overruled, struct diagnosis_builder *builder)
{
    const char *value = cush_os_environment(name);
    if (value == NULL || value[0] == '\0')
        return NULL;
    bool used = !overruled && !cush_os_privileged();
    cush_diagnosis_add_variable(builder, name, value, used);
    return used ? value : NULL;
}

static bool request_merge_environment(struct request *request, const struct cushim_load_options *options,
                                      struct diagnosis_builder *builder)
{
    const char *path =
        request_follow_variable("CUSHIM_DRIVER", options->path != NULL || options->handle != NULL, builder);
    const char *limit = request_follow_variable("CUSHIM_MAX_VERSION", options->max_version != 0, builder);
    const char *hidden = request_follow_variable("CUSHIM_HIDE", options->hide != NULL, builder);
    if (!request_read_path(&request->path, path, "CUSHIM_DRIVER", builder))
        return false;
    if (limit != NULL) {
        request->max_version = request_parse_version(limit);
        if (request->max_version == 0)
            return fail_bad_setting(builder, "CUSHIM_MAX_VERSION", limit, "it should be a CUDA version such as 11.2");
    }
    return hidden == NULL || request_read_hide(&request->hidden, hidden, "CUSHIM_HIDE", builder);
}

bool cush_request_read_options(struct request *request, const struct cushim_load_options *options,
                               enum cushim_default_stream as_compiled, struct diagnosis_builder *builder)
{
    memset(request, 0, sizeof *request);
    request->path = "";
    request->root = "";
    return request_merge_options(request, options != NULL ? options : &request_nothing, as_compiled, builder);
}

bool cush_request_read(struct request *request, const struct cushim_load_options *options,
                       enum cushim_default_stream as_compiled, struct diagnosis_builder *builder)
{
    return cush_request_read_options(request, options, as_compiled, builder)
           && request_merge_environment(request, options != NULL ? options : &request_nothing, builder);
}
