# SPDX-License-Identifier: MIT
"""The example at the head of each public header compiles: its first @code block, after the header itself. So do the
blocks of include/README.md in C++, and the example of cushim.hpp."""
import re
import sys

import support

CODE = re.compile(r'^ \* @code\n(.*?)^ \* @endcode$', re.MULTILINE | re.DOTALL)


def example(path):
    """Returns the lines of the first block, without the comment around them, or None."""
    found = CODE.search(path.read_text(encoding='utf-8'))
    if found is None:
        return None
    return ''.join(line.removeprefix(' *').removeprefix(' ') for line in found[1].splitlines(keepends=True))


def main():
    setting = support.Setting()
    failed, count = 0, 0
    for path in sorted(support.HEADERS.glob('*.h')):
        code = example(path)
        if code is None:
            continue
        count += 1
        for language in setting.languages:
            status, output = language.run(f'#include "cushim/{path.name}"\n{code}', support.WARNINGS + support.OWN)
            if status != 0:
                failed += 1
                print(f'{path.name}, {language}:\n{output}')
    page = (support.HEADERS.parent / 'README.md').read_text(encoding='utf-8')
    blocks = re.findall(r'^```cpp\n(.*?)^```$', page, re.M | re.S) + [example(support.HEADERS / 'cushim.hpp')]
    for code in blocks if setting.cxx else []:
        count += 1
        older = support.Language(setting.cxx, 'c++', 'c++11')
        status, output = older.run(f'#include "cushim/cushim.hpp"\n{code}', support.WARNINGS + support.OWN)
        if status != 0:
            failed += 1
            print(f'README.md or cushim.hpp, {older}:\n{output}')
    print(f'{count} examples')
    return 1 if failed or count == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
