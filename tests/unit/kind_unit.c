/* SPDX-License-Identifier: MIT */
#include "kind_unit.h"

#include "cushim/names.h"

static const struct cushim_dispatch_table *unit_table(void)
{
    return cushim_table();
}

static CUresult unit_query(CUstream stream)
{
    return cushim_table()->StreamQuery_v1(stream);
}

static CUresult unit_query_by_name(CUstream stream)
{
    return cuStreamQuery(stream);
}

/* The build gives each unit a name of its own. */
const struct kind_unit KIND_UNIT = {CUSHIM_DEFAULT_STREAM_AS_COMPILED, unit_table, unit_query, unit_query_by_name};
