# SPDX-License-Identifier: MIT
"""The doctor and the library on one machine: the doctor refines the reason of the library, and never contradicts it.

The library is asked by `cushim probe`. The column `reason` of causes.inc says which reasons a cause refines.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
from program import Case, run  # pylint: disable=wrong-import-position

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), *'../../doctor/causes.inc'.split('/'))
with open(LIST, encoding='utf-8') as list_file:
    REASONS = dict(re.findall(r'^CAUSE\((\w+), [\w-]+, "([^"]*)"', list_file.read(), re.M))
WEAK = {'none', 'no-device', 'unknown'}
# The doctor alone starts the driver without the variables CUDA_..., and so knows better whether they hide the GPUs.
BY_DESIGN = {'hidden'}
LINE_WIDTH = 80 - len('problem  ')
NO_START = {'no-answer'}  # the driver ended the process, or did not return


class Agreement(Case):
    """A test case that compares the two after each run of the doctor."""

    compared = weak = by_design = 0

    def compare(self, first, options, **settings):
        """`first`: the leading finding of the doctor. `options`: those that both commands have."""
        answer = run('probe', *options, '--format=json', **settings)
        if answer.out == b'':
            return  # the change of the machine ends this program, too
        probe = answer.json
        self.assertTrue(first['verdict'] != 'problem' or len(first['message']) <= LINE_WIDTH, first['message'])
        if first['verdict'] != 'problem' or first['cause'] == first['check'] or not probe['loaded'] or probe['reason'] in NO_START:
            return
        Agreement.compared += 1
        Agreement.weak += probe['reason'] in WEAK
        if probe['reason'] in WEAK or probe['reason'] in REASONS.get(first['cause'], first['cause']).split():
            return
        self.assertIn(probe['reason'], BY_DESIGN, (first, probe['message']))
        Agreement.by_design += 1

    @classmethod
    def tearDownClass(cls):
        print(f'{Agreement.compared} compared, 0 contradictions; {Agreement.weak} where the library knows less, '
              f'{Agreement.by_design} by design', file=sys.stderr)
        super().tearDownClass()
