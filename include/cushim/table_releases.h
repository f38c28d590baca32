/* SPDX-License-Identifier: MIT */
/*
 * table_releases.h - the releases of cushim that added slots, one row for each, oldest first.
 *
 *   CUSHIM_TABLE_VERSION(release, slots)
 *
 *   release  the release, 0_2
 *   slots    the number of slots that its dispatch table has
 *
 * Each of these releases has a pair of pointers to the current tables: cushim_current_legacy_0_2 and
 * cushim_current_per_thread_0_2. The library keeps and stores all pairs; a program refers to the newest pair of its
 * headers. Therefore a program that was built with newer headers than its library does not start (or, in a static
 * build, does not link), and the error names the release: "undefined symbol: cushim_current_legacy_0_2".
 *
 * A row never changes after its release. loader/lists/README.md in cushim's sources says how to add one.
 *
 * Define CUSHIM_TABLE_VERSION before including this file, as often as needed. It defaults to nothing, and is undefined
 * at the end.
 */
#ifndef CUSHIM_TABLE_VERSION
#    define CUSHIM_TABLE_VERSION(release, slots)
#endif

CUSHIM_TABLE_VERSION(0_2, 623)

/* The newest pair. */
#define CUSHIM_CURRENT_LEGACY cushim_current_legacy_0_2
#define CUSHIM_CURRENT_PER_THREAD cushim_current_per_thread_0_2

#undef CUSHIM_TABLE_VERSION
