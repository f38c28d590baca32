#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page_names.py ROOT - checks that what the pages name exists: functions of cushim, files, options of the program, and
stages of .ci/run. Only what stands between backquotes is read, and only where a name says whose it is.
"""
import pathlib
import re
import shutil
import subprocess
import sys

SOURCES = ('.c', '.h', '.inc', '.py', '.sh', '.in', '.map', '.cpp', '.hpp', '.rs')
# Names that a reader is to replace, and functions of others.
EXAMPLE = re.compile(r'NAME|FEATURE|KIND|SUBJECT|VERSION|DIRECTORY|ext_cuda|load_cuda_lib|os_dlsym|\.so|/cushim$')
TOP = re.compile(r'(?:include|loader|src|tests|subprojects|\.ci|\.github)/[\w./-]+$')


def tracked(root):
    if not shutil.which('git'):
        return []
    done = subprocess.run(['git', 'ls-files'], cwd=root, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def find_missing(root, page, words, stages, options):
    text = (root / page).read_text(encoding='utf-8')
    for quoted in re.findall(r'`([^`\n]+)`', text):
        function = re.match(r'((?:cush|cushim|search|load|init|command|os|trace|exec|doctor)_\w+)\(\)$', quoted)
        if function and function[1] not in words and not EXAMPLE.search(quoted):
            yield f'{page}: there is no function {function[1]}()'
        path = quoted.split()[0]
        if TOP.match(path) and not EXAMPLE.search(path) \
                and not any((directory / path).exists() for directory in (root, (root / page).parent)):
            yield f'{page}: there is no file {path}'
        if quoted.startswith('.ci/run '):
            yield from (f'{page}: .ci/run has no stage {one}' for one in quoted.split()[1:]
                        if re.match(r'[a-z]', one) and one not in stages)
        if quoted.startswith('cushim ') and ' -- ' not in quoted + ' ' and 'audit' not in quoted:
            yield from (f'{page}: cushim has no option {one}' for one in re.findall(r'(?<= )(--[a-z][a-z-]+)', quoted)
                        if one not in options)


def main(root):
    root = pathlib.Path(root).resolve()
    files = tracked(root)
    if not files:
        print('skipped: this is not a checkout of git, or git is not installed')
        return 77
    words = set()
    for path in files:
        if path.endswith(SOURCES) or '.' not in pathlib.PurePath(path).name:
            words.update(re.findall(r'\w+', (root / path).read_text(encoding='utf-8', errors='replace')))
    stages = subprocess.run([root / '.ci' / 'run', '--list', '--all'], stdout=subprocess.PIPE, text=True,
                            check=True).stdout.split()
    cli = root / 'subprojects' / 'cushim-tools' / 'cli'
    options = set(re.findall(r'"(--[a-z-]+)"', ''.join((cli / name).read_text(encoding='utf-8') for name in
                                                      ('options.inc', 'trace_options.inc'))))
    options |= {'--help', '--version'}
    missing = [line for page in files if page.endswith('.md') and page != 'CHANGELOG.md'
               for line in find_missing(root, page, words, stages, options)]
    print('\n'.join(missing) or f'{len(files)} files: what the pages name exists')
    return 1 if missing else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
