#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a page as the contents of two arrays of C: what stands before the line <!-- trace -->, and after it.

  embed.py FILE
"""
import sys

MARK = b'<!-- trace -->\n'


def main():
    with open(sys.argv[1], 'rb') as file:
        parts = file.read().split(MARK)
    for name, part in zip(('page_head', 'page_tail'), parts, strict=True):
        print(f'static const unsigned char {name}[] = {{{",".join(map(str, part))}}};')


main()
