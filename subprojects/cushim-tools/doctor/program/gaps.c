/* SPDX-License-Identifier: MIT */
/* Whether the record of a process is whole, with those of its descendants: only then, what it lacks was not done. */
#include "program.h"

#include <string.h>
#include <sys/wait.h>

/* By exec, a process becomes another program, whose notes then follow. */
static bool becomes_another(const struct program *program, const struct watched_process *process)
{
    const struct watched_process *processes = program->processes.items;
    for (const struct watched_process *later = process + 1; later < processes + program->processes.count; later++) {
        if (later->pid == process->pid)
            return true;
    }
    return false;
}

/* These shells end by _exit(), which nobody notices in the process. */
static bool ends_unseen(const struct watched_process *process)
{
    return pattern_matches("dash mksh", library_file(process->path));
}

/* A process that has ended by exit() did not become another program. That of `cushim doctor` itself also shows how it
 * ended, and under which name. */
static enum gap_kind gap_at_end(const struct program *program, const struct watched_process *process)
{
    const struct watched_process *first = program->processes.items;
    const struct exec_image *image = process->image;
    bool is_main = process->pid == first->pid && program->run->last.name[0] != '\0';
    if (program->is_watched || becomes_another(program, process))
        return GAP_NONE;
    if (image == NULL) /* a copy counts in that of its parent */
        return process->has_auditor && !process->is_copy ? GAP_NO_IMAGE : GAP_NONE;
    if (image->has_ended != 0)
        return GAP_NONE;
    if (is_main && strncmp(image->name, program->run->last.name, sizeof image->name) != 0)
        return GAP_BECAME;
    if (ends_unseen(process) || (is_main && WIFSIGNALED(program->run->status)))
        return GAP_NONE;
    return GAP_NO_END;
}

static enum gap_kind gap_of(const struct program *program, const struct watched_process *process)
{
    const struct program_calls *calls = &process->calls;
    struct sought sought;
    if (process->has_noted_init && calls->count == 0)
        return GAP_CALLS;
    if (program->calls_refused != NULL && library_sought(process, library_of("libcuda.so"), &sought))
        return GAP_CALLS;
    if (process->other != NULL)
        return GAP_OTHER;
    if (process->image != NULL && process->image->lost > 0)
        return GAP_NOTES;
    if (process->left != NULL)
        return GAP_RIGHTS;
    return process->is_alone ? GAP_ALONE : gap_at_end(program, process);
}

/* Programs that start others in another place, or without the variables of their own process. */
static bool starts_elsewhere(const struct watched_process *process)
{
    return pattern_matches("su runuser login bwrap flatpak firejail systemd-run machinectl nsenter ssh srun at batch",
                           library_file(process->path));
}

/* The parent of a number, or 0. */
static long parent_of(const struct program *program, long process)
{
    const struct watched_process *processes = program->processes.items;
    const struct exec_images *images = program->run->images;
    for (size_t i = 0; i < program->processes.count; i++) {
        if (processes[i].pid == process && processes[i].parent != 0)
            return processes[i].parent;
    }
    for (size_t i = 0; images != NULL && i < EXEC_MAX_IMAGES && i < images->count; i++) {
        if (images->list[i].process == process)
            return images->list[i].parent;
    }
    return 0;
}

/* Whether a process is another one, or a descendant of it. */
static bool is_below(const struct program *program, long process, long ancestor)
{
    enum { MAX_DEPTH = 64 };
    for (int depth = 0; depth < MAX_DEPTH && process > 0; depth++) {
        if (process == ancestor)
            return true;
        process = parent_of(program, process);
    }
    return false;
}

/* A process that could note nothing, not even its start. */
static const struct exec_image *find_silent(const struct program *program, long ancestor)
{
    const struct watched_process *processes = program->processes.items;
    const struct exec_images *images = program->run->images;
    for (size_t i = 0; images != NULL && i < EXEC_MAX_IMAGES && i < images->count; i++) {
        bool is_known = false;
        for (size_t j = 0; j < program->processes.count; j++)
            is_known = is_known || processes[j].image == &images->list[i];
        if (!is_known && images->list[i].lost > 0 && is_below(program, images->list[i].process, ancestor))
            return &images->list[i];
    }
    return NULL;
}

static bool has_child(const struct program *program, long parent)
{
    const struct watched_process *processes = program->processes.items;
    for (size_t i = 0; i < program->processes.count; i++) {
        if (processes[i].parent == parent)
            return true;
    }
    return false;
}

struct gap gap_find(const struct program *program, const struct watched_process *process)
{
    const struct watched_process *processes = program->processes.items;
    struct gap gap = {.kind = GAP_NONE, .image = find_silent(program, process->pid)};
    if (gap.image != NULL)
        gap.kind = GAP_NOTES;
    for (size_t i = 0; i < program->processes.count && gap.kind == GAP_NONE; i++) {
        if (is_below(program, processes[i].pid, process->pid)) {
            gap = (struct gap){gap_of(program, &processes[i]), &processes[i], processes[i].image};
            if (gap.kind == GAP_NONE && !program->is_watched && starts_elsewhere(&processes[i])
                && !has_child(program, processes[i].pid))
                gap.kind = GAP_ELSEWHERE;
        }
    }
    if (program->run->has_left && (gap.kind == GAP_NONE || gap.kind == GAP_NO_END)) /* it may be that process */
        gap = (struct gap){GAP_LEFT, processes, NULL};
    return gap;
}
