/* SPDX-License-Identifier: MIT */
/* Slots that cushim answers though the driver has them, so that nothing steps around a version limit, hidden functions
 * or the stream choice. */
#ifndef CUSHIM_ADAPTED_H
#define CUSHIM_ADAPTED_H

/* Replaces slots of the driver table where the loaded driver's view of itself is limited. */
void cush_adapted_install(void);

#endif
