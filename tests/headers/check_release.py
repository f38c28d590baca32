# SPDX-License-Identifier: MIT
"""A CUDA release is added: the list is cut back to an older CUDA, and the Toolkit brings back what was cut."""
import os
import tempfile

import declarations
import support
from support import lists

import toolkit as headers


# Types that are not reported: a macro makes the name; a later name of an old type; a plain name that has a new meaning.
UNSEEN = {'CUdevResource', 'CUdevSmResourceSplitByCount_flags', 'CUDA_KERNEL_NODE_PARAMS_v2'}


def cut_back(entry_points, version):
    """The list as it was when CUDA `version` was the newest."""
    kept = [one for one in entry_points if one.version <= version]
    for one in kept:
        one.plain = {name: since for name, since in one.plain.items() if since <= version}
    for slot, one in enumerate(kept):
        one.slot = slot
    return kept


def facts_of(one, cut, newest):
    """The facts that have to come back. A plain name that changed its meaning after the cut does so in this Toolkit."""
    plain = {name: newest if since > cut and (one.abi != 'v1' or name != one.function) else since
             for name, since in one.plain.items() if since <= newest}
    return (one.function, one.abi, one.version, one.symbol, one.per_thread_symbol,
            tuple(headers.types_of(one.parameters)), tuple(sorted(plain.items())))


def test_list_when_cut_back_is_restored_from_the_toolkit(toolkit, cut):
    path = os.path.join(tempfile.mkdtemp(), 'list.tsv')
    platforms = ('all', toolkit.platform)
    wanted = [one for one in lists.read() if one.version <= cut
              or (one.declared_version <= toolkit.version and one.platform in platforms)]
    kept = cut_back(lists.read(), cut)
    before = {one.symbol: one.slot for one in kept}
    with open(path, 'w', encoding='utf-8') as file:
        file.write(lists.head(lists.LIST))
    merged, news = headers.merge(toolkit, kept)
    lists.write(merged, path)
    found = lists.read(path)
    os.remove(path)
    os.rmdir(os.path.dirname(path))
    print(f'{len(news.functions)} functions and {len(news.versions)} ABI versions came back')
    failures = [f'{one.symbol}: has another slot than before' for one in found
                if one.symbol in before and one.slot != before[one.symbol]]
    facts = {one.symbol: facts_of(one, cut, toolkit.version) for one in wanted}
    back = {one.symbol: facts_of(one, cut, toolkit.version) for one in found}
    failures += [f'{symbol}: {back.get(symbol)}, not {facts.get(symbol)}'
                 for symbol in sorted({*facts, *back}) if facts.get(symbol) != back.get(symbol)]
    return failures


def test_types_when_the_headers_are_cut_back_are_reported(toolkit, cut):
    """With the words of the types that CUDA versions after `cut` added removed from ours."""
    paths = [path for path in support.HEADERS.glob('abi/*.h')
             if path.name not in ('egl.h', 'interop.h', 'cuda_abi.h', 'conflict.h')]
    removed = {one.name for one in declarations.read(paths)
               if one.kind != 'constant' and cut < (one.gate or 0) <= toolkit.version}
    ours, toolkit.ours = toolkit.ours, toolkit.ours - removed
    reported = headers.merge(toolkit, lists.read())[1].types
    toolkit.ours = ours
    print(f'{len(removed)} types are reported')
    return [f'{name}: removed, and not reported' for name in sorted(removed - set(reported) - UNSEEN)]


def test_toolkit_when_the_list_is_complete_has_nothing_new(toolkit):
    merged, news = headers.merge(toolkit, lists.read())
    failures = [f'new in this Toolkit: {line}' for lines in news for line in lines]
    if [one.cells() for one in merged] != [one.cells() for one in lists.read()]:
        failures.append('the list would change')
    return failures


def main():
    setting = support.Setting()
    setting.need_toolkit()
    toolkit = headers.Toolkit(setting.include_directory())
    if toolkit.version > support.NEWEST:
        support.skip('this Toolkit is newer than the list: add it first (loader/lists/README.md)')
    before = max(one.version for one in lists.read_drivers() if one.version < toolkit.version)
    failures = test_toolkit_when_the_list_is_complete_has_nothing_new(toolkit)
    failures += test_list_when_cut_back_is_restored_from_the_toolkit(toolkit, before)
    failures += test_types_when_the_headers_are_cut_back_are_reported(toolkit, before)
    support.finish(failures)


main()
