#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The answers of the driver, and those of the stream layer, are the same under trace."""
import concurrent.futures
import os
import re
import subprocess

from traced import BUILD, PROGRAM, Traced, environment, main, softcuda

CONFORMANCE = os.path.join(BUILD, 'tests', 'conformance', 'conformance')
STREAM = os.path.join(BUILD, 'tests', 'stream', 'stream_layer')


def answers(*command):
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=300,
                          check=False)
    return done.returncode, done.stdout.decode().splitlines()


class Same(Traced):
    def test_answers_when_traced_then_are_the_same(self):
        for command, count in (([STREAM], 2000), ([STREAM, '--max-version', '11.4'], 2000),
                               ([CONFORMANCE], 2500), ([CONFORMANCE, '--max-version', '11.4'], 2000)):
            with concurrent.futures.ThreadPoolExecutor() as pool:
                plain = pool.submit(answers, 'env', 'CUSHIM_DRIVER=' + softcuda(580), *command)
                traced = pool.submit(answers, PROGRAM, 'trace', '-o', self.file, '--softcuda', '580', '--', *command)
            self.assertEqual(traced.result(), plain.result(), command)
            self.assertGreater(len(plain.result()[1]), count, command)
            self.assertGreater(int(re.search(r'\n(\d+) calls', self.report())[1]), 4000, command)


if __name__ == '__main__':
    main()
