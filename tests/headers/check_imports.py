# SPDX-License-Identifier: MIT
"""The rows for Windows are what nvcuda.dll exports, by the import library in the Toolkit for Windows."""
import os
import re

import support
from support import lists

# Exported without a row: the functions for Direct3D 9 and 10, which NVIDIA has deprecated, and those without a header.
WITHOUT_ROW = re.compile(r'cu(Graphics)?D3D(9|10)|cudaDriverLoader_|cuGetProcAddressBackwardsCompat$|cuSubgrid|'
                         r'cuDriverGetGpuCodeIsaVersion$|cuNvtxGetInjectionInitializer$')

# Exported on Windows only from a later CUDA version on.
LATER = {'cuDeviceGetNvSciSyncAttributes': 13000}


def imported_names(path):
    """The names in the index of an import library, an archive."""
    with open(path, 'rb') as file:
        data = file.read()
    size = int(data[8:68][48:58])
    index = data[68:68 + size]
    count = int.from_bytes(index[:4], 'big')
    names = {name.decode() for name in index[4 + 4 * count:].split(b'\0')}
    return {name for name in names if re.match('cu[A-Za-z]', name)}


def main():
    setting = support.Setting()
    library = os.path.join(os.path.dirname(setting.include_directory()), 'lib', 'cuda.lib')
    if not os.path.exists(library):
        support.skip('this Toolkit has no import library; from CUDA 12.9 on, those for Windows have one')
    theirs = {name for name in imported_names(library) if not WITHOUT_ROW.match(name)}
    ours = {name for one in lists.read() if one.platform != 'linux' and LATER.get(one.symbol, one.declared_version) <= setting.version
            for name in (one.symbol, one.per_thread_symbol) if name}
    print(f'{len(theirs)} names in the import library, {len(ours)} in the list')
    support.finish([f'{name}: in the import library, and not in the list' for name in sorted(theirs - ours)]
                   + [f'{name}: in the list, and not in the import library' for name in sorted(ours - theirs)])


main()
