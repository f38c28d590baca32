# SPDX-License-Identifier: MIT
"""loader/lists/CHANGES.md lists what a Toolkit changed under an unchanged name, compared with the one before it."""
import re
import subprocess

import support
from support import lists

import toolkit as headers

# The headers of CUDA 12.0 give this name another meaning, which a comparison of declarations does not show.
RENAMED = {'CUDA_KERNEL_NODE_PARAMS'}


def main():
    setting = support.Setting()
    newer = headers.Toolkit(setting.include_directory())
    names = subprocess.run([support.ROOT / 'tests' / 'drivers' / 'fetch-toolkit', '--names', 'headers'],
                           stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    name = lists.version_text(newer.version)
    older = names[names.index(name) - 1] if name in names else 'debian'
    if 'debian' in older:
        support.skip('this Toolkit is compared with none before it')
    changed = {name for name, _ in headers.changes(headers.Toolkit(support.cached_toolkit(older)), newer)}
    page = support.read(support.ROOT / 'loader' / 'lists' / 'CHANGES.md')
    listed = set(re.findall(rf'^\| {lists.version_text(newer.version)} \| `(\w+)` \|', page, re.M)) - RENAMED
    print(f'{len(changed)} changes since CUDA {older}')
    support.finish([f'{name}: changed, and not in CHANGES.md' for name in sorted(changed - listed)]
                   + [f'{name}: in CHANGES.md, and not changed' for name in sorted(listed - changed)])


main()
