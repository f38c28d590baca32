#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each program of findings/ has one error, which is found; the correct program that looks like it has no finding."""
import os
import pathlib
import re

from test_findings import BAD
from traced import BUILD, FINDING, HERE, Traced, main


class Programs(Traced):
    def findings(self, program, argument, title_of_note):
        """[(title, text)] of those that are errors, or have this title."""
        self.trace(os.path.join(BUILD, 'subprojects', 'cushim-tools', 'tests', 'trace', program), argument)
        found, title = [], ''
        for line in self.report('--findings').splitlines():
            one = FINDING.fullmatch(line)
            if one and title in BAD | {title_of_note}:
                found.append((title, one['text']))
            title = line.rstrip(':') if line.endswith(':') and not line.startswith(33 * ' ') else title
        return found

    def check_driver(self, words):
        """What the driver said stands with the finding, in text and in JSON."""
        lines = self.report('--findings').splitlines()
        self.assertEqual([line.strip() for line in lines if line.strip().startswith('driver: ')], ['driver: ' + words])
        events = self.events()
        self.assertEqual([event['args']['driver'] for event in events if event.get('cat') == 'finding'], [words])


def test_of(path):
    comment = path.read_text(encoding='utf-8').split('*/')[1]
    title = re.search(r'^ \* title: (.*)$', comment, re.M)[1]
    sentence = re.sub(r'\n \* +', ' ', re.search(r'^ \* finds: (.*(?:\n \*  .*)*)$', comment, re.M)[1])

    def test(self):
        found = self.findings('finding_' + path.stem, 'wrong', title)
        self.assertEqual([one for one, _ in found], [title], found)
        self.assertRegex(found[0][1], f'^(?:{sentence})$')
        words = re.search(r'^ \* driver: (.*)$', comment, re.M)
        if words:
            self.check_driver(words[1])
        self.assertEqual(self.findings('finding_' + path.stem, 'right', title), [])
    return test


for one_path in sorted((pathlib.Path(HERE) / 'findings').glob('*.c')):
    setattr(Programs, f'test_{one_path.stem}_when_wrong_is_found_and_when_right_is_not', test_of(one_path))


if __name__ == '__main__':
    main()
