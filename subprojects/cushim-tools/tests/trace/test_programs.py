#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each scenario of findings/ has one error, which is found; the correct program that looks like it has no finding."""
import os

from scenarios import scenarios
from test_findings import BAD
from traced import FINDING, PROGRAMS, Traced, main


class Programs(Traced):
    def findings(self, scenario, argument):
        """[(title, text)] of those that are errors, or have the title of the scenario."""
        self.trace(os.path.join(PROGRAMS, scenario.program), scenario.name, argument)
        found, title = [], ''
        for line in self.report('--findings').splitlines():
            one = FINDING.fullmatch(line)
            if one and title in BAD | {scenario.title}:
                found.append((title, one['text']))
            title = line.rstrip(':') if line.endswith(':') and not line.startswith(33 * ' ') else title
        return found

    def check_driver(self, words):
        """What the driver said stands with the finding, in text and in JSON."""
        lines = self.report('--findings').splitlines()
        self.assertEqual([line.strip() for line in lines if line.strip().startswith('driver: ')], ['driver: ' + words])
        events = self.events()
        self.assertEqual([event['args']['driver'] for event in events if event.get('cat') == 'finding'], [words])


def test_of(one):
    def test(self):
        found = self.findings(one, 'wrong')
        self.assertEqual([title for title, _ in found], [one.title], found)
        self.assertRegex(found[0][1], f'^(?:{one.sentence})$')
        if one.driver:
            self.check_driver(one.driver)
        self.assertEqual(self.findings(one, 'right'), [])
    return test


for scenario in scenarios():
    setattr(Programs, f'test_{scenario.name}_when_wrong_is_found_and_when_right_is_not', test_of(scenario))


if __name__ == '__main__':
    main()
