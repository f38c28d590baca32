/* SPDX-License-Identifier: MIT */
/* A program without a dynamic loader. */
int main(void)
{
    return 5;
}
