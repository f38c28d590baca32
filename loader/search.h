/* SPDX-License-Identifier: MIT */
/* Opens the driver that a request asks for, place by place, and writes down what happened at each. */
#ifndef CUSHIM_LOADER_SEARCH_H
#define CUSHIM_LOADER_SEARCH_H

#include "driver.h"
#include "request.h"

/*
 * On true, `driver` is open, its version is known, and it is no stub. On false nothing is open, and the record has the
 * reason. Either way the record has every place tried.
 */
bool cush_search_driver(const struct request *request, struct driver *driver, struct diagnosis_builder *builder);

#endif
