/* SPDX-License-Identifier: MIT */
#include "object.h"

#include <stdlib.h>

static struct object **buckets;
static size_t bucket_count, live;

void *object_new(enum object_kind kind, size_t size, void (*free)(void *object))
{
    struct object *object = calloc(1, size);
    if (object != NULL) {
        object->kind = kind;
        object->references = 1;
        object->free = free;
    }
    return object;
}

void object_ref(void *object)
{
    ((struct object *)object)->references++;
}

void object_unref(void *object)
{
    struct object *head = object;
    if (head != NULL && --head->references == 0)
        head->free(object);
}

size_t handle_hash(const void *handle)
{
    return (size_t)(((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u >> 20);
}

static size_t object_bucket(const void *handle, size_t count)
{
    return handle_hash(handle) & (count - 1);
}

static bool object_table_grow(void)
{
    size_t count = bucket_count == 0 ? 256 : bucket_count * 2;
    struct object **larger = calloc(count, sizeof(struct object *));
    if (larger == NULL)
        return bucket_count != 0; /* a crowded table still works */
    for (size_t i = 0; i < bucket_count; i++) {
        for (struct object *object = buckets[i], *next; object != NULL; object = next) {
            next = object->next;
            struct object **bucket = &larger[object_bucket(object, count)];
            object->next = *bucket;
            *bucket = object;
        }
    }
    free(buckets);
    buckets = larger;
    bucket_count = count;
    return true;
}

bool handle_publish(void *object)
{
    if (live >= bucket_count && !object_table_grow())
        return false;
    struct object *head = object;
    struct object **bucket = &buckets[object_bucket(object, bucket_count)];
    head->next = *bucket;
    *bucket = head;
    live++;
    return true;
}

static struct object **object_table_find(const void *handle)
{
    if (bucket_count == 0)
        return NULL;
    struct object **at = &buckets[object_bucket(handle, bucket_count)];
    while (*at != NULL && *at != handle)
        at = &(*at)->next;
    return *at == NULL ? NULL : at;
}

void handle_withdraw(void *object)
{
    struct object **at = object_table_find(object);
    if (at != NULL) {
        *at = (*at)->next;
        live--;
    }
}

void *handle_find(enum object_kind kind, const void *handle)
{
    struct object **at = object_table_find(handle);
    return at != NULL && (*at)->kind == kind ? *at : NULL;
}

uint64_t soft_next_id(void)
{
    static uint64_t last;
    return ++last;
}

bool soft_reserve(void **items, size_t *capacity, size_t count, size_t item_size)
{
    if (count <= *capacity)
        return true;
    size_t more = *capacity < 4 ? 4 : *capacity * 2;
    if (more < count)
        more = count;
    void *larger = realloc(*items, more * item_size);
    if (larger == NULL)
        return false;
    *items = larger;
    *capacity = more;
    return true;
}
