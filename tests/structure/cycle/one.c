/* SPDX-License-Identifier: MIT */
/* With two.c, a cycle for the check to find. */
int cycle_one(int number);
int cycle_two(int number);

int cycle_one(int number)
{
    return number == 0 ? 0 : cycle_two(number - 1);
}
