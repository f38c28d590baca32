/* SPDX-License-Identifier: MIT */
/*
 * An auditor of glibc's dynamic loader (rtld-audit(7)): where a program finds a libcuda.so, by a plain name or by a
 * path, it gets our libcuda.so.1. It lives in a namespace of its own, with its own C library.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "quiet_text.h"
#include "dynamic.h"
#include "settings.h"

static struct exec_settings settings;
static char own_path[4096];  /* of our libcuda.so.1 */
static char code_path[4096]; /* of libcushim-exec.so: its $ORIGIN would be the directory of the file that is replaced */
static char no_path[4096];   /* of a libcuda.so.1 that does not exist */
static ElfW(Ehdr) own_header;
static char asked_path[4096]; /* the last file that a driver looked for, which passes calls on to it */
static bool has_started;      /* the objects that the program is linked to are mapped */

static bool read_header(const char *path, ElfW(Ehdr) * header)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool done = file >= 0 && pread(file, header, sizeof *header, 0) == (ssize_t)sizeof *header;
    if (file >= 0)
        close(file);
    return done;
}

static void note_process(void)
{
    char path[4096], parent[32];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    snprintf(parent, sizeof parent, "%ld", (long)getppid());
    exec_notes_start(settings.notes);
    exec_image_begin(settings.images);
    exec_note(getpid(), EXEC_NOTE_PROCESS, path, parent);
}

unsigned la_version(unsigned version)
{
    settings = exec_settings_read();
    if (settings.names == NULL)
        return 0; /* the dynamic loader unloads this auditor */
    snprintf(own_path, sizeof own_path, "%s/libcuda.so.1", settings.names);
    snprintf(code_path, sizeof code_path, "%s/../" EXEC_CODE, settings.names);
    snprintf(no_path, sizeof no_path, "%s/none/libcuda.so.1", settings.names);
    if (!read_header(own_path, &own_header))
        return 0;
    if (settings.notes != NULL)
        note_process();
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

static const char *file_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

/* libcuda.so, libcuda.so.1 or libcuda.so.550.163.01, in any directory. */
static bool is_driver_name(const char *name)
{
    static const char stem[] = "libcuda.so";
    const char *file = file_of(name);
    if (strncmp(file, stem, sizeof stem - 1) != 0)
        return false;
    file += sizeof stem - 1;
    return file[0] == '\0' || (file[0] == '.' && file[strspn(file, "0123456789.")] == '\0');
}

/* Whether the search of a program ends at this file. The dynamic loader passes over one for another machine. */
static bool is_found(const char *path)
{
    ElfW(Ehdr) header;
    return read_header(path, &header) && memcmp(header.e_ident, own_header.e_ident, EI_VERSION) == 0
           && header.e_machine == own_header.e_machine;
}

/* Our library asks for the driver by a spelling that no program uses. Do not test the caller: dlopen() may be
 * wrapped, as in a program with AddressSanitizer. */
static bool is_own_request(const char *name)
{
    return settings.driver != NULL && strcmp(name, settings.driver) == 0;
}

/* Whether the driver that our library has opened asks: what it passes calls on to is not to be our library. The initial
 * value of a cookie is the address of the object. */
static bool is_asked_by_driver(const uintptr_t *cookie)
{
    const struct link_map *by = cookie != NULL ? (const struct link_map *)*cookie : NULL;
    return by != NULL && is_own_request(by->l_name);
}

static bool is_without_driver(void)
{
    return settings.driver != NULL && strcmp(settings.driver, "none") == 0;
}

/* A driver that was chosen is there although the machine has none: its plain name is always found. If no driver was
 * chosen, only programs that are linked to one find it, so that they start. */
static bool is_always_found(const char *name)
{
    return settings.chosen != NULL && strcmp(name, "libcuda.so.1") == 0 && !(is_without_driver() && has_started);
}

/* What takes the place of a file that the program finds; NULL: nothing does. */
static char *replacement(const char *path)
{
    if (settings.chosen != NULL)
        return is_without_driver() ? no_path : own_path;
    /* The stub of the Toolkit hides the machine's driver from the program, without exec, too. */
    return is_without_driver() || strstr(path, "/stubs/") != NULL ? NULL : own_path;
}

/* The initial value of a cookie is the address of the object. */
static void note_search(const char *name, bool is_sought, const uintptr_t *cookie, bool is_hidden)
{
    const struct link_map *by = cookie != NULL ? (const struct link_map *)*cookie : NULL;
    if (is_own_request(name) || strcmp(name, EXEC_CODE) == 0)
        return;
    if (is_sought)
        exec_note(getpid(), by != NULL && dynamic_is_linked_to(by, name) ? EXEC_NOTE_NEEDED : EXEC_NOTE_SEARCH, name,
                  by != NULL && by->l_name != NULL ? by->l_name : "");
    /* The libraries of CUDA; a note for every library would be long. */
    if (!is_hidden && (!is_sought || strchr(name, '/') != NULL)
        && (strncmp(file_of(name), "libcu", 5) == 0 || strncmp(file_of(name), "libnv", 5) == 0) && is_found(name))
        exec_note(getpid(), EXEC_NOTE_FILE, name, "");
}

/* The dynamic loader asks with the name that is sought, and then with each file that it tries. */
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    union {
        const char *constant;
        char *writable; /* the dynamic loader does not write to it */
    } same = {name};
    bool is_sought = flag == LA_SER_ORIG;
    char *other = NULL;
    if (is_sought && strcmp(name, EXEC_CODE) == 0)
        other = code_path;
    else if (is_asked_by_driver(cookie))
        snprintf(asked_path, sizeof asked_path, "%s", name);
    else if (is_sought && is_always_found(name))
        other = own_path;
    else if ((!is_sought || strchr(name, '/') != NULL) && is_driver_name(name) && !is_own_request(name)
             && is_found(name))
        other = replacement(name);
    if (settings.notes != NULL)
        note_search(name, is_sought, cookie, other == no_path);
    return other != NULL ? other : same.writable;
}

/* The objects that were opened last: if they are closed before anything else happens, they could not be bound. */
static const struct link_map *newest[64];
static size_t newest_count;
static bool is_adding;
static bool is_ending; /* the program closes its objects */

static void note_unbound(const struct link_map *map, const char *name)
{
    exec_note(getpid(), EXEC_NOTE_UNBOUND, name, map->l_name);
}

static void note_may_be_unbound(const struct link_map *map, const char *name)
{
    exec_note(getpid(), EXEC_NOTE_LACKS, name, map->l_name);
}

/* What objects need that are linked to the driver, and that it lacks: with lazy binding, it matters at the call. */
static void check_newest(void)
{
    const struct link_map *driver = NULL;
    for (size_t i = 0; i < newest_count; i++) {
        if (strcmp(dynamic_soname(newest[i]), "libcuda.so.1") == 0)
            driver = newest[i];
    }
    for (size_t i = 0; driver != NULL && i < newest_count; i++) {
        if (dynamic_is_linked_to(newest[i], "libcuda.so.1"))
            dynamic_find_unbound(newest[i], driver, note_may_be_unbound);
    }
}

/* The program itself has no name, and is closed first. */
unsigned la_objclose(uintptr_t *cookie)
{
    const struct link_map *map = (const struct link_map *)*cookie;
    is_ending = is_ending || map->l_name[0] == '\0';
    for (size_t i = 0; i < newest_count && settings.notes != NULL && !is_ending; i++) {
        if (newest[i] == map)
            dynamic_find_unbound(map, NULL, note_unbound);
    }
    return 0;
}

void la_activity(uintptr_t *cookie, unsigned flag)
{
    (void)cookie;
    if (flag == LA_ACT_ADD || (flag == LA_ACT_CONSISTENT && !is_adding))
        newest_count = 0; /* of an earlier call of dlopen(), or gone */
    else if (flag == LA_ACT_CONSISTENT && settings.notes != NULL)
        check_newest();
    is_adding = flag == LA_ACT_ADD;
    if (flag == LA_ACT_CONSISTENT && !has_started)
        exec_note(getpid(), EXEC_NOTE_STARTED, "", "");
    has_started |= flag == LA_ACT_CONSISTENT;
}

/* Whether an object that is not a driver has cuInit, and is searched before every driver that is opened later. */
static bool is_stand_in(const struct link_map *map)
{
    return !has_started && map->l_name[0] != '\0' && strcmp(dynamic_soname(map), "libcuda.so.1") != 0
           && dynamic_defines_function(map, "cuInit");
}

/* Our library, and the driver as our library opens it, are as they should be, and so is one that this driver opens.
 * Ours has the name of the file that it replaces. A path that dlmopen() opens gets here without la_objsearch(). */
static bool is_other_driver(const struct link_map *map)
{
    return !is_own_request(map->l_name) && strcmp(dynamic_soname(map), "libcuda.so.1") == 0
           && strcmp(map->l_name, asked_path) != 0 && !dynamic_is_linked_to(map, EXEC_CODE);
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    (void)cookie;
    if (namespace == LM_ID_BASE && newest_count < sizeof newest / sizeof newest[0])
        newest[newest_count++] = map;
    if (settings.notes != NULL && is_stand_in(map))
        exec_note(getpid(), EXEC_NOTE_STAND_IN, map->l_name, "");
    if (settings.notes != NULL)
        exec_note(getpid(), EXEC_NOTE_OBJECT, map->l_name, dynamic_soname(map));
    if (!is_other_driver(map))
        return 0;
    if (settings.notes != NULL)
        exec_note(getpid(), EXEC_NOTE_OTHER, map->l_name, "");
    if (settings.quiet == NULL)
        quiet_print(STDERR_FILENO, "cushim: exec: this process opened a CUDA driver that is not redirected: %s\n",
                    map->l_name);
    return 0; /* no calls between objects are audited, so that they cost nothing */
}
