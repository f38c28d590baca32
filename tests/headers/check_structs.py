# SPDX-License-Identifier: MIT
"""The structs of the API have the layout that structs.txt records, and end with reserved members."""
import re

import support
from check_layout import facts

RECORD = support.ROOT / 'tests' / 'headers' / 'structs.txt'
# This one grows, as table_releases.h says, and layers get a copy of the size that the library has.
NOT_FIXED = {'cushim_dispatch_table'}


def read_structs():
    """{struct: [declaration of each member]} of the public headers."""
    result = {}
    for path in sorted(support.HEADERS.glob('*.h')):
        text = support.strip_comments(support.read(path))
        for name, body in re.findall(r'^struct (cushim_\w+) \{\n(.*?)^\};', text, re.M | re.S):
            if name not in NOT_FIXED:
                result[name] = [' '.join(member.split()) for member in body.split(';') if member.strip()]
    return result


def name_of(declaration):
    function, other = re.search(r'\(\*(\w+)\)|(\w+)(?:\[\w+\])?$', declaration).groups()
    return function or other


def layouts(language, structs):
    """One line for each struct: its members with their offsets, and its size."""
    questions = [((struct, name_of(member)), f'offsetof(struct {struct}, {name_of(member)})')
                 for struct, members in structs.items() for member in members]
    questions += [((struct, ''), f'sizeof(struct {struct})') for struct in structs]
    known, said = facts(language, support.OWN, ['<stddef.h>', '"cushim/cushim.h"'], questions)
    if known is None:
        return None, said
    return {struct: f'{struct} ' + ' '.join(f'{name_of(member)}={known[struct, name_of(member)]}' for member in members)
                    + f' size={known[struct, ""]}' for struct, members in structs.items()}, ''


def compare(structs, actual, recorded):
    for struct, members in structs.items():
        if not re.fullmatch(r'void \*reserved\[\d+\]', members[-1]):
            yield f'struct {struct} does not end with void *reserved[4], for members of later releases (loader.h)'
        if struct not in recorded:
            yield f'tests/headers/structs.txt lacks struct {struct}: add "{actual[struct]}"'
        elif actual[struct] != recorded[struct]:
            yield (f'the layout of struct {struct} changed. A new member takes the place of a reserved one, and the '
                   f'rest stays. It was "{recorded[struct]}" and is "{actual[struct]}"')
    for struct in recorded.keys() - structs.keys():
        yield f'tests/headers/structs.txt has struct {struct}, and no header does'


def main():
    setting = support.Setting()
    if facts(setting.c, [], ['<stddef.h>'], [('pointer', 'sizeof(void *)')])[0] != {'pointer': 8}:
        support.skip('structs.txt is for 64-bit systems')
    structs = read_structs()
    recorded = {line.split()[0]: line for line in support.read(RECORD).splitlines() if not line.startswith('#')}
    failures = []
    for language in setting.languages:
        actual, said = layouts(language, structs)
        failures += [f'{language}:\n{said}'] if actual is None else compare(structs, actual, recorded)
    print(f'{len(structs)} structs in {len(setting.languages)} languages')
    support.finish(failures)


main()
