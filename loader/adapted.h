/* SPDX-License-Identifier: MIT */
/* Slots that cushim answers though the driver has them, so that nothing steps around a cap, a mask or the stream
 * choice. */
#ifndef CUSHIM_ADAPTED_H
#define CUSHIM_ADAPTED_H

/* Replaces slots of the driver table where the loaded driver's view of itself is limited. */
void cushim_priv_adapted_install(void);

#endif
