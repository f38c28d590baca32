/* SPDX-License-Identifier: MIT */
/* Each writes the text for one {name} of causes.inc; "": there is nothing to say. */
#ifndef CUSHIM_DOCTOR_FACTS_H
#define CUSHIM_DOCTOR_FACTS_H

#include "doctor.h"

#define FACT(name) void fact_##name(const struct doctor *doctor, char *text, size_t size);
#include "facts.inc"
#undef FACT

#endif
