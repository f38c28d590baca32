# SPDX-License-Identifier: MIT
"""check_package.py BUILD - the package for Python, made from this build: installed by pip, run, and removed.

check_package.py FILE - the same for a wheel, or for a source distribution, which pip builds first. "source" makes the
source distribution of this tree.
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'subprojects' / 'cushim-tools' / 'python'))
import pack  # pylint: disable=wrong-import-position

OPEN = '''import ctypes, sys
version = ctypes.c_int()
ctypes.CDLL(sys.argv[1]).cuDriverGetVersion(ctypes.byref(version))
print(version.value)'''
CAUGHT = '''import cushim, subprocess
try:
    cushim.probe("--unknown")
except subprocess.CalledProcessError as error:
    print(isinstance(error, cushim.Error), "unknown option" in error.stderr)'''
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(('CUSHIM', 'SOFTCUDA', 'LD_'))}


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd='/', check=False)
    if done.returncode != status:
        raise AssertionError(f'{command}: {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}')
    return done.stdout.decode() + done.stderr.decode()


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.directory = pathlib.Path(scratch.name).resolve()
        cls.prefix = cls.directory / 'environment'
        cls.python, cls.program = str(cls.prefix / 'bin' / 'python'), str(cls.prefix / 'bin' / 'cushim')
        run(sys.executable, '-m', 'venv', '--without-pip', str(cls.prefix))
        cls.before = set(pack.files_below(cls.prefix))
        file = GIVEN
        if GIVEN == 'source':
            file = cls.directory / pack.source(cls.directory)
        elif os.path.isdir(GIVEN):
            file = cls.directory / pack.wheel(GIVEN, 'linux_' + os.uname().machine, cls.directory)
        cls.file = file
        cls.pip('install', '--no-index', '--no-deps', '--no-build-isolation', str(file))

    @classmethod
    def tearDownClass(cls):
        cls.pip('uninstall', '--yes', 'cushim')
        left = {name for name in set(pack.files_below(cls.prefix)) - cls.before if '__pycache__' not in name}
        if left:
            raise AssertionError(f'pip uninstall leaves {left}')

    @classmethod
    def pip(cls, *arguments):
        run(sys.executable, '-m', 'pip', '--quiet', '--disable-pip-version-check', '--python', cls.python, *arguments)

    def test_program_when_installed_then_finds_its_software_drivers(self):
        self.assertIn('released everything', run(self.program, 'run', '--softcuda', '340'))

    def test_module_when_run_then_is_the_program(self):
        self.assertEqual(run(self.python, '-m', 'cushim', '--version'), run(self.program, '--version'))
        run(self.python, '-m', 'cushim', 'probe', '--unknown', status=2)

    def test_manual_when_installed_then_help_names_its_file_and_man_finds_it_in_an_active_environment(self):
        command, page = run(self.program, '--help').splitlines()[-1].split(': ')
        self.assertEqual(command, 'More')
        self.assertIn('.Nm cushim', pathlib.Path(page.split()[1]).read_text(encoding='utf-8'))
        if shutil.which('man'):
            active = f'PATH={self.prefix / "bin"}:{os.environ["PATH"]}'
            found = run('env', '-u', 'MANPATH', active, 'man', '-w', 'cushim')
            self.assertEqual(found, f'{self.prefix}/share/man/man1/cushim.1\n')

    def test_probe_when_called_then_returns_the_answer_of_the_program(self):
        code = 'import cushim, json; print(json.dumps(cushim.probe({})))'
        for driver, status in (('470', 0), ('none', 1)):
            option = f'--driver={driver}' if status else f'--softcuda={driver}'
            answer = json.loads(run(self.program, 'probe', '--format=json', option, status=status))
            self.assertEqual(json.loads(run(self.python, '-c', code.format(repr(option)))), answer)

    def test_probe_when_an_argument_is_refused_then_raises_a_sentence(self):
        for argument, words in (('"--unknown"', 'unknown option --unknown'), ('3', 'such as "--devices", and not 3'),
                                ('"--format=csv"', 'csv'), ('"--timeout", "x"', '--timeout')):
            error = run(self.python, '-c', f'import cushim; cushim.probe({argument})', status=1).splitlines()
            self.assertIn(words, ' '.join(error[-3:]))
        self.assertEqual(run(self.python, '-c', CAUGHT), 'True True\n')

    def test_choose_when_called_then_returns_the_first_build_that_fits(self):
        code = 'import cushim; print(cushim.choose({}, "--softcuda=550"))'
        for builds, choice in ((repr({'cu13': 'cuda>=13.0', 'cu12': 'cuda>=12.0', 'cpu': ''}), 'cu12'),
                               ('"cu13: cuda>=13.0; cpu"', 'cpu'), ('"cu13: cuda>=13.0"', 'None')):
            self.assertEqual(run(self.python, '-c', code.format(builds)), choice + '\n')
        self.assertIn('a semicolon (;) separates builds', run(self.python, '-c', code.format('"a,b"'), status=1))

    def test_package_when_installed_below_a_target_then_is_whole(self):
        """pip then leaves out what is in .data/data."""
        target = str(self.directory / 'target')
        run(sys.executable, '-m', 'pip', '--quiet', '--disable-pip-version-check', 'install', '--no-index', '--no-deps',
            '--no-build-isolation', '--target', target, str(self.file))
        self.assertTrue(os.path.isfile(target + '/cushim/py.typed'))
        cushim = 'env', f'PYTHONPATH={target}', sys.executable, '-m', 'cushim'
        self.assertIn('released everything', run(*cushim, 'run', '--softcuda', '340'))
        self.assertEqual(run(*cushim, 'exec', '--softcuda', '550', '--', sys.executable, '-c', OPEN, 'libcuda.so.1'),
                         '12040\n')
        trace = str(self.directory / 'target.trace')
        self.assertIn('cuMemcpyHtoDAsync_v2', run(*cushim, 'trace', '-o', trace, '--softcuda', '580', '--',
                                                 target + '/cushim/bin/cushim', 'run'))
        self.assertIn('--require-driver', run(*cushim, 'audit', '--help'))

    def test_library_when_opened_with_ctypes_then_works_as_the_page_shows(self):
        if os.path.isdir(GIVEN) and not list(self.prefix.rglob('libcushim.so.0')):
            self.skipTest('this build has no shared library')
        page = (ROOT / 'subprojects' / 'cushim-tools' / 'python' / 'README.md').read_text(encoding='utf-8')
        code = next(block for block in page.split('```python\n') if 'find_library()' in block.split('```')[0]).split('```')[0]
        self.assertEqual(run('env', 'CUSHIM_DRIVER=none', self.python, '-c', code),
                         '0 Loading a driver was disabled on request.\n')
        driver = next(self.prefix.rglob('softcuda/550/libcuda.so.1'))
        self.assertIn('1 the call succeeded', run('env', f'CUSHIM_DRIVER={driver}', self.python, '-c', code))

    def test_softcuda_when_tested_as_its_page_shows_then_the_test_passes_and_each_mistake_fails(self):
        if importlib.util.find_spec('pytest') is None:
            self.skipTest('pytest is not installed (Debian: python3-pytest)')
        page = (ROOT / 'subprojects' / 'softcuda' / 'README.md').read_text(encoding='utf-8')
        code = page.split('```python\n')[1].split('```')[0]
        packages = next(self.prefix.rglob('site-packages'))
        file = self.directory / 'test_scale.py'
        for right, wrong, status in (('', '', 0), ('to[i] *= by', 'to[i] += by', 1), ('[i] *= by', '[i] *= missing', 1),
                                     ('return result or freed', 'return result', 1),
                                     ('or cuda.cuMemcpyDtoH_v2', 'or 0 * cuda.cuMemcpyDtoH_v2', 1)):
            self.assertIn(right, code)
            file.write_text(code.replace(right, wrong, 1), encoding='utf-8')
            run('env', f'PYTHONPATH={packages}', sys.executable, '-B', '-m', 'pytest', '-q', '-p', 'no:cacheprovider',
                str(file), status=status)

    def test_softcuda_when_a_child_is_started_then_it_has_the_driver_and_its_settings(self):
        code = ('import os, subprocess, sys; from cushim import softcuda\n'
                'subprocess.run([sys.executable, "-c", sys.argv[1], "libcuda.so.1"], '
                'env={**os.environ, **softcuda.environment(470, fail="cuInit=NO_DEVICE", devices=2)})')
        self.assertEqual(run(self.python, '-c', code, OPEN), '11040\n')
        start = 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).cuInit(0))'
        self.assertEqual(run(self.python, '-c', code, start), '100\n')
        block = ('import subprocess, sys; from cushim import softcuda\n'
                 'with softcuda.driver(470): subprocess.run([sys.executable, "-c", sys.argv[1], "libcuda.so.1"])')
        self.assertEqual(run(self.python, '-c', block, OPEN), '11040\n')

    def test_softcuda_when_used_wrongly_then_raises_a_sentence(self):
        inside = 'with softcuda.driver(580) as cuda: '
        for code, words in (('softcuda.path(471)', '340, 390'),
                            ('softcuda.fail("cuInit", 2)', 'no driver is in use'),
                            ('with softcuda.driver(580, memory="4X"): pass', 'SOFTCUDA_MEMORY: "4X"'),
                            ('with softcuda.driver(580, memroy=4): pass', 'did you mean "SOFTCUDA_MEMORY"'),
                            (inside + 'softcuda.fail("cuMemAllok", 2)', 'did you mean "cuMemAlloc"'),
                            (inside + 'softcuda.fail("cuInit", "OUT_OF_MEMORI")', "mean 'CUDA_ERROR_OUT_OF_MEMORY'"),
                            (inside + 'softcuda.fail("cuMemAlloc", 0)', 'does not fail with the result 0'),
                            (inside + 'softcuda.fail("cuMemAlloc", 2, times=0)', 'at least 1 call'),
                            (inside + 'softcuda.kernel("k", lambda x: 0)', 'parameter x is not a type of ctypes'),
                            (inside + 'softcuda.driver(550).__enter__()', 'already in use'),
                            (inside + 'pass\nwith softcuda.driver(550): pass', 'start a child'),
                            (inside + 'pass\nwith softcuda.driver(580, devices=2): pass', 'start a child')):
            error = run(self.python, '-c', 'from cushim import softcuda\n' + code, status=1)
            self.assertIn(words, error.splitlines()[-1], code)

    def test_softcuda_when_calls_fail_then_so_many_do_and_the_next_use_has_none(self):
        code = ('from cushim import softcuda\n'
                'with softcuda.driver() as cuda:\n'
                '  softcuda.fail("cuInit", "CUDA_ERROR_NO_DEVICE", times=2)\n'
                '  print(cuda.cuInit(0), cuda.cuInit(0), cuda.cuInit(0))\n'
                '  softcuda.fail("*", 999); print(cuda.cuInit(0))\n'
                'with softcuda.driver() as cuda: print(cuda.cuInit(0), [one.function for one in '
                'softcuda.each_call_fails(2) if [cuda.cuInit(0), cuda.cuDriverGetVersion(None)]])')
        self.assertEqual(run(self.python, '-c', code), "100 100 0\n999\n0 ['cuInit', 'cuDriverGetVersion', None]\n")
        header = run(self.python, '-c', 'from cushim import softcuda; print(softcuda.include_directory())').strip()
        self.assertEqual(pathlib.Path(header, 'softcuda.h').read_bytes(),
                         (ROOT / 'subprojects' / 'softcuda' / 'include' / 'softcuda.h').read_bytes())

    def test_show_when_pip_prints_the_package_then_has_its_metadata(self):
        pip_show = sys.executable, '-m', 'pip', '--disable-pip-version-check', '--python', self.python, 'show'
        shown = run(*pip_show, 'cushim')
        for line in ('Summary: Reports what', 'Author: The cushim authors', 'License: MIT'):
            self.assertIn('\n' + line, shown)

    def test_exec_when_a_program_opens_either_name_then_it_gets_the_library_of_exec(self):
        directory = next(self.prefix.rglob('exec/12040/libcuda.so.1')).parent
        alone = ['env', '-u', 'LD_AUDIT', f'LD_LIBRARY_PATH={directory}']  # as on an older glibc
        for way, name in (([], 'libcuda.so.1'), (alone, 'libcuda.so.1'), (alone, 'libcuda.so')):
            version = run(self.program, 'exec', '--softcuda', '550', '--', *way, self.python, '-c', OPEN, name)
            self.assertEqual(version, '12040\n', (way, name))

    def test_exec_when_it_ran_then_it_made_no_files(self):
        place = self.directory / 'open to all'
        place.mkdir()
        place.chmod(0o777)
        everywhere = [f'{name}={place}' for name in ('HOME', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR')]
        before = pack.files_below(self.prefix)
        run('env', *everywhere, self.program, 'exec', '--softcuda', '550', '--', self.program, 'probe')
        self.assertEqual(os.listdir(place), [])
        self.assertEqual(pack.files_below(self.prefix), before)

    def test_audit_when_run_then_finds_its_modules(self):
        self.assertIn('--require-driver', run(self.program, 'audit', '--help'))

    def test_trace_when_a_program_runs_then_records_its_calls(self):
        file = str(self.directory / 'a.trace')
        self.assertIn('cuMemcpyHtoDAsync_v2', run(self.program, 'trace', '-o', file, '--softcuda', '580', '--',
                                                 self.program, 'run'))


class Files(unittest.TestCase):
    def test_files_when_packed_twice_then_are_equal(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            for write in (lambda place: pack.wheel(GIVEN, 'linux_x86_64', place), pack.source):
                first, second = (pathlib.Path(place, write(place)) for place in (one, two))
                self.assertEqual(first.read_bytes(), second.read_bytes(), first.name)


if __name__ == '__main__':
    try:
        import pip  # pylint: disable=unused-import
        import venv  # pylint: disable=unused-import
        import ensurepip  # Debian has this in the package python3-venv
    except ImportError as error:
        print(f'skipped: {error} (Debian: python3-pip, python3-venv)')
        sys.exit(77)
    GIVEN = os.path.abspath(sys.argv[1]) if os.path.exists(sys.argv[1]) else sys.argv[1]
    unittest.main(argv=sys.argv[:1], defaultTest=['Package', 'Files'] if os.path.isdir(GIVEN) else ['Package'])
