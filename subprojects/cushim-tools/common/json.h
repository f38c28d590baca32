/* SPDX-License-Identifier: MIT */
/* One JSON document on stdout. */
#ifndef CUSHIM_TOOLS_JSON_H
#define CUSHIM_TOOLS_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* Begin with a zeroed struct. A document is one object or array. Closing it writes the final newline. */
struct json {
    int depth;
    bool has_members; /* whether the innermost object or array has members */
    bool lines[8];    /* whether the members of each level are written on separate lines */
};

/* Each function takes the key of the member inside an object, and NULL inside an array. Strings may contain any bytes:
 * control characters and "<" are escaped, and bytes that are not UTF-8 become U+FFFD. */
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);

/* Writes a string alone. */
void json_put_string(const char *string);

/* Write a value. A NULL string is written as null, and so is the integer 0 by json_known(). */
void json_string(struct json *json, const char *key, const char *value);
void json_string_part(struct json *json, const char *key, const char *value, size_t length); /* needs no escape */
void json_integer(struct json *json, const char *key, long long value);
void json_known(struct json *json, const char *key, long long value);
void json_boolean(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif
