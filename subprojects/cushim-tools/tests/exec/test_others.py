#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exec, trace and doctor touch nothing of others: a program that is right stays right, and no file of a stranger changes."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

from under_exec import BUILD, HAS_AUDITOR, IS_FOREIGN, PROGRAM, Case, built, environment, main, softcuda

HERE = {'LD_LIBRARY_PATH': os.path.dirname(softcuda(580))}  # as on a machine that has this driver
STARTS = 'import ctypes, os, sys\ncuda = ctypes.CDLL("libcuda.so.1")\n'
LIMITED = STARTS + '''
context, address = ctypes.c_void_p(), ctypes.c_uint64()
print(cuda.cuInit(0), cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
print(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(64 << 20)))
'''
# The system calls by which the libraries of cushim in a program act on a file, and the functions of the dynamic loader,
# are the C library's own (own_calls.c). All other functions that they call stay those of the program.
OF_THE_PROGRAM = set('''
    access calloc clock_gettime closedir dl_iterate_phdr eventfd faccessat flock fprintf free fstat64 fstat getauxval getenv
    getpid getppid getrlimit64 getrlimit kill lstat64 lstat madvise malloc munmap nanosleep opendir posix_fallocate64
    posix_fallocate process_vm_readv pthread_key_create pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock
    pthread_once pthread_setcancelstate pthread_setspecific pthread_sigmask qsort readdir64 readdir readlink realpath
    sched_yield secure_getenv shmat shmdt sigaddset sigemptyset sigismember sigpending sigtimedwait sigwait snprintf
    socket stat64 stat stderr strdup strerror syscall vsnprintf backtrace cushim_exec_start cushim_exec_not_started
    program_invocation_name __progname_full __errno_location __register_atfork __cxa_atexit __cxa_finalize
    __tls_get_addr __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __isoc99_sscanf
    __isoc23_sscanf __isoc23_strtol __isoc23_strtoull strtol strtoul strtoull memchr memcmp memcpy memmove memset
    strchr strcmp strcpy strcspn strlen strncmp strncpy strnlen strpbrk strrchr strsep strspn strstr __stack_chk_fail
    atoi bsearch gnu_dev_major gnu_dev_minor'''.split()) # the last four are inlined, unless without optimization


def python(code):
    return [sys.executable, '-c', code]


def ways(directory):
    """Each command that runs a program, and the program alone."""
    return {'alone': [], 'exec': [PROGRAM, 'exec', '--'], 'trace': [PROGRAM, 'trace', '-o', f'{directory}/a.trace', '--'],
            'doctor': [PROGRAM, 'doctor', '-o', f'{directory}/answer', '--']}


@unittest.skipUnless(HAS_AUDITOR and not IS_FOREIGN, 'a program can be watched with glibc 2.35')
class Others(Case):
    def run_in(self, before, command, variables=None, **options):
        return subprocess.run([*before, *command], env=environment(**{**HERE, **(variables or {})}), timeout=120, check=False,
                              **{'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **options})

    def expect_same(self, command, **variables):
        """The program prints the same and ends in the same way under each command. Returns what it printed."""
        answers = {way: self.run_in(before, command, variables) for way, before in ways(self.directory()).items()}
        for way, answer in answers.items():
            self.assertEqual((answer.returncode, answer.stdout), (answers['alone'].returncode, answers['alone'].stdout),
                             (way, answer.stderr))
        return answers['alone'].stdout.decode(), {way: answer.stderr.decode() for way, answer in answers.items()}

    def test_program_when_a_preloaded_library_gives_functions_of_the_driver_then_is_as_without_cushim(self):
        limiter = f'LD_PRELOAD={built("limiter.so")}'
        for mode, printed in (('none', '0 0\n0\n'), ('limit', '0 0\n2\n'), ('init999', '999 3\n3\n')):
            for before in ([], ['sh', '-c', 'exec "$@"', 'sh']):
                with self.subTest(mode=mode):
                    out, _ = self.expect_same(['env', limiter, f'LIMITER={mode}', *before, *python(LIMITED)])
                    self.assertEqual(out, printed)

    def test_command_when_a_library_is_preloaded_into_it_then_the_program_is_as_without_cushim(self):
        for mode, printed in (('none', '0 0\n0\n'), ('limit', '0 0\n2\n')):
            out, _ = self.expect_same(python(LIMITED), LD_PRELOAD=built('limiter.so'), LIMITER=mode)
            self.assertEqual(out, printed)

    def test_driver_when_it_passes_calls_on_to_another_one_then_gets_that_one(self):
        directory = self.directory()
        os.symlink(built('wrapper.so'), f'{directory}/libcuda.so.1')
        for way, before in ways(directory).items():
            answer = self.run_in(before, [built('opens_driver'), 'libcuda.so.1'],
                                 {'LD_LIBRARY_PATH': directory, 'WRAPPED': softcuda(580)})
            self.assertEqual((answer.returncode, answer.stdout), (0, b'0\n'), (way, answer.stderr))

    def test_program_when_a_preloaded_library_watches_files_then_sees_none_of_cushim(self):
        command = ['env', f'LD_PRELOAD={built("watches_files.so")}', built('opens_driver'), 'libcuda.so.1']
        _, errors = self.expect_same(command)
        seen = {way: [line for line in text.splitlines() if re.match('(open|read|write|close) ', line)]
                for way, text in errors.items()}
        self.assertIn('open /dev/null', seen['alone'])
        for way in ('exec', 'trace', 'doctor'):
            # The driver itself is opened in the same process; its own calls are those of the program, too.
            self.assertEqual(seen[way], seen['alone'], way)

    def test_library_when_it_calls_a_function_then_that_call_is_decided(self):
        directory = os.path.join(BUILD, 'subprojects', 'cushim-tools')
        for library in ('trace/trace.so', 'exec/libcushim-exec.so'):
            names = subprocess.run(['nm', '-D', '--undefined-only', os.path.join(directory, library)], check=True,
                                   stdout=subprocess.PIPE).stdout.decode()
            called = {line.split()[-1].split('@')[0] for line in names.splitlines()}
            self.assertEqual(called - OF_THE_PROGRAM, set(), library)

    def stranger(self, directory):
        """A process that has a file open. Returns it, the file, and the path of the descriptor."""
        victim = pathlib.Path(directory, 'victim')
        victim.write_text('precious\n', encoding='utf-8')
        file = os.open(victim, os.O_RDWR)
        process = subprocess.Popen(['sleep', '60'], pass_fds=[file])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(file)
        return victim, f'/proc/{process.pid}/fd/{file}'

    def test_file_when_another_process_has_the_number_of_cushim_then_is_not_changed(self):
        victim, path = self.stranger(self.directory())
        moved = f'''
for name in CUSHIM_EXEC CUSHIM_TRACE CUSHIM_TRACE_FILE; do
    eval "value=\\$$name"; value=$(printf %s "$value" | sed 's|/proc/[0-9]*/fd/[0-9]*|{path}|'); export "$name=$value"
done; exec "$@"'''
        for way, before in ways(self.directory()).items():
            answer = self.run_in(before, ['sh', '-c', moved, 'sh', *python(STARTS + 'sys.exit(11 + cuda.cuInit(0))')])
            self.assertEqual(answer.returncode, 11, (way, answer.stderr))
            self.assertEqual(victim.read_text(encoding='utf-8'), 'precious\n', way)

    def test_temporary_directory_when_cushim_is_killed_then_has_no_file(self):
        directory, ready = self.directory(), os.path.join(self.directory(), 'ready')
        os.mkfifo(ready)
        process = subprocess.Popen([PROGRAM, 'doctor', '--', *python(STARTS + f'''
cuda.cuInit(0)
open({ready!r}, "w", encoding="utf-8").write(str(os.getpid()))
import time
time.sleep(60)''')], env=environment(TMPDIR=directory, **HERE), stderr=subprocess.DEVNULL, start_new_session=True)
        with open(ready, encoding='utf-8') as file:
            program = int(file.read())
        process.kill()
        process.wait()
        os.kill(program, signal.SIGKILL)
        self.assertEqual(os.listdir(directory), [])

    def test_program_when_standard_files_are_closed_then_its_status_is_kept(self):
        for closed in ('>&-', '2>&-', '<&-', '>&- 2>&-', '<&- >&- 2>&-'):
            for way, before in ways(self.directory()).items():
                before = [word for word in before if not word.endswith('answer') and word != '-o' or way == 'trace']
                answer = self.run_in(['sh', '-c', f'"$@" {closed}', 'sh', *before], ['sh', '-c', 'exit 3'])
                self.assertEqual(answer.returncode, 3, (way, closed, answer.stderr))
                if way == 'doctor' and '2>' not in closed:
                    self.assertIn(b'did not look', answer.stderr, closed)

    def test_program_when_a_standard_file_is_closed_then_it_stays_closed(self):
        _, _ = self.expect_same(['sh', '-c', 'exec "$@" <&-', 'sh', *python(STARTS + '''
print(cuda.cuInit(0))
print([file for file in range(3, 100) if os.path.exists(f"/proc/self/fd/{file}")])''')])

    def test_program_when_files_may_not_grow_then_it_is_not_ended(self):
        out, _ = self.expect_same(python(STARTS.replace('cuda =', '''
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
cuda =''') + 'sys.exit(11 + cuda.cuInit(0))'))
        self.assertEqual(out, '')

    def test_program_when_its_messages_may_not_grow_then_it_is_not_ended(self):
        directory = self.directory()
        with open(f'{directory}/errors', 'wb') as errors:
            for way, before in ways(directory).items():
                answer = self.run_in(before, python(STARTS.replace('cuda =', '''
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
os.environ["CUDA_VISIBLE_DEVICES"] = ""
cuda =''') + 'sys.exit(cuda.cuInit(0))'), stderr=errors)
                self.assertEqual(answer.returncode, 100, way)

    def test_answer_when_it_cannot_be_written_then_the_program_does_not_run(self):
        directory = self.directory()
        for file in ('/no/such/directory/answer', directory):
            answer = self.run_in([PROGRAM, 'doctor', '-o', file, '--'], ['touch', f'{directory}/ran'])
            self.assertEqual((answer.returncode, os.listdir(directory)), (1, []), answer.stderr)
            self.assertIn(f'cannot write {file}: '.encode(), answer.stderr)

    def test_names_when_they_have_tabs_and_lines_then_the_answer_is_right(self):
        directory = self.directory()
        self.run_in([PROGRAM, 'doctor', '--format=json', '-o', f'{directory}/answer', '--'], python('''
import ctypes
for name in ("libcuda.so.1\\tENOENT\\nX", "a\\n999999\\tF\\t/usr/lib/libcuda.so.1\\t", "libcuda.so.1\\x1b[31m", 6000 * "q"):
    try:
        ctypes.CDLL(name)
    except OSError:
        pass
cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)'''))
        answer = pathlib.Path(directory, 'answer').read_text(encoding='utf-8')
        self.assertIn('"cause": "only-asked"', answer)
        self.assertNotIn('999999', answer)


if __name__ == '__main__':
    main()
