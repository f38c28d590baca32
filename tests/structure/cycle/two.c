/* SPDX-License-Identifier: MIT */
int cycle_one(int number);
int cycle_two(int number);

int cycle_two(int number)
{
    return number == 0 ? 1 : cycle_one(number - 1);
}
