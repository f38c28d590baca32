/* SPDX-License-Identifier: MIT */
/*
 * What the order of streams adds to a report: "orders_cost FILE" reads all calls of a trace with the model alone, and
 * then also with the order and the finders that compare accesses. For each it prints the seconds of processor time and
 * the kilobytes of memory that a process needs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../trace/finders/finder.h"
#include "../../trace/order/orders.h"

static const struct trace_finder *const finders[] = {&trace_finder_races, &trace_finder_held, &trace_finder_early};
enum { FINDERS = sizeof finders / sizeof finders[0] };

/* Nothing is freed: the process ends. */
static bool read_all(const char *path, bool has_orders)
{
    static struct trace_reader reader;
    static struct trace_model model;
    static struct trace_orders orders;
    static struct trace_list list;
    struct trace_call call;
    void *states[FINDERS];
    bool has_memory = trace_open(path, &reader) == NULL && trace_model_start(&model, &reader);
    model.orders = &orders;
    for (size_t i = 0; i < FINDERS; i++)
        has_memory = has_memory && (states[i] = calloc(1, finders[i]->size + 1)) != NULL;
    while (has_memory && trace_read(&reader, &call)) {
        has_memory = trace_model_read(&model, &call);
        if (has_orders)
            trace_orders_read(&orders, &model, &call);
        for (size_t i = 0; has_orders && i < FINDERS; i++)
            has_memory = has_memory && (finders[i]->read == NULL || finders[i]->read(states[i], &model, &call, &list));
    }
    if (has_orders)
        trace_orders_end(&orders, &model);
    for (size_t i = 0; has_orders && i < FINDERS; i++)
        has_memory = has_memory && (finders[i]->end == NULL || finders[i]->end(states[i], &model, &list));
    return has_memory && !orders.has_failed && list.count == 0;
}

int main(int argc, char **argv)
{
    for (int has_orders = 0; argc == 2 && has_orders < 2; has_orders++) {
        struct rusage used;
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(read_all(argv[1], has_orders != 0) ? 0 : 1);
        if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
            return 1;
        printf("%.3f %ld\n", (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6, used.ru_maxrss);
    }
    return argc == 2 ? 0 : 2;
}
