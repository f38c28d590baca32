/* SPDX-License-Identifier: MIT */
/* User objects, whose references have a count for each holder. */
#ifndef SOFT_USER_OBJECT_H
#define SOFT_USER_OBJECT_H

struct user_object;

void user_object_ref(struct user_object *object, unsigned count);

void user_object_unref(struct user_object *object, unsigned count);

#endif
