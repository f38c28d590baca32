# SPDX-License-Identifier: MIT
"""names.h and names_interop.h: a plain name is the same entry point as in <cuda.h>, and every slot has its name."""
import re

import support
from support import lists

# The oldest entry points of functions whose plain name has meant a newer one since before the oldest known driver.
# They have slots, but no name.
OLDEST = lists.read_drivers()[0].version
NAMELESS = {versions[0].slot_name for versions in lists.by_function(lists.read()).values()
            if any(one.plain.get(one.function, OLDEST + 1) <= OLDEST for one in versions[1:])}

# The headers of a Toolkit for Linux lack these.
ONLY_WINDOWS = {one.function for one in lists.read() if one.is_windows_only}

# CUSHIM_NAMES_VERSION at which plain names change their meaning, and the lowest and highest one.
VERSIONS = sorted({OLDEST, lists.read_drivers()[-1].version}
                  | {version for one in lists.read() for version in one.plain.values() if version > OLDEST})

HEADER = '#include "cushim/names_interop.h"\n'


def expansions(setting, headers, names, flags):
    """The expansion of each name after some headers, without spaces."""
    source = headers + '\n'.join(f'@{index}@ {name} @' for index, name in enumerate(names)) + '\n'
    text = setting.c.preprocess(source, [*flags, *support.stub_flags()])
    found = re.findall(r'@\s*(\d+)\s*@(.*?)@', text, re.S)
    return {names[int(index)]: re.sub(r'\s', '', expansion) for index, expansion in found}


def slot_of_expansion(expansion):
    """The slot that names.h selects, or None."""
    found = re.fullmatch(r'\(cushim_table\(\)->(\w+)\)', expansion)
    return found[1] if found else None


def slot_of_symbol(symbol):
    """The slot of an exported name, for either default stream."""
    found = re.fullmatch(r'cu(\w+?)(?:_(v\d+))?(?:_pt[sd][sz])?', symbol)
    return f'{found[1]}_{found[2] or "v1"}'


def test_plain_name_when_compared_with_the_toolkit_means_the_same(setting, rows):
    plain = sorted({'cu' + row.function for row in rows} - ONLY_WINDOWS)
    slots = {row.slot for row in rows}
    theirs = support.includes([header for header in ('cudaGL.h', 'cudaEGL.h', 'cudaVDPAU.h', 'cudaProfiler.h')
                               if setting.has_header(header)])
    failures, changed = [], 0
    for name, flags in (('legacy', []), ('per-thread', support.PER_THREAD)):
        wanted = expansions(setting, theirs, plain, setting.toolkit + flags)
        modes = {
            'the Toolkit': expansions(setting, HEADER, plain, setting.toolkit + flags),
            'all its headers': expansions(setting, theirs + HEADER, plain, setting.toolkit + flags),
            'own types': expansions(setting, HEADER, plain,
                                    support.OWN + flags + [f'-DCUSHIM_NAMES_VERSION={setting.version}']),
        }
        changed += sum(slot_of_symbol(symbol) != slot_of_symbol(one) for one, symbol in wanted.items())
        for one in plain:
            # The Toolkit does not rename a function that is newer than itself: its name means the oldest entry point.
            slot = slot_of_symbol(wanted[one])
            if slot not in slots:
                failures.append(f'{one}: <cuda.h> means {wanted[one]}, which has no slot')
            failures += [f'{one}: <cuda.h> means {wanted[one]}, names.h {found[one]} ({name}, {mode})'
                         for mode, found in modes.items() if slot_of_expansion(found[one]) != slot]
    print(f'{len(plain)} plain names mean what this Toolkit means by them; '
          f'{changed // 2} of those are not the oldest ABI')
    return failures


def test_name_when_defined_leads_to_its_slot(setting, rows):
    """Suffixed names always, plain ones in at least one version, and no other name is defined."""
    names = {row.name: row.slot for row in rows}
    plain = sorted({'cu' + row.function for row in rows})
    everything = sorted(set(plain) | set(names))
    slots, reached, failures = set(names.values()), set(), []
    for version in VERSIONS:
        found = expansions(setting, HEADER, everything, support.OWN + [f'-DCUSHIM_NAMES_VERSION={version}'])
        for name in everything:
            slot = slot_of_expansion(found[name])
            if slot not in slots:
                failures.append(f'{name}: leads to {found[name]} in {version}')
            elif name not in plain and slot != names[name]:
                failures.append(f'{name}: leads to {slot} in {version}')
            reached.add(slot)
    failures += [f'{slot}: no name leads there' for slot in sorted(slots - reached - NAMELESS)]
    failures += [f'{slot}: has a name after all' for slot in sorted(NAMELESS & reached)]
    text = ''.join(support.strip_comments(support.read(support.HEADERS / header))
                   for header in ('names.h', 'names_interop.h'))
    defined = set(re.findall(r'#\s*define (cu\w+)', text))
    failures += [f'{name}: defined in names.h, but no row has it' for name in sorted(defined ^ set(everything))]
    failures += [f'{name}: defined without #undef'
                 for name in sorted(defined - set(re.findall(r'#\s*undef (cu\w+)', text)))]
    print(f'{len(defined)} names lead to {len(reached)} slots; {len(NAMELESS)} slots have none')
    return failures


def test_call_when_it_goes_through_names_compiles(setting, rows):
    """A call of the oldest version of a function compiles with the version of names that it was written for."""
    calls = {11020: 'stream, &status, &id', 12000: 'stream, &status, &id, 0, 0, 0',
             13000: 'stream, &status, &id, 0, 0, 0, 0'}
    source = HEADER + '''
    CUresult call(CUstream stream);
    CUresult call(CUstream stream)
    {
        CUstreamCaptureStatus status;
        cuuint64_t id;
        return cuStreamGetCaptureInfo(%s);
    }
'''
    every = HEADER + 'void every(void);\nvoid every(void)\n{\n' + ''.join(
        f'(void){name};\n' for name in sorted({'cu' + row.function for row in rows})) + '}\n'
    failures = []
    modes = [] if setting.cached else [support.OWN]
    modes += [setting.toolkit, setting.toolkit + support.PER_THREAD] if setting.have_cuda_h else []
    for language in setting.languages:
        for mode in modes:
            for version, arguments in calls.items():
                status, said = language.run(source % arguments,
                                            [*support.WARNINGS, *mode, f'-DCUSHIM_NAMES_VERSION={version}'])
                if status:
                    failures.append(f'a call of {version} as {language} {mode}:\n{said}')
            status, said = language.run(every, [*support.WARNINGS, *mode])
            if status:
                failures.append(f'every name as {language} {mode}:\n{said}')
    return failures


def test_interop_header_when_included_after_names_still_declares_its_functions(setting):
    """names.h renames no function of <cudaGL.h> and similar headers; names_interop.h, included after them, does."""
    headers = [header for header in ('cudaGL.h', 'cudaEGL.h', 'cudaVDPAU.h') if setting.has_header(header)]
    source = '#include "cushim/names.h"\n' + support.includes(headers) + HEADER
    failures = []
    for language in setting.languages:
        status, said = language.run(source, [*support.WARNINGS, *setting.toolkit, *support.stub_flags()])
        if status:
            failures.append(f'names.h, then {", ".join(headers)}, as {language}:\n{said}')
    print(f'names.h may stand before {", ".join(headers)}')
    return failures


def main():
    setting = support.Setting()
    rows = support.rows()
    failures = [] if setting.cached else test_name_when_defined_leads_to_its_slot(setting, rows)
    failures += test_call_when_it_goes_through_names_compiles(setting, rows)
    if not setting.have_cuda_h:
        print('no <cuda.h>: nothing to compare plain names with')
    elif setting.version > support.NEWEST:
        print('this Toolkit is newer than our names: not compared')
    else:
        failures += test_interop_header_when_included_after_names_still_declares_its_functions(setting)
        failures += test_plain_name_when_compared_with_the_toolkit_means_the_same(setting, rows)
    support.finish(failures)


main()
