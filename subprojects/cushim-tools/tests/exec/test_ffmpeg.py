#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FFmpeg, as a distribution builds it, uploads frames to a software driver and downloads them: they stay the same."""
import shutil
import subprocess
import unittest

from under_exec import IS_FOREIGN, Case, environment, lists, main, under

FFMPEG = shutil.which('ffmpeg')
SOURCE = ['-f', 'lavfi', '-i', 'testsrc=size=64x48:rate=1:duration=3']


def command(filters, *before):
    return [FFMPEG, '-nostdin', '-loglevel', 'error', *before, *SOURCE, '-vf', filters, '-f', 'framemd5', '-']


def frames(output):
    return [line for line in output.decode().splitlines() if not line.startswith('#')]


ON_DEVICE = command('format=nv12,hwupload_cuda,hwdownload,format=nv12', '-init_hw_device', 'cuda=gpu',
                    '-filter_hw_device', 'gpu')


@unittest.skipUnless(FFMPEG, 'ffmpeg is not installed')
@unittest.skipIf(IS_FOREIGN, 'this ffmpeg is built for another processor architecture')
class Ffmpeg(Case):
    def setUp(self):
        devices = subprocess.run([FFMPEG, '-hide_banner', '-init_hw_device', 'list'], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, env=environment(), check=False).stdout.split()
        if b'cuda' not in devices:
            self.skipTest('this ffmpeg is built without CUDA')

    def test_frames_when_uploaded_and_downloaded_then_are_the_same(self):
        plain = frames(subprocess.run(command('format=nv12'), stdout=subprocess.PIPE, env=environment(),
                                      check=True).stdout)
        self.assertEqual(len(plain), 3)
        for options in [['--softcuda', str(one.branch)] for one in lists.known_drivers() if one.version >= 7000] + [
                ['--softcuda', '580', '--max-version', '11.2']]:
            answer = under(options, *ON_DEVICE)
            self.assertEqual((answer.status, frames(answer.out)), (0, plain), (options, answer.err))

    def test_driver_when_too_old_for_ffmpeg_then_ffmpeg_names_the_function(self):
        for options in (['--softcuda', '340'], ['--softcuda', '580', '--max-version', '6.5'],
                        ['--softcuda', '580', '--hide', 'cuDevicePrimaryCtxRetain']):
            answer = under(options, *ON_DEVICE)
            self.assertNotEqual(answer.status, 0)
            self.assertIn(b'Cannot load cuDevicePrimaryCtxRetain', answer.err)

    def test_device_when_there_is_no_driver_then_ffmpeg_says_so(self):
        answer = under(['--driver', 'none'], *command('format=nv12', '-init_hw_device', 'cuda=gpu'))
        self.assertNotEqual(answer.status, 0)
        self.assertIn(b'Cannot load libcuda.so.1', answer.err)


if __name__ == '__main__':
    main()
