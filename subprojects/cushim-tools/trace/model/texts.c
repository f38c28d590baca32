/* SPDX-License-Identifier: MIT */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXTS = 1000000 };

struct kept {
    struct trace_key key; /* a hash */
    char *text;
};

/* FNV-1a */
static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

const char *trace_text_keep(struct trace_texts *texts, const char *text, size_t length)
{
    struct kept *kept;
    length = strnlen(text, length);
    texts->table.size = sizeof *kept;
    /* Another text with the same hash has another kind. */
    for (struct trace_key key = {.id = hash_of(text, length), .kind = 1};; key.kind++) {
        kept = trace_table_find(&texts->table, key);
        if (kept != NULL && strncmp(kept->text, text, length) == 0 && kept->text[length] == '\0')
            return kept->text;
        if (kept != NULL)
            continue;
        if (texts->table.count >= MAX_TEXTS)
            return "(too many names)";
        char *copy = strndup(text, length);
        kept = copy != NULL ? trace_table_add(&texts->table, key) : NULL;
        if (kept == NULL) {
            free(copy);
            return NULL;
        }
        return kept->text = copy;
    }
}

void trace_texts_free(struct trace_texts *texts)
{
    for (const struct kept *kept = NULL; (kept = trace_table_next(&texts->table, kept)) != NULL;)
        free(kept->text);
    free(texts->table.entries);
}
