#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes CAUSES.md, the page of the causes for which CUDA cannot be used, from causes.inc: all that follows its
introduction. The result is checked in.

  write_causes.py            writes the page
  write_causes.py --check    only compares: exit status 1 if the page is not what the list makes of it
"""
import collections
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE / 'CAUSES.md'
FIELDS = 'word check reason codes calls paths errors evidence seen title message advice'
Cause = collections.namedtuple('Cause', FIELDS + ' section')

# A token: a string, a section, or anything else up to a comma.
ARGUMENT = re.compile(r'\s*((?:"(?:[^"\\]|\\.)*"\s*)+|[\w-]+)\s*([,)])')
SECTION = re.compile(r'/\* ---- (.*) ---- \*/')

def joined(strings):
    """The text of adjacent strings of C."""
    return ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', strings)).replace('\\"', '"').replace('\\n', ' ')


def reasons():
    """{word: (message, advice)} of the library."""
    text = (HERE.parents[2] / 'include' / 'cushim' / 'reasons.h').read_text(encoding='utf-8')
    strings = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    rows = re.findall(rf'^CUSHIM_REASON\(\w+, "([\w-]+)", \w+,\s*{strings},\s*{strings}\)', text, re.M)
    return {word: (joined(message), joined(advice)) for word, message, advice in rows}


def read_causes():
    text = (HERE / 'causes.inc').read_text(encoding='utf-8')
    causes, section, at = [], '', text.index('/* clang-format off */')
    while True:
        mark = re.compile(r'^CAUSE\(|/\* ---- .* ---- \*/', re.M).search(text, at)
        if mark is None:
            return causes
        at = mark.end()
        if mark[0] != 'CAUSE(':
            section = SECTION.match(mark[0])[1]
            continue
        values = []
        while not values or text[at - 1] != ')':
            argument = ARGUMENT.match(text, at)
            values.append(joined(argument[1]) if argument[1][0] == '"' else argument[1].strip())
            at = argument.end()
        cause = Cause(*values, section)
        texts = reasons().get(cause.reason)
        causes.append(cause if cause.message else cause._replace(message=texts[0], advice=texts[1]))


# What the doctor adds where it knows it, as a part of a sentence or a sentence of its own.
ADDED = re.compile(r'\{(last_call|signal|stack|killer|before|seccomp|confinement|preload|pids|origin|mps_control'
                   r'|group_memory|refused|variables|unloaded|with_module)\}')


def codes_of(cause):
    """The codes of a cause, and those of its title: a cause with an operation has any code."""
    named = re.search(r'CUDA error (\d+(?: or \d+)*)', cause.title)
    codes = set(cause.codes.split()) | set(named[1].split(' or ') if named else ())
    return {int(code) for code in codes if code.isdigit() and code != '0'}


def marked(text):
    """{names} in italics."""
    text = ADDED.sub('', text)
    return re.sub(r'\{(\w+)\}', lambda name: '*{' + name[1].replace('_', ' ') + '}*', text)


def wrapped(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def write_page(introduction, causes):
    lines = [introduction + '## By code\n', '| code | causes |', '| --- | --- |']
    for code in sorted(set.union(*map(codes_of, causes))):
        names = [f'[{one.word}](#{one.word})' for one in causes if code in codes_of(one)]
        lines.append(f'| {code} | {", ".join(names)} |')
    section = None
    for cause in causes:
        if cause.section != section:
            section = cause.section
            lines.append(f'\n## {section}')
        unseen = '' if cause.seen == 'SEEN' else ' Not seen on hardware.'
        lines += ['', f'### {cause.word}', wrapped(f'**{cause.title}.** {marked(cause.message)}{unseen} *What to do:* '
                                                   + marked(cause.advice))]
    return '\n'.join(lines) + '\n'


def main(arguments):
    if arguments not in ([], ['--check']):
        sys.exit(__doc__)
    old = PAGE.read_text(encoding='utf-8')
    page = write_page(old[:old.index('## By code\n')], read_causes())
    if arguments == ['--check']:
        sys.exit(None if page == old else 'CAUSES.md is not what causes.inc makes of it: run write_causes.py')
    if page != old:
        PAGE.write_text(page, encoding='utf-8')


if __name__ == '__main__':
    main(sys.argv[1:])
