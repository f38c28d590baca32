/* SPDX-License-Identifier: MIT */
#include "findings.h"

#include <stdlib.h>

const struct trace_finding_row trace_finding_rows[TRACE_FINDING_KINDS] = {
#define FINDING(kind, finder, title, severity) {title, severity},
#include "findings.inc"
};

static const struct trace_finder *const finders[TRACE_FINDING_KINDS] = {
#define FINDING(kind, finder, title, severity) &trace_finder_##finder,
#include "findings.inc"
};

bool trace_findings_start(struct trace_findings *findings, struct trace_reader *reader)
{
    *findings = (struct trace_findings){.list = {.all = NULL}};
    bool has_memory = trace_model_start(&findings->model, reader);
    findings->model.orders = &findings->orders;
    for (size_t i = 0; has_memory && i < TRACE_FINDING_KINDS; i++)
        has_memory = (findings->states[i] = calloc(1, finders[i]->size + 1)) != NULL;
    return has_memory;
}

bool trace_findings_read(struct trace_findings *findings, const struct trace_call *call)
{
    bool has_memory = trace_model_read(&findings->model, call);
    if (has_memory)
        trace_orders_read(&findings->orders, &findings->model, call);
    has_memory = has_memory && !findings->orders.has_failed;
    for (size_t i = 0; has_memory && i < TRACE_FINDING_KINDS; i++) {
        if (finders[i]->read != NULL)
            has_memory = finders[i]->read(findings->states[i], &findings->model, call, &findings->list);
    }
    return has_memory;
}

/* Those of a kind stay in their order. */
static bool list_sort(struct trace_list *list)
{
    struct trace_finding *sorted = calloc(list->count + 1, sizeof *sorted);
    size_t count = 0;
    for (int kind = 0; sorted != NULL && kind < TRACE_FINDING_KINDS; kind++) {
        for (size_t i = 0; i < list->count; i++) {
            if ((int)list->all[i].kind == kind)
                sorted[count++] = list->all[i];
        }
    }
    if (sorted == NULL)
        return false;
    free(list->all);
    list->all = sorted;
    return true;
}

bool trace_findings_end(struct trace_findings *findings)
{
    trace_orders_end(&findings->orders, &findings->model);
    bool has_memory = !trace_model_has_failed(&findings->model) && !findings->orders.has_failed;
    for (size_t i = 0; has_memory && i < TRACE_FINDING_KINDS; i++) {
        if (finders[i]->end != NULL)
            has_memory = finders[i]->end(findings->states[i], &findings->model, &findings->list);
    }
    return has_memory && list_sort(&findings->list);
}

void trace_findings_free(struct trace_findings *findings)
{
    trace_list_free(&findings->list);
    for (size_t i = 0; i < TRACE_FINDING_KINDS; i++) {
        if (findings->states[i] != NULL && finders[i]->free != NULL)
            finders[i]->free(findings->states[i]);
        free(findings->states[i]);
    }
    trace_orders_free(&findings->orders);
    trace_model_free(&findings->model);
}
