#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The check of the link graph, on a library in which one and two depend on each other, and three depends on one."""
import pathlib
import subprocess
import sys
import unittest

NM, LIBRARY = sys.argv[1:3]
CHECK = pathlib.Path(__file__).parent / 'link_graph.py'


def check(*rules):
    done = subprocess.run([sys.executable, '-B', CHECK, NM, LIBRARY, *rules], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class LinkGraph(unittest.TestCase):
    def test_check_when_there_is_a_cycle_then_it_is_printed_with_its_symbols(self):
        status, text = check()
        self.assertEqual(status, 1)
        for words in ('a cycle of 2 objects', 'cycle_one -> cycle_two: cycle_two', 'cycle_two -> cycle_one: cycle_one'):
            self.assertIn(words, text)
        self.assertNotIn('cycle_three ->', text)

    def test_check_when_the_cycle_is_allowed_then_it_passes(self):
        self.assertEqual(check('--allow', 'cycle_one,cycle_two')[0], 0)

    def test_check_when_the_cycle_is_within_a_knot_then_it_passes_and_else_not(self):
        self.assertEqual(check('--knot', 'cycle_')[0], 0)
        status, text = check('--knot', 'cycle_one', '--knot', 'cycle_t')
        self.assertEqual(status, 1)
        self.assertIn('a cycle of 2 objects', text)

    def test_check_when_an_object_below_depends_on_one_above_then_it_fails(self):
        allowed = ['--allow', 'cycle_one,cycle_two']
        self.assertEqual(check(*allowed, '--above', 'cycle_three')[0], 0)
        status, text = check(*allowed, '--above', 'cycle_one,cycle_two')
        self.assertEqual(status, 1)
        self.assertIn('cycle_three depends on cycle_one, which is above it', text)

    def test_check_when_a_leaf_depends_on_another_then_it_fails(self):
        allowed = ['--allow', 'cycle_one,cycle_two']
        self.assertEqual(check(*allowed, '--leaf', 'cycle_one,cycle_two')[0], 0)
        self.assertEqual(check(*allowed, '--leaf', 'cycle_three')[0], 1)

    def test_check_when_an_object_is_not_there_then_it_fails(self):
        for rule in (['--allow', 'load,bootstrap'], ['--above', 'src_'], ['--leaf', 'reason'], ['--knot', 'src_']):
            self.assertEqual(check('--allow', 'cycle_one,cycle_two', *rule)[0], 1, rule)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
