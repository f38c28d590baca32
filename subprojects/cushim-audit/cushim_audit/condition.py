# SPDX-License-Identifier: MIT
"""Conditions as cushim writes them (loader/condition.h), as far as a file can be held to them: from which driver on and
on which GPU it must run."""
import re

from .rules import version_of
from .tables import BRANCHES, FEATURES, POLYFILLED, SYMBOLS

DRIVER = re.compile(r'([3-9]\d\d)((?:\.\d{1,5}){0,2})$')
CUDA = re.compile(r'(\d{1,2})(?:\.(\d{1,2}))?$')
NUMBER = re.compile(r'\d{4,6}$')
ARCH = re.compile(r'([2-9]|1\d)(?:\.(\d))?$')


class Wrong(ValueError):
    """The text is a sentence without its full stop."""


def value_of(text, *subjects):
    """The subject and the value of "cuda>=12.4". A value alone has the subject ''."""
    found = re.match(r'([a-z]+)(>=|<)(.*)$', text, re.S)
    if not found:
        return '', text
    subject, sign, value = found.groups()
    if subject not in subjects:
        raise Wrong(f'"{text}" is not a condition on {" or ".join(subjects)}')
    if sign == '<':
        raise Wrong(f'"{text}": a file can be held only to what a machine has at least')
    return subject, value


def read_branch(text):
    """The CUDA version of a driver, or None if the text is not one."""
    found = DRIVER.match(text)
    if not found:
        return None
    newest = max(BRANCHES.values())
    if int(found[1]) >= newest + 5:
        raise Wrong(f'the newest driver branch that is known is {newest}')
    version = version_of(int(found[1]))
    if version is None:
        raise Wrong(f'the oldest driver branch that is known is {min(BRANCHES.values())}')
    return version


def read_cuda(text):
    """A CUDA version, or None."""
    found = CUDA.match(text)
    if found and int(found[1]) >= 2:
        return int(found[1]) * 1000 + int(found[2] or 0) * 10
    return int(text) if NUMBER.match(text) and int(text) >= 2000 and int(text) % 10 == 0 else None


def read_driver(text):
    """A condition on the driver as a CUDA version: "535", "12.4", "driver>=535.54", "cuda>=12.4"."""
    subject, value = value_of(text, 'driver', 'cuda')
    version = read_branch(value)
    if version is None and subject != 'driver':
        version = read_cuda(value)
    if version is None:
        raise Wrong(f'"{text}" is not a driver branch such as 535, or a CUDA version such as 12.4')
    if version > max(BRANCHES):
        raise Wrong(f'the newest CUDA version whose driver is known is {max(BRANCHES) / 1000:.1f}')
    return version


def read_arch(text):
    """A condition on a GPU as ten times its compute capability: "8.0", "arch>=8.0"."""
    found = ARCH.match(value_of(text, 'arch')[1])
    return int(found[1]) * 10 + int(found[2] or 0) if found else 0


def slot_version(name):
    """The CUDA version from which a slot can be called, or None if it is not in the list."""
    slot = name[2:] if name.startswith('cu') else name
    slot = slot if re.search(r'_v\d+$', slot) else slot + '_v1'
    return POLYFILLED.get(slot, SYMBOLS.get('cu' + re.sub('_v1$', '', slot)))


def needed_version(text):
    """The first CUDA version whose driver meets a condition that a file has in it: 0 if each does, or if it is on GPUs;
    None if that is not known."""
    if text in FEATURES:
        return FEATURES[text]
    if not re.match(r'(cuda|driver|arch|memory)[<>]|\d', text):
        return slot_version(text)
    if '<' in text or text.startswith(('arch', 'memory')):
        return 0
    try:
        return read_driver(text)
    except Wrong:
        return None
