#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line, the exit statuses and the JSON document, which its schema describes."""
import contextlib
import io
import json
import os
import pathlib

from audit import SOURCES, TOOL, Case, main
from cushim_audit import command, condition  # the path to it is set by audit.py
from makers import Elf, fatbin, plain_cubin, ptx, ptx_text, sass, wheel

SCHEMA = json.loads(pathlib.Path(TOOL, 'cushim_audit', 'schema.json').read_text(encoding='utf-8'))
TYPES = {'object': dict, 'array': list, 'string': str, 'integer': int, 'boolean': bool, 'null': type(None)}


def violations(value, schema, root, path='$'):
    """How a value differs from a schema: the words of JSON Schema that ours uses."""
    if '$ref' in schema:
        schema = root['$defs'][schema['$ref'].rsplit('/', 1)[1]]
    kinds = schema['type'] if isinstance(schema['type'], list) else [schema['type']]
    if type(value) not in [TYPES[kind] for kind in kinds]:
        yield f'{path}: {type(value).__name__}, not {kinds}'
    elif 'enum' in schema and value not in schema['enum']:
        yield f'{path}: {value!r} is not one of {schema["enum"]}'
    elif isinstance(value, dict):
        known = schema['properties']
        yield from (f'{path}: has {key!r}' for key in set(value) - set(known))
        yield from (f'{path}: lacks {key!r}' for key in set(schema['required']) - set(value))
        for key in set(value) & set(known):
            yield from violations(value[key], known[key], root, f'{path}.{key}')
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from violations(one, schema['items'], root, f'{path}[{index}]')


class Command(Case):
    is_alone = True
    good = Elf().needs('libcuda.so.1').wants('cuInit').build()
    late = Elf().needs('libcuda.so.1').wants('cuGreenCtxDestroy').build()

    def test_status_when_requirements_are_met_then_is_0(self):
        self.assertEqual(self.run_on('lib.so', self.good, '--require-driver=340').status, 0)

    def test_status_when_a_file_falls_short_then_is_1(self):
        self.assertEqual(self.run_on('lib.so', self.late, '--require-driver=535').status, 1)

    def test_status_when_a_file_is_not_read_then_is_2(self):
        self.write('lib.so', self.late)
        for arguments in ['missing.so'], ['--require-driver=535', 'lib.so', 'missing.so']:
            done = self.run_program(*arguments)
            self.assertEqual((done.status, 'missing.so' in done.err), (2, True))
        self.assertEqual(self.run_on('note.txt', b'text of a note, not a program').status, 2)

    def test_status_when_the_command_line_is_invalid_then_is_2(self):
        self.write('lib.so', self.good)
        for option in ('--frob', '--require-driver=abc', '--require-driver=100', '--require-arch=89',
                       '--require-arch=4.2', '--format=xml', ''):
            with self.subTest(option):
                done = self.run_program(option, 'lib.so') if option else self.run_program()
                self.assertEqual((done.status, done.out, 'cushim audit' in done.err), (2, '', True))

    def test_output_when_files_fall_short_then_has_one_line_for_each_and_a_summary(self):
        both = Elf().needs('libcuda.so.1').wants('cuGreenCtxDestroy').runpath('/x/stubs').build()
        self.write('a.whl', wheel({'one.so': self.late, 'two.so': both, 'ok.so': self.good}))
        done = self.run_program('--require-driver=535', 'a.whl')
        lines = done.out.splitlines()
        self.assertEqual([line.split(': ')[1] for line in lines[:2]], ['one.so', 'two.so'])
        self.assertEqual(lines[2:], ['a.whl: 2 of 3 CUDA files fall short of driver 535'])

    def test_output_when_only_some_files_need_a_newer_runtime_then_mentions_except(self):
        new = Elf().needs('libcudart.so.13').build()
        self.write('a.whl', wheel({'new.so': new, 'old.so': Elf().needs('libcudart.so.12').build()}))
        self.write('b.whl', wheel({'new.so': new}))
        self.assertIn('cudaErrorInsufficientDriver', self.run_program('--require-driver=535', 'a.whl').out)
        for name, is_choice in ('a.whl', True), ('b.whl', False):
            self.assertEqual('--except' in self.run_program('--require-driver=535', name).out, is_choice)
            self.assertEqual('--except' in self.run_program('--variant', name).out, is_choice)

    def test_output_when_a_required_gpu_is_newer_than_the_driver_then_names_its_first_driver(self):
        code = Elf().needs('libcuda.so.1').section('.nv_fatbin', fatbin(sass(80), sass(120))).build()
        self.write('a.so', code)
        done = self.run_program('--require-driver=535', '--require-arch=8.0', '--require-arch=12.0', 'a.so')
        self.assertEqual(done.status, 0)
        self.assertIn('(driver 570 is the first for GPU 12.0)', done.out)

    def test_except_when_it_matches_a_name_or_a_path_then_leaves_the_file_out(self):
        self.write('a.whl', wheel({'pkg/libs/one.so': self.late, 'pkg/two.so': self.good}))
        for pattern in 'one.so', '*/libs/*', 'one*', 'pkg/libs/one.so':
            with self.subTest(pattern):
                done = self.run_program('--require-driver=535', '--except', pattern, 'a.whl')
                self.assertEqual((done.status, done.out), (0, 'a.whl: 1 CUDA file runs with driver 535\n'))

    def test_except_when_it_matches_nothing_then_says_so_on_stderr(self):
        self.write('a.whl', wheel({'pkg/one.so': self.late, 'pkg/two.so': self.good}))
        # A file that two patterns match counts for both.
        options = ['--except=one.so', '--except=pkg/one*', '--except=three.so', '--format=json']
        done = self.run_program(*options, 'a.whl')
        self.assertEqual(done.err, 'cushim audit: --except three.so: matches no file, so it leaves out nothing\n')
        self.assertEqual((done.status, len(done.document['files'])), (0, 1))

    def test_variant_when_there_is_a_file_for_each_runtime_then_bounds_are_for_all_of_them(self):
        self.write('a.whl', wheel({f'cuda{one}.so': Elf().needs(f'libcudart.so.{one}').build() for one in (12, 13)}))
        done = self.run_program('--variant', 'a.whl')
        self.assertIn('cuda_version_lower_bound :: 13.0', done.out)
        self.assertIn('a package that loads all of its files', done.out)
        self.assertIn('needs only the driver of CUDA 12.0', done.out)
        done = self.run_program('--variant', '--except=cuda13.so', 'a.whl')
        self.assertIn('cuda_version_lower_bound :: 12.0', done.out)
        self.assertNotIn('loads all of its files', done.out)

    def test_variant_when_a_file_falls_short_then_says_why_on_stderr(self):
        self.write('a.whl', wheel({'one.so': self.late}))
        done = self.run_program('--variant', '--require-driver=535', 'a.whl')
        self.assertEqual(done.status, 1)
        self.assertIn('cuda_version_lower_bound', done.out)
        self.assertIn('a.whl: one.so: on drivers before 550', done.err)

    def test_output_when_a_wheel_cannot_be_read_then_claims_nothing_of_it(self):
        self.write('dist/a.whl', b'')
        self.write('dist/b.whl', b'no wheel')
        done = self.run_program('--require-driver=535', 'dist')
        self.assertEqual(done.status, 2)
        self.assertEqual(done.err.count('this is not a zip file'), 2)
        done = self.run_program('--variant', 'dist/b.whl')
        self.assertEqual(done.status, 2)
        self.assertNotIn('no bound', done.out)
        self.assertIn('not known', done.out)

    def test_requirement_when_written_in_another_way_then_is_suggested(self):
        for option in '--require-arch=90', '--require-arch=sm_90', '--require-arch=9.0a':
            self.assertIn('did you mean 9.0?', self.run_program(option, 'a.whl').err)
        done = self.run_program('--require-driver=900', 'a.whl')
        self.assertIn('the newest driver branch that is known is', done.err)

    def test_condition_when_it_is_one_of_the_table_then_has_its_value_or_status_2(self):
        """The grammar of tests/conditions.tsv, with which the program and the library are tested, too."""
        path = os.path.join(SOURCES, 'tests', 'conditions.tsv')
        with open(path, encoding='utf-8') as file:
            rows = [line.rstrip('\n').split('\t') for line in file if not line.startswith(('#', 'condition\t'))]
        self.assertGreater(len(rows), 70)
        for text, answer, value in rows:
            with self.subTest(text):
                self.assertTrue(answer != 'wrong' or value == '-')
                is_arch = text.startswith('arch')
                read = condition.read_arch if is_arch else condition.read_driver
                if value == '-':
                    option = '--require-arch' if is_arch else '--require-driver'
                    with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()):
                        command.parser().parse_args([f'{option}={text}', 'lib.so'])
                    self.assertEqual(ended.exception.code, 2)
                else:
                    self.assertEqual(read(text), int(value) // 1000 * 10 + int(value) % 1000 // 10 if is_arch
                                     else int(value))

    def test_output_when_nothing_is_about_cuda_then_says_so(self):
        """A file can reach the driver in ways that leave no trace, and a build can lose its CUDA."""
        self.write('ok.so', self.good)
        other = wheel({'lib.so': Elf().needs('libc.so.6').build()})
        done = self.run_on('a.whl', other, '--require-driver=535', 'ok.so')
        self.assertEqual((done.status, done.out.splitlines()[1]), (3, 'a.whl: no CUDA files were found'))
        self.assertEqual(self.run_program('--require-arch=8.0', '--format=json', 'a.whl').document['status'], 3)
        self.assertEqual(self.run_program('a.whl').status, 0)
        # What falls short is certain.
        self.write('late.so', self.late)
        self.assertEqual(self.run_program('--require-driver=535', 'a.whl', 'late.so').status, 1)

    def test_output_when_a_name_has_control_characters_then_forges_no_line(self):
        name = 'a\nb.so: driver 340 or newer\x1b[2J\u202e.so'
        self.write('a.whl', wheel({name: self.late, 'two\r.so': self.late}))
        for options in [], ['--require-driver=535'], ['--variant', '--require-driver=535']:
            done = self.run_program(*options, 'a.whl')
            self.assertIn('a\\nb.so: driver 340 or newer\\x1b[2J\\u202e.so', done.out + done.err)
            self.assertFalse([one for one in done.out + done.err if one != '\n' and not one.isprintable()])
            self.assertFalse([line for line in (done.out + done.err).splitlines() if line.startswith('b.so')])
        done = self.run_program('--require-driver=5\n35', 'mis\nsing')
        self.assertEqual((done.status, '5\\n35' in done.err), (2, True))
        self.assertIn('cushim audit: mis\\nsing: cannot be read', self.run_program('mis\nsing').err)

    def test_output_when_the_same_stops_several_files_then_they_share_a_line(self):
        self.write('a.whl', wheel({f'libs/one.so{end}': self.late for end in ('', '.1', '.1.2')}))
        lines = self.run_program('--require-driver=535', 'a.whl').out.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith('a.whl: libs/one.so and 2 more (one.so.1, one.so.1.2): on drivers before '))
        self.assertEqual(lines[1], 'a.whl: 3 of 3 CUDA files fall short of driver 535')

    def test_output_when_files_have_the_same_conclusion_then_stand_together(self):
        done = self.run_on('a.whl', wheel({'one.so': self.late, 'two.so': self.late}))
        self.assertIn('and 1 more: two.so', done.out)

    def test_json_when_printed_then_is_as_the_schema_says(self):
        code = fatbin(sass(52), sass(90, 'a'), ptx(90, (8, 3)))
        self.write('a.whl', wheel({
            'one.so': self.late, 'two.so': Elf().needs('libcudart.so.12').section('.nv_fatbin', code).build(),
            'three.so': Elf().section('.rodata', b'\0cuInit\0nvrtcCompileProgram\0').build(),
            'libcuda.so.1': Elf().soname('libcuda.so.1').defines('cuInit').build(),
            'new.so': Elf().section('.nv_fatbin', fatbin(sass(120))).build(), 'k.ptx': ptx_text(75, '8.3'),
            'empty.so': Elf().needs('libcudart.so.12').section('.nv_fatbin', fatbin(plain_cubin(['.a']))).build()}))
        document = self.run_program('--format=json', '--require-driver=535', 'a.whl', 'missing').document
        self.assertEqual(list(violations(document, SCHEMA, SCHEMA)), [])
        self.assertEqual((document['schema'], document['status']), (1, 2))
        self.assertEqual((len(document['files']), len(document['problems'])), (7, 1))
        # The check itself finds faults.
        document['files'][0]['gpus'] = None
        self.assertEqual(len(list(violations(document, SCHEMA, SCHEMA))), 1)

    def test_json_when_a_file_is_in_an_archive_then_has_both_names(self):
        self.write('dist/a.whl', wheel({'pkg/one.so': self.late, 'b.zip': wheel({'pkg/two.so': self.late})}))
        self.write('dist/c: d.so', self.good)
        found = self.run_program('--format=json', 'dist').document['files']
        self.assertEqual([(one['archive'], one['member']) for one in found],
                         [('dist/a.whl', 'pkg/two.so'), ('dist/a.whl', 'pkg/one.so'), (None, None)])

    def test_json_when_described_then_each_key_has_a_description(self):
        for name, one in SCHEMA['$defs'].items():
            with self.subTest(name):
                self.assertTrue(all('description' in value for value in one['properties'].values()))

    def test_help_when_printed_then_names_each_option(self):
        help_text = self.run_program('--help').out
        for option in '--require-driver', '--require-arch', '--strict', '--except', '--format', '--variant':
            self.assertIn(option, help_text)


if __name__ == '__main__':
    main()
