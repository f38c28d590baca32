/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#include "utf8.h"

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

void json_string_part(struct json *json, const char *key, const char *value, size_t length)
{
    if (value == NULL) {
        json_null(json, key);
        return;
    }
    start_member(json, key);
    printf("\"%.*s\"", (int)length, value);
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
