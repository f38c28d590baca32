/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os_system.h"

static const struct cushim_load_options nothing;

bool cushim_priv_mask_has(const struct mask *mask, size_t row)
{
    return (mask->bits[row / 8] >> (row % 8) & 1) != 0;
}

bool cushim_priv_mask_is_empty(const struct mask *mask)
{
    for (size_t i = 0; i < sizeof mask->bits; i++) {
        if (mask->bits[i] != 0)
            return false;
    }
    return true;
}

/* Hides what one name means: a slot's name its entry point, a family all of its entry points. */
static bool mask_add(struct mask *mask, const char *name, size_t length)
{
    bool known = false;
    for (size_t row = 0; row < ROW_COUNT; row++) {
        const char *family = cushim_priv_symbols_row(row).family;
        const char *symbol = cushim_priv_symbols_row(row).symbol;
        if (length < 2 || strncmp(name, "cu", 2) != 0) {
            family += 2;
            symbol += 2;
        }
        size_t family_length = strlen(family);
        bool is_family = length == family_length && strncmp(name, family, length) == 0;
        bool is_symbol = length == strlen(symbol) && strncmp(name, symbol, length) == 0;
        bool is_first = strcmp(family, symbol) == 0 && length == family_length + 3
                        && strncmp(name, family, family_length) == 0 && strncmp(name + family_length, "_v1", 3) == 0;
        if (is_family || is_symbol || is_first) {
            mask->bits[row / 8] |= (unsigned char)(1u << (row % 8));
            known = true;
        }
    }
    return known;
}

static bool bad(struct record *record, const char *source, const char *value, const char *why)
{
    cushim_priv_record_outcome(record, CUSHIM_REASON_BAD_OPTION, cushim_priv_reason_code(CUSHIM_REASON_BAD_OPTION),
                               "%s is \"%.200s\": %s.", source, value, why);
    return false;
}

static bool bad_number(struct record *record, const char *source, int number, const char *why)
{
    char value[32];
    snprintf(value, sizeof value, "%d", number);
    return bad(record, source, value, why);
}

static bool read_mask(struct mask *mask, const char *names, const char *source, struct record *record)
{
    const char *separators = ", \t\n";
    for (const char *name = names + strspn(names, separators); *name != '\0'; name += strspn(name, separators)) {
        size_t length = strcspn(name, separators);
        if (!mask_add(mask, name, length)) {
            char unknown[128];
            snprintf(unknown, sizeof unknown, "%.*s", length < 100 ? (int)length : 100, name);
            return bad(record, source, unknown, "no entry point has that name");
        }
        name += length;
    }
    return true;
}

/* "11.2" or "11" as 11020 or 11000; 0 if it is neither. */
static int parse_version(const char *text)
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

static bool read_path(const char **to, const char *path, const char *source, struct record *record)
{
    if (path == NULL)
        return true;
    if (path[0] == '\0')
        return bad(record, source, path, "a path cannot be empty");
    if (strlen(path) >= OS_PATH_SIZE)
        return bad(record, source, path, "the path is too long");
    *to = path;
    return true;
}

/* A version option is 0 or a CUDA version such as 11020. */
static bool check_version(int version, const char *source, struct record *record)
{
    if (version == 0 || (version >= OLDEST_VERSION && version <= LARGEST_VERSION && version % 10 == 0))
        return true;
    return bad_number(record, source, version, "CUDA versions are written as 11020 for CUDA 11.2");
}

static bool read_options(struct request *request, const struct cushim_load_options *options,
                         enum cushim_default_stream as_compiled, struct record *record)
{
    enum cushim_default_stream stream = options->default_stream;
    if (stream == CUSHIM_DEFAULT_STREAM_AS_COMPILED)
        stream = as_compiled;
    if (stream != CUSHIM_DEFAULT_STREAM_LEGACY && stream != CUSHIM_DEFAULT_STREAM_PER_THREAD)
        return bad_number(record, "The option default_stream", (int)stream, "it is none of the three kinds");
    request->per_thread = stream == CUSHIM_DEFAULT_STREAM_PER_THREAD;
    if (options->path != NULL && options->handle != NULL)
        return bad(record, "The option path", options->path, "a handle was given as well, and only one can be used");
    request->explain = options->log != NULL;
    request->handle = options->handle;
    request->max_version = options->max_version;
    request->min_version = options->min_version;
    return read_path(&request->path, options->path, "The option path", record)
           && read_path(&request->root, options->root, "The option root", record)
           && check_version(options->max_version, "The option max_version", record)
           && check_version(options->min_version, "The option min_version", record)
           && (options->mask == NULL || read_mask(&request->mask, options->mask, "The option mask", record));
}

/* The value of a variable that is to be followed; NULL where it is unset, empty, overruled or not to be trusted. */
static const char *follow(const char *name, bool overruled, struct record *record)
{
    const char *value = cushim_priv_os_environment(name);
    if (value == NULL || value[0] == '\0')
        return NULL;
    bool used = !overruled && !cushim_priv_os_privileged();
    cushim_priv_record_variable(record, name, value, used);
    return used ? value : NULL;
}

static bool read_environment(struct request *request, const struct cushim_load_options *options, struct record *record)
{
    const char *path = follow("CUSHIM_DRIVER", options->path != NULL || options->handle != NULL, record);
    const char *cap = follow("CUSHIM_MAX_VERSION", options->max_version != 0, record);
    const char *mask = follow("CUSHIM_MASK", options->mask != NULL, record);
    if (!read_path(&request->path, path, "CUSHIM_DRIVER", record))
        return false;
    if (cap != NULL) {
        request->max_version = parse_version(cap);
        if (request->max_version == 0)
            return bad(record, "CUSHIM_MAX_VERSION", cap, "it should be a CUDA version such as 11.2");
    }
    return mask == NULL || read_mask(&request->mask, mask, "CUSHIM_MASK", record);
}

bool cushim_priv_request_read_options(struct request *request, const struct cushim_load_options *options,
                                      enum cushim_default_stream as_compiled, struct record *record)
{
    memset(request, 0, sizeof *request);
    request->path = "";
    request->root = "";
    return read_options(request, options != NULL ? options : &nothing, as_compiled, record);
}

bool cushim_priv_request_read(struct request *request, const struct cushim_load_options *options,
                              enum cushim_default_stream as_compiled, struct record *record)
{
    return cushim_priv_request_read_options(request, options, as_compiled, record)
           && read_environment(request, options != NULL ? options : &nothing, record);
}
