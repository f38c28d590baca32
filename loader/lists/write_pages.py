# SPDX-License-Identifier: MIT
"""What stands in pages and in man pages between markers, and the version in version.h."""
import pathlib
import re
import sys
import textwrap

import entry_points as lists

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What stands before and behind a value, by the suffix of the page.
MARKERS = {'.md': (r'(<!-- list: ([\w-]+) -->)', '(<!-- end -->)'), '.1': (r'(\.\\" list: ([\w-]+)\n)', r'(\.\\" end)')}


def known_drivers():
    """For the man page: "340, 390 or 580"."""
    *branches, newest = (str(one.branch) for one in lists.known_drivers())
    return textwrap.fill(f'{", ".join(branches)} or {newest}.', 80) + '\n'


FEATURE_TESTS = {'AT_LEAST': ' at least {}', 'HAS': ' with bit {}', 'IF_KNOWN': ' at least {}, if the driver knows it',
                 'ANY': ' is read'}
FEATURE_PLATFORMS = {'WINDOWS': 'Windows', 'WSL': 'WSL', 'NO_IMEX_CHANNEL': 'machines without an IMEX channel'}
# Attributes that had another name before the version in abi/device.h.
RENAMED_ATTRIBUTES = {'CAN_USE_STREAM_MEM_OPS_V1'}


def attribute_versions():
    """{name: the CUDA version that added the device attribute}, for those newer than the oldest headers."""
    text = (ROOT / 'include' / 'cushim' / 'abi' / 'device.h').read_text(encoding='utf-8')
    blocks = re.findall(r'#if CUSHIM_CUDA_HEADER_VERSION < (\d+)\n(.*?)#endif', text, re.S)
    return {name: int(version) for version, lines in blocks
            for name in re.findall(r'define CU_DEVICE_ATTRIBUTE_(\w+)', lines)}


def check_attributes(found):
    """A driver that lacks an attribute is too old, and the message must say so: the feature needs a row SINCE."""
    added = attribute_versions()
    for row in found.values():
        for attribute in row['attributes'] - RENAMED_ATTRIBUTES:
            if added.get(attribute, 0) > row['version']:
                sys.exit(f"features.h: {row['name']}: {attribute} is of CUDA {lists.version_text(added[attribute])}")


def features(entry_points):
    """The table of features.h."""
    since = {one.slot_name: one.version for one in entry_points}
    text = (ROOT / 'include' / 'cushim' / 'features.h').read_text(encoding='utf-8')
    text = re.sub(r'"\s*\n\s*"', '', text.split('/* clang-format off */')[1])
    found = {}
    for feature, rest in re.findall(r'^CUSHIM_FEATURE\((\w+), (.*?)\)$', text, re.M | re.S):
        name, description, source = re.findall(r'"([^"]*)"', rest)
        found[feature] = {'name': name, 'description': description, 'source': source, 'version': 0, 'needs': [],
                          'not': [], 'slots': [], 'attributes': set()}
    for kind, feature, rest in re.findall(r'^CUSHIM_FEATURE_([A-Z_]+)\((\w+), (.*)\)$', text, re.M):
        row, cells = found[feature], rest.split(', ')
        if kind in ('SLOT', 'SINCE'):
            row['version'] = max(row['version'], since[cells[0]] if kind == 'SLOT' else int(cells[0]))
            row['slots'] += [f'`{cells[0]}`'] if kind == 'SLOT' else []
        elif kind == 'NOT_ON':
            row['not'].append(FEATURE_PLATFORMS[cells[0]])
        else:
            row['needs'].append(f'`{cells[0]}`' + FEATURE_TESTS[cells[1]].format(cells[2]))
            if kind == 'DEVICE' and cells[1] not in ('IF_KNOWN', 'ANY'):
                row['attributes'].add(cells[0])
    check_attributes(found)
    lines = ['| feature | what a program can do | CUDA | slots | values of the device | not on | source |',
             '| --- | --- | --- | --- | --- | --- | --- |']
    lines += [f"| `{row['name']}` | {row['description']} | "
              f"{lists.version_text(row['version']) if row['version'] else ''} | "
              f"{', '.join(row['slots'])} | {'; '.join(row['needs'])} | {', '.join(row['not'])} | {row['source']} |"
              for row in found.values()]
    return '\n\n' + '\n'.join(lines) + '\n\n'


def values(entry_points):
    """What may stand in a page, by the name in its marker."""
    return {
        'slots': str(len(lists.in_slots(entry_points))),
        'oldest': lists.version_text(lists.oldest_version()),
        'newest': lists.version_text(max(one.version for one in entry_points)),
        'features': features(entry_points),
        'known-drivers': known_drivers(),
    }


def write_page(path, known):
    """The page with new text between the markers <!-- list: NAME --> and <!-- end -->, in a man page between lines."""
    text = path.read_text(encoding='utf-8')
    start, end = MARKERS[path.suffix]
    unknown = {name for _, name in re.findall(start, text)} - set(known)
    if unknown:
        sys.exit(f'{path}: no such value: {" ".join(sorted(unknown))}')
    return re.sub(f'{start}.*?{end}', lambda found: found[1] + known[found[2]] + found[3], text, flags=re.S)


def with_markers():
    """The pages of the tree in which markers stand. A subproject writes its own."""
    pages = [ROOT / 'README.md', *(path for top in ('include', 'loader', 'src', 'subprojects/cushim-tools')
                                   for suffix in MARKERS
                                   for path in sorted((ROOT / top).rglob('*' + suffix)))]
    return [path for path in pages if re.search(MARKERS[path.suffix][0], path.read_text(encoding='utf-8'))]


def write_pages(entry_points):
    """{path below the root: text} of the pages."""
    known = values(entry_points)
    return {path.relative_to(ROOT).as_posix(): write_page(path, known) for path in with_markers()}


def write_version_header():
    """The header for builds that know nothing but the sources, with the version of version.txt."""
    text = (ROOT / 'include/cushim/version.h').read_text(encoding='utf-8')
    version = (ROOT / 'loader/version.txt').read_text(encoding='utf-8').strip()
    for part, number in zip(('MAJOR', 'MINOR', 'PATCH'), version.split('.')):
        text = re.sub(rf'(?<=#define CUSHIM_VERSION_{part} )\d+', number, text)
    return text
