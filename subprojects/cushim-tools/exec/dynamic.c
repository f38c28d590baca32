/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "dynamic.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char driver_name[] = "libcuda.so.1";

/* The value of an entry, or 0. */
static ElfW(Addr) value_of(const struct link_map *map, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == tag)
            return entry->d_un.d_val;
    }
    return 0;
}

/* What an entry leads to, or NULL. On some architectures, the dynamic loader leaves it as in the file. */
static const void *address_of(const struct link_map *map, ElfW(Sxword) tag)
{
    ElfW(Addr) address = value_of(map, tag);
    if (address == 0)
        return NULL;
    return (const void *)(address < map->l_addr ? map->l_addr + address : address);
}

const char *dynamic_string(const struct link_map *map, ElfW(Sxword) tag, const ElfW(Dyn) * *last)
{
    const char *strings = address_of(map, DT_STRTAB);
    for (const ElfW(Dyn) *entry = *last != NULL ? *last + 1 : map->l_ld;
         strings != NULL && entry != NULL && entry->d_tag != DT_NULL; entry++) {
        *last = entry;
        if (entry->d_tag == tag)
            return strings + entry->d_un.d_val;
    }
    return NULL;
}

const char *dynamic_soname(const struct link_map *map)
{
    const ElfW(Dyn) *last = NULL;
    const char *soname = dynamic_string(map, DT_SONAME, &last);
    return soname != NULL ? soname : "";
}

bool dynamic_is_linked_to(const struct link_map *map, const char *name)
{
    const ElfW(Dyn) *last = NULL;
    const char *needed = dynamic_string(map, DT_NEEDED, &last);
    while (needed != NULL && strcmp(needed, name) != 0)
        needed = dynamic_string(map, DT_NEEDED, &last);
    return needed != NULL;
}

/* ---- symbols ---- */

/* The head of DT_GNU_HASH; the filter, the buckets and the chains follow. */
struct gnu_hash {
    uint32_t buckets, first, filter_size, filter_shift;
};

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static const ElfW(Sym) * defined_as(const struct link_map *map, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbols = address_of(map, DT_SYMTAB);
    const char *strings = address_of(map, DT_STRTAB);
    bool is_it = symbols[index].st_shndx != SHN_UNDEF && strcmp(strings + symbols[index].st_name, name) == 0;
    return is_it ? &symbols[index] : NULL;
}

/* Returns NULL if the object does not define it. */
static const ElfW(Sym) * find_symbol(const struct link_map *map, const char *name)
{
    const struct gnu_hash *hash = address_of(map, DT_GNU_HASH);
    const uint32_t *old = address_of(map, DT_HASH); /* buckets, symbols, ... */
    if (hash != NULL && hash->buckets > 0) {
        const ElfW(Addr) *filter = (const void *)(hash + 1);
        const uint32_t *buckets = (const void *)(filter + hash->filter_size);
        uint32_t wanted = hash_of(name), index = buckets[wanted % hash->buckets];
        for (const uint32_t *chain = buckets + hash->buckets; index >= hash->first; index++) {
            uint32_t found = chain[index - hash->first];
            if ((found | 1) == (wanted | 1) && defined_as(map, index, name) != NULL)
                return defined_as(map, index, name);
            if ((found & 1) != 0)
                break;
        }
        return NULL;
    }
    for (uint32_t i = 1; old != NULL && i < old[1]; i++) {
        if (defined_as(map, i, name) != NULL)
            return defined_as(map, i, name);
    }
    return NULL;
}

static bool has_symbol(const struct link_map *map, const char *name)
{
    return find_symbol(map, name) != NULL;
}

bool dynamic_defines_function(const struct link_map *map, const char *name)
{
    const ElfW(Sym) *symbol = find_symbol(map, name);
    return symbol != NULL && ((symbol->st_info & 15) == STT_FUNC || (symbol->st_info & 15) == STT_GNU_IFUNC);
}

/* How many symbols can be undefined: those come first, before the ones that can be found by their hash. */
static uint32_t count_undefined(const struct link_map *map)
{
    const struct gnu_hash *hash = address_of(map, DT_GNU_HASH);
    const uint32_t *old = address_of(map, DT_HASH);
    return old != NULL ? old[1] : hash != NULL ? hash->first : 0;
}

static const struct link_map *first_of(const struct link_map *map)
{
    while (map->l_prev != NULL)
        map = map->l_prev;
    return map;
}

/* Whether a symbol is in the scope of an object: that of the driver only if it, or the program, is linked to it. */
static bool is_bound(const struct link_map *map, const struct link_map *of, const char *name)
{
    if (of != NULL)
        return has_symbol(of, name);
    bool has_driver = dynamic_is_linked_to(map, driver_name) || dynamic_is_linked_to(first_of(map), driver_name);
    for (const struct link_map *other = first_of(map); other != NULL; other = other->l_next) {
        if ((has_driver || strcmp(dynamic_soname(other), driver_name) != 0) && has_symbol(other, name))
            return true;
    }
    return false;
}

/* ---- versions ---- */

static bool has_version(const struct link_map *map, const char *name)
{
    const char *strings = address_of(map, DT_STRTAB), *at = address_of(map, DT_VERDEF);
    for (ElfW(Addr) i = value_of(map, DT_VERDEFNUM); at != NULL && i > 0; i--) {
        const ElfW(Verdef) *version = (const void *)at;
        const ElfW(Verdaux) *own = (const void *)(at + version->vd_aux);
        if (strcmp(strings + own->vda_name, name) == 0)
            return true;
        at += version->vd_next;
    }
    return address_of(map, DT_VERDEF) == NULL; /* the dynamic loader accepts that */
}

static const struct link_map *find_library(const struct link_map *map, const char *name)
{
    const struct link_map *other = first_of(map);
    while (other != NULL && strcmp(dynamic_soname(other), name) != 0)
        other = other->l_next;
    return other;
}

static void find_versions(const struct link_map *map, void (*found)(const struct link_map *map, const char *name))
{
    const char *strings = address_of(map, DT_STRTAB), *at = address_of(map, DT_VERNEED);
    char text[512];
    for (ElfW(Addr) i = value_of(map, DT_VERNEEDNUM); at != NULL && i > 0; i--) {
        const ElfW(Verneed) *needed = (const void *)at;
        const struct link_map *library = find_library(map, strings + needed->vn_file);
        const char *next = at + needed->vn_aux;
        for (unsigned k = 0; library != NULL && k < needed->vn_cnt; k++) {
            const ElfW(Vernaux) *version = (const void *)next;
            if ((version->vna_flags & VER_FLG_WEAK) == 0 && !has_version(library, strings + version->vna_name)) {
                snprintf(text, sizeof text, "%.250s:%.250s", strings + needed->vn_file, strings + version->vna_name);
                found(map, text);
            }
            next += version->vna_next;
        }
        at += needed->vn_next;
    }
}

/* The library from which an undefined symbol needs its version, or NULL. */
static const char *library_of_symbol(const struct link_map *map, uint32_t symbol)
{
    const ElfW(Half) *versions = address_of(map, DT_VERSYM);
    const char *at = address_of(map, DT_VERNEED);
    for (ElfW(Addr) i = value_of(map, DT_VERNEEDNUM); versions != NULL && at != NULL && i > 0; i--) {
        const ElfW(Verneed) *needed = (const void *)at;
        const char *next = at + needed->vn_aux;
        for (unsigned k = 0; k < needed->vn_cnt; k++) {
            const ElfW(Vernaux) *version = (const void *)next;
            if (version->vna_other == (versions[symbol] & 0x7fff)) /* without the bit of hidden ones */
                return (const char *)address_of(map, DT_STRTAB) + needed->vn_file;
            next += version->vna_next;
        }
        at += needed->vn_next;
    }
    return NULL;
}

void dynamic_find_unbound(const struct link_map *map, const struct link_map *of,
                          void (*found)(const struct link_map *map, const char *name))
{
    enum { MAX_FOUND = 4 };
    char text[512];
    const ElfW(Sym) *symbols = address_of(map, DT_SYMTAB);
    const char *strings = address_of(map, DT_STRTAB);
    int count = 0;
    if (symbols == NULL || strings == NULL)
        return;
    if (of == NULL)
        find_versions(map, found);
    for (uint32_t i = 1; i < count_undefined(map) && count < MAX_FOUND; i++) {
        const char *name = strings + symbols[i].st_name;
        bool is_needed = symbols[i].st_shndx == SHN_UNDEF && symbols[i].st_info >> 4 == STB_GLOBAL && name[0] != '\0';
        if (!is_needed || (of != NULL && strncmp(name, "cu", 2) != 0) || is_bound(map, of, name))
            continue;
        const char *library = of == NULL ? library_of_symbol(map, i) : NULL;
        snprintf(text, sizeof text, "%.250s%s%.250s", library != NULL ? library : "", library != NULL ? "@" : "", name);
        found(map, text);
        count++;
    }
}
