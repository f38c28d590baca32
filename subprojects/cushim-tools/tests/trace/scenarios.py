# SPDX-License-Identifier: MIT
"""The scenarios of findings/, as the comments before them describe them."""
import collections
import pathlib
import re

# The program, the name, the title of the finding, its sentence, and what the driver says of it, or None.
Scenario = collections.namedtuple('Scenario', 'program name title sentence driver')


def scenarios():
    for path in sorted(pathlib.Path(__file__).parent.glob('findings/*.c')):
        for comment, name in re.findall(r'(?m)^/\*\n((?: \*.*\n)+)SCENARIO\((\w+)\)$', path.read_text(encoding='utf-8')):
            said = dict(re.findall(r'^ \* (title|finds|driver): (.*(?:\n \*  .*)*)$', comment, re.M))
            yield Scenario(f'finding_{path.stem}', name, said['title'], re.sub(r'\n \* +', ' ', said['finds']),
                           said.get('driver'))
