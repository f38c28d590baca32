#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line: invalid arguments are refused with exit status 2, a reason, and nothing on the standard output."""

import os

from program import PROGRAM, USABLE, USAGE, Case, fake, main, run, run_json

COMMANDS = (['probe'], ['table'], ['lookup', '--all'], ['doctor'], ['run'])


class Refused(Case):
    def refuses(self, arguments, reason, **variables):
        answer = run(*arguments, **variables)
        self.assertEqual(answer.status, USAGE, arguments)
        self.assertEqual(answer.out, b'', arguments)
        first, hint = answer.err.decode().splitlines()
        self.assertTrue(first.startswith('cushim: '), first)
        self.assertIn(reason, first)
        self.assertEqual(hint, 'Try: cushim --help')

    def test_command_when_missing_then_names_the_commands(self):
        last = 'run, exec, trace or audit' if b'cushim trace' in run('--help').out else 'run, exec or audit'
        self.refuses([], 'a command is missing: probe, table, lookup, doctor, ' + last)
        self.refuses(['--format=json'], 'a command is missing')

    def test_command_line_when_word_is_unknown_then_names_it(self):
        self.refuses(['prob'], 'unknown command "prob"')
        self.refuses([''], 'unknown command ""')
        self.refuses(['probe', '--device'], 'unknown option --device')
        self.refuses(['probe', '--devices-too'], 'unknown option --devices-too')
        self.refuses(['probe', '-x'], 'unknown option -x')
        self.refuses(['probe', 'all'], 'unexpected argument "all"')
        self.refuses(['table', 'a', 'b'], 'unexpected argument "b"')
        self.refuses(['lookup', 'cuInit', '12.3', 'x'], 'unexpected argument "x"')
        self.refuses(['doctor', 'now'], 'unexpected argument "now"')

    def test_program_when_the_dashes_are_missing_then_the_hint_has_them(self):
        self.refuses(['doctor', 'ls'], 'a program follows "--": cushim doctor -- ')
        if b'cushim trace' in run('--help').out:
            self.refuses(['trace', 'ls'], 'a program follows "--": cushim trace -- ls')
        self.refuses(['help', 'nonsense'], 'unknown command "nonsense"')
        self.refuses(['help', 'probe', 'more'], 'help: unexpected argument "more"')

    def test_lookup_when_the_name_lacks_its_start_then_the_whole_name_is_hinted_at(self):
        for arguments in (['StreamGetCaptureInfo'], ['StreamGetCaptureInfo', '12.3']):
            answer = run('lookup', *arguments, '--driver', fake('driver_12_4'))
            self.assertEqual(answer.err.splitlines()[-1],
                             b'cushim: the driver\'s functions begin with "cu": lookup cuStreamGetCaptureInfo')
        self.assertNotIn(b'begin with', run('lookup', 'cuNo', '--driver', fake('driver_12_4')).err)

    def test_command_when_a_program_of_its_name_is_beside_this_one_then_runs_it(self):
        answer = run('audit', '--version')
        self.assertEqual((answer.status, answer.out.split()[:2]), (0, [b'cushim', b'audit']))
        self.assertEqual(run('audit', 'missing.so').status, 2)

    def test_command_when_its_name_is_longer_than_32_letters_then_no_program_runs(self):
        for letters, status in ((32, 5), (33, USAGE)):
            path = os.path.join(os.path.dirname(PROGRAM), 'cushim-' + 'x' * letters)
            with open(path, 'w', encoding='utf-8') as file:
                self.addCleanup(os.remove, path)
                file.write('#!/bin/sh\nexit 5\n')
            os.chmod(path, 0o755)
            self.assertEqual(run('x' * letters).status, status)

    def test_option_when_value_is_missing_or_unexpected_then_refused(self):
        for option in ('--driver', '--max-version', '--hide', '--root', '--format', '--require', '--require-slot',
                       '--feature', '--wait'):
            self.refuses(['probe', option], option + ' needs a value')
        for option in ('--devices', '--per-thread', '--help', '--version'):
            self.refuses(['probe', option + '=yes'], option + ' takes no value')

    def test_option_when_it_belongs_to_another_command_then_refused(self):
        for command, option in (('table', '--devices'), ('doctor', '--devices'), ('probe', '--all'), ('table', '--all'),
                                ('doctor', '--all'), ('doctor', '--per-thread'), ('run', '--per-thread')):
            self.refuses([command, option], 'this command has no option ' + option)
        self.refuses(['table', '--require', '12.0'], 'this command has no option --require')
        self.refuses(['run', '--wait', '1'], 'this command has no option --wait')
        self.refuses(['lookup', '--require-slot', 'Init_v1', '--all'], 'this command has no option --require-slot')

    def test_options_when_they_do_not_go_together_then_refused(self):
        for options in (['--for', 'arch=8.0'], ['--per-thread'], ['--timeout', '5']):
            self.refuses(['probe', '--list', *options], '--list shows what the files of the machine show')
        for options in (['--max-version', '12.0'], ['--hide', 'cuInit'], ['--nvrtc'], ['--timeout', '5'], ['--wait', '5']):
            self.refuses(['probe', '--for', 'driver=550', '--require', '12.0', *options], '--for describes a machine')
        if b'cushim trace' in run('--help').out:
            for options in (['--calls'], ['--errors'], ['--from', '1'], ['--stream', '3']):
                self.refuses(['trace', *options, '--', 'true'], 'are options of cushim trace report')
            for options in (['--stacks'], ['--size', '4M'], ['--keep', 'first'], ['--layer', 'x'], ['--driver', 'x']):
                self.refuses(['trace', 'report', 'x', *options], 'for the driver are options of cushim trace -- PROGRAM, and')

    def test_version_when_malformed_then_refused(self):
        for text in ('', 'x', '12.', '12.x', '.3', '1.0', '12.3.1', '-1', '12,3', ' 12.3', '12.3 ', '1999', '12031', '0',
                     '99999999999999999999', '12.99999999999999999999', '1000.0', '12.100',
                     '300', '339.9', '550.x', '550,1', '998'):
            self.refuses(['probe', '--require', text], f'--require: "{text}" is not a CUDA version')
            self.refuses(['table', '--max-version=' + text], f'--max-version: "{text}" is not a CUDA version')
            self.refuses(['lookup', '--', 'cuInit', text], f'"{text}" is not a CUDA version')

    def test_wait_when_not_a_number_of_seconds_then_refused(self):
        for text in ('', 'x', '-1', '+1', ' 1', '1.5', '1s', '0x1', '1000000', '99999999999999999999'):
            self.refuses(['probe', '--wait', text], f'--wait: "{text}" is not a number of seconds')

    def test_format_when_unknown_then_names_the_formats(self):
        for format in ('', 'xml', 'JSON', 'text '):
            self.refuses(['probe', '--format=' + format], 'is not text or json (trace also has csv and html)')

    def test_root_when_not_a_directory_then_refused(self):
        for path in ('', '/nowhere/at/all', __file__):
            self.refuses(['probe', '--root', path], f'--root: "{path}" is not a directory')

    def test_hide_when_name_is_unknown_then_names_it(self):
        for command in COMMANDS:
            self.refuses([*command, '--hide', 'cuStreamQuery,cuNoSuch', '--driver', fake('driver_12_4')], 'cuNoSuch')

    def test_driver_when_empty_or_too_long_then_refused(self):
        for command in COMMANDS:
            self.refuses([*command, '--driver', ''], 'a path cannot be empty')
            self.refuses([*command, '--driver', '/x' * 4000], 'the path is too long')

    def test_require_slot_when_name_is_unknown_then_refused(self):
        for name in ('', 'cu', 'cuNoSuch', 'StreamQuery_v9', 'streamquery_v1'):
            self.refuses(['probe', '--require-slot', name], f'--require-slot: "{name}" is not a CUDA version')

    def test_lookup_when_arguments_are_missing_then_names_them(self):
        self.refuses(['lookup'], 'FUNCTION is missing')
        self.refuses(['lookup', '--all', 'cuStreamQuery', '12.3'], '--all takes neither FUNCTION nor VERSION')

    def test_error_when_argument_holds_control_characters_then_replaces_them(self):
        answer = run('pro\033[31mbe\x7f\n')
        self.assertIn(b'"pro?[31mbe??"', answer.err)


class Accepted(Case):
    def test_help_when_requested_then_lists_every_command_and_option(self):
        for arguments in (['--help'], ['-h'], ['help'], ['--help', '--nonsense']):
            answer = run(*arguments)
            self.assertEqual((answer.status, answer.err), (USABLE, b''))
            for word in ('probe', 'table', 'lookup', 'doctor', '--devices', '--require', '--require-slot', '--all', '--driver',
                         '--max-version', '--hide', '--per-thread', '--root', '--format', 'run', '--softcuda', '--wait'):
                self.assertIn(word.encode(), answer.out)
            self.assertTrue(all(len(line) <= 80 for line in answer.out.splitlines()))

    def test_help_of_a_command_when_requested_then_is_its_part(self):
        for command, words, others in (('probe', ('--choose', '--per-thread', '--softcuda'), ('cushim table', '--layer')),
                                       ('exec', ('--layer', '--hide'), ('cushim probe', '--per-thread'))):
            answers = [run(command, '--help'), run('help', command), run(command, '-h', '--nonsense')]
            for answer in answers:
                self.assertEqual((answer.status, answer.err, answer.out), (USABLE, b'', answers[0].out))
            for word in words:
                self.assertIn(word.encode(), answers[0].out)
            for word in others:
                self.assertNotIn(word.encode(), answers[0].out)
        self.assertEqual(run('help', 'audit').out, run('audit', '--help').out)

    def test_version_when_requested_then_prints_one_line(self):
        for option in ('--version', '-V'):
            answer = run(option)
            self.assertEqual((answer.status, answer.err), (USABLE, b''))
            self.assertRegex(answer.out.decode(), r'\Acushim \d+\.\d+\.\d+\n\Z')

    def test_options_when_before_or_after_the_command_then_equivalent(self):
        driver = fake('driver_12_4')
        expected = run('probe', '--driver', driver, '--format=json').out
        self.assertEqual(run('--format', 'json', '--driver=' + driver, 'probe').out, expected)
        self.assertEqual(run('--driver=/nowhere', 'probe', '--driver=' + driver, '--format=json').out, expected)

    def test_arguments_when_after_two_dashes_then_are_not_options(self):
        answer = run('table', '--driver=' + fake('driver_12_4'), '--', '--all')
        self.assertIn(b'no slot has "--all" in its name', answer.err)

    def test_version_when_written_either_way_then_equivalent(self):
        driver = '--driver=' + fake('driver_12_4')
        for one, other in (('12.3', '12030'), ('12', '12000'), ('11.2', '11020')):
            self.assertEqual(run('lookup', 'cuStreamQuery', one, driver).out, run('lookup', 'cuStreamQuery', other, driver).out)
            self.assertEqual(run('table', driver, '--max-version', one).out, run('table', driver, '--max-version', other).out)

    def test_options_when_given_then_override_the_environment(self):
        answer = run_json('probe', '--driver', fake('driver_12_4'), CUSHIM_DRIVER='none')
        self.assertEqual((answer.status, answer.document['loaded']), (USABLE, True))
        self.assertEqual(answer.document['environment'], [{'name': 'CUSHIM_DRIVER', 'value': 'none', 'used': False}])

    def test_driver_when_path_is_relative_then_found_from_current_directory(self):
        answer = run('probe', '--driver', os.path.relpath(fake('driver_12_4')))
        self.assertEqual(answer.status, USABLE)


if __name__ == '__main__':
    main()
