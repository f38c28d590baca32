# SPDX-License-Identifier: MIT
"""A CUDA release is added: the list is cut back to an older CUDA, and the Toolkit brings back what was cut."""
import os
import tempfile

import support
from support import lists

import toolkit as headers

# The list is cut back to the first of these that is older than the Toolkit.
OLDER = (12040, 11080)


def cut_back(entry_points, version):
    """The list as it was when CUDA `version` was the newest."""
    kept = [one for one in entry_points if one.version <= version]
    for one in kept:
        one.plain = {name: since for name, since in one.plain.items() if since <= version}
    for slot, one in enumerate(one for one in kept if one.slot is not None):
        one.slot = slot
    return kept


def facts_of(one, cut, newest):
    """The facts that have to come back. A plain name that changed its meaning after the cut does so in this Toolkit."""
    plain = {name: newest if since > cut and (one.abi != 'v1' or name != one.function) else since
             for name, since in one.plain.items() if since <= newest}
    return (one.function, one.abi, one.version, one.symbol, one.per_thread_symbol, one.slot is None,
            tuple(headers.types_of(one.parameters)), tuple(sorted(plain.items())))


def test_list_when_cut_back_is_restored_from_the_toolkit(toolkit, cut):
    path = os.path.join(tempfile.mkdtemp(), 'list.tsv')
    wanted = [one for one in lists.read() if one.version <= toolkit.version]
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
    failures = [] if news.functions and news.versions else ['nothing came back']
    failures += [f'{one.symbol}: has another slot than before' for one in found
                 if one.symbol in before and one.slot != before[one.symbol]]
    failures += [f'differs: {sorted(pair, key=str)}' for pair in
                 zip([facts_of(one, cut, toolkit.version) for one in wanted],
                     [facts_of(one, cut, toolkit.version) for one in found]) if pair[0] != pair[1]]
    if len(found) != len(wanted):
        failures.append(f'{len(found)} entry points came back to, and not {len(wanted)}')
    return failures


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
    cut = next((version for version in OLDER if version < toolkit.version), None)
    if not toolkit.prototypes or cut is None:
        support.skip('this Toolkit is too old for a list to be cut back to one before it')
    if toolkit.version > support.NEWEST:
        support.skip('this Toolkit is newer than the list: add it first (loader/README.md)')
    support.finish(test_list_when_cut_back_is_restored_from_the_toolkit(toolkit, cut)
                   + test_toolkit_when_the_list_is_complete_has_nothing_new(toolkit))


main()
