#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Published wheels on which audit once was wrong, with the right answers. `subprojects/cushim-audit/tests/fetch NAME` puts one into the
cache; without it, its test is skipped."""
import glob
import os
import sys

from audit import Case, main

CACHE = os.environ.get('CUSHIM_CACHE') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'cushim')
NAMES = 'mistralrs-cuda==0.3.2', 'drjit==1.5.0', 'libkvikio-cu12==26.10.0'


def cached(name):
    return next(iter(glob.glob(os.path.join(CACHE, 'audit', name, '*.whl'))), None)


class Wheels(Case):
    def need(self, name):
        path = cached(name)
        if path is None:
            self.skipTest(f'not in the cache: subprojects/cushim-audit/tests/fetch {name}')
        return path

    def status(self, *arguments):
        return self.run_program(*arguments).status

    def test_mistralrs_when_audited_then_each_answer_is_driver_555(self):
        path = self.need(NAMES[0])
        self.assertIn(': 2 CUDA files; driver 555 or newer for both of them', self.run_program(path).out)
        out = self.run_program('--variant', path).out
        self.assertIn('  nvidia :: cuda_version_lower_bound :: 12.5\n', out)
        self.assertIn('libcudart-16e8815a.so.12: cuda_version_lower_bound :: 12.0\n', out)
        self.assertEqual([self.status(f'--require-driver={one}', path) for one in (525, 550, 555)], [1, 1, 0])
        summary, = self.run_program('--format=json', path).document['summaries']
        self.assertEqual(summary['first_driver'], {'cuda_version': '12.5', 'branch': 555})

    def test_drjit_when_a_driver_lacks_what_it_looks_up_then_is_not_known_to_run(self):
        path = self.need(NAMES[1])
        self.assertEqual([self.status(f'--require-driver={one}', path) for one in (346, 418, 535, 550)], [1, 2, 2, 0])
        self.assertEqual(self.status('--require-driver=418', '--strict', path), 1)
        out = self.run_program('--require-driver=535', path).out
        self.assertIn('driver 535 lacks cuGreenCtxDestroy, cuGreenCtxCreate, cuDeviceGetDevResource', out)
        self.assertIn('up to those of driver 550, is not known\n', self.run_program(path).out)

    def test_kvikio_when_required_to_run_then_no_cuda_files_were_found(self):
        """Its names of functions are in its instructions."""
        path = self.need(NAMES[2])
        done = self.run_program('--require-driver=535', path)
        self.assertEqual((done.status, done.out), (3, f'{path}: no CUDA files were found\n'))


if __name__ == '__main__':
    if not any(map(cached, NAMES)):
        print(f'skipped: not in the cache: subprojects/cushim-audit/tests/fetch {" ".join(NAMES)}')
        sys.exit(77)
    main()
