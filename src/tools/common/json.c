/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

/* The number of bytes, 1 to 4, of the UTF-8 character that begins here; 0 if the bytes are not UTF-8 (RFC 3629) or the
 * string ends. */
static size_t utf8_length(const unsigned char *bytes)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char from, to;    /* of the second */
        size_t length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        if (bytes[0] < forms[form].first || bytes[0] > forms[form].last)
            continue;
        size_t length = forms[form].length;
        if (length > 1 && (bytes[1] < forms[form].from || bytes[1] > forms[form].to))
            return 0;
        for (size_t i = 2; i < length; i++) {
            if (bytes[i] < 0x80 || bytes[i] > 0xbf)
                return 0;
        }
        return length;
    }
    return 0;
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '<';
}

void json_put_string(const char *string)
{
    putchar('"');
    for (const unsigned char *byte = (const unsigned char *)string; *byte != '\0';) {
        size_t length = 0;
        while (is_plain(byte[length]))
            length++;
        if (length == 0)
            length = utf8_length(byte);
        if (length == 0)
            fputs("\\ufffd", stdout);
        else if (*byte == '"' || *byte == '\\')
            printf("\\%c", *byte);
        else if (*byte == '\n')
            fputs("\\n", stdout);
        else if (*byte == '\t')
            fputs("\\t", stdout);
        else if (*byte < 0x20 || *byte == '<') /* "</" would end a script of HTML */
            printf("\\u%04x", *byte);
        else
            fwrite(byte, 1, length, stdout);
        byte += length == 0 ? 1 : length;
    }
    putchar('"');
}

static void start_line(const struct json *json)
{
    if (json->lines[json->depth])
        printf("\n%*s", 2 * json->depth, "");
}

/* Writes what comes before each member: comma, line break, key. */
static void start_member(struct json *json, const char *key)
{
    if (json->has_members)
        fputs(json->lines[json->depth] ? "," : ", ", stdout);
    if (json->depth > 0)
        start_line(json);
    json->has_members = true;
    if (key != NULL) {
        json_put_string(key);
        fputs(": ", stdout);
    }
}

/* The members of the document, and of an array directly in it, are written one to a line. */
static void bracket_open(struct json *json, const char *key, char bracket, bool lines)
{
    start_member(json, key);
    putchar(bracket);
    json->depth++;
    assert((size_t)json->depth < sizeof json->lines / sizeof json->lines[0]);
    json->lines[json->depth] = json->depth == 1 || lines;
    json->has_members = false;
}

static void bracket_close(struct json *json, char bracket)
{
    bool lines = json->has_members && json->lines[json->depth];
    json->depth--;
    if (lines)
        printf("\n%*s", 2 * json->depth, "");
    putchar(bracket);
    json->has_members = true;
    if (json->depth == 0)
        putchar('\n');
}

void json_open_object(struct json *json, const char *key)
{
    bracket_open(json, key, '{', false);
}

void json_close_object(struct json *json)
{
    bracket_close(json, '}');
}

void json_open_array(struct json *json, const char *key)
{
    bracket_open(json, key, '[', json->depth == 1);
}

void json_close_array(struct json *json)
{
    bracket_close(json, ']');
}

void json_string(struct json *json, const char *key, const char *value)
{
    if (value == NULL) {
        json_null(json, key);
        return;
    }
    start_member(json, key);
    json_put_string(value);
}

void json_integer(struct json *json, const char *key, long long value)
{
    start_member(json, key);
    printf("%lld", value);
}

void json_known(struct json *json, const char *key, long long value)
{
    if (value != 0)
        json_integer(json, key, value);
    else
        json_null(json, key);
}

void json_boolean(struct json *json, const char *key, bool value)
{
    start_member(json, key);
    fputs(value ? "true" : "false", stdout);
}

void json_null(struct json *json, const char *key)
{
    start_member(json, key);
    fputs("null", stdout);
}
