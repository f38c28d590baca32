/* SPDX-License-Identifier: MIT */
/* Uses the two, and is used by none. */
int cycle_one(int number);
int cycle_three(void);

int cycle_three(void)
{
    return cycle_one(3);
}
