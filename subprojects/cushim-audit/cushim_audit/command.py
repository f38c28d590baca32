# SPDX-License-Identifier: MIT
"""The command line of cushim audit."""
import argparse
import fnmatch
import json
import os
import re
import sys

from . import condition, coverage, document, text, variant
from .conclude import Conclusion
from .examine import examine
from .inputs import Item, Reader
from .rules import arch_text, branch_of, driver_text, gpu_first
from .shortfalls import driver_has, shortfalls
from .summary import Summary
from .tables import GPUS, VERSION
from .unknown import unknowns
from .window import Damaged

DESCRIPTION = 'Derives from a binary on which drivers and GPUs it runs. It needs no GPU, driver or Toolkit.'
EXIT = '''Exit status: 0 if each file could be read and meets the requirements, 1 if a file falls short, 2 if it is not
known whether a file meets them (with --strict: 1), a file cannot be read or the command line is invalid, and
3 if there are requirements, and no CUDA files were found in a path.'''
PASSED, SHORT, UNKNOWN, NOTHING = 0, 1, 2, 3


def read_driver(value):
    """A driver branch as the CUDA version that it reports."""
    try:
        return condition.read_driver(value)
    except condition.Wrong as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def read_arch(value):
    try:
        arch = condition.read_arch(value)
    except condition.Wrong as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if arch not in GPUS:
        known = ', '.join(map(arch_text, GPUS))
        found = re.match(r'(?:arch>=)?(?:sm_|compute_)?(\d+)\.?(\d)[af]?$', value)
        arch = int(found[1]) * 10 + int(found[2]) if found else 0
        meant = f'; did you mean {arch_text(arch)}?' if arch in GPUS else f'; these are {known}'
        raise argparse.ArgumentTypeError(f'"{value}" is not a known compute capability{meant}')
    return arch


class Parser(argparse.ArgumentParser):
    def error(self, message):
        super().error(text.printable(message))


def parser():
    found = Parser(prog='cushim audit', description=DESCRIPTION, epilog=EXIT,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument('paths', metavar='FILE|WHEEL|DIRECTORY', nargs='+')
    found.add_argument('--require-driver', type=read_driver, metavar='BRANCH',
                       help='fail if a file does not run on this driver branch, such as 535, and all newer ones')
    found.add_argument('--require-arch', type=read_arch, metavar='X.Y', action='append', default=[],
                       help='fail if device code does not run on GPUs of this compute capability; can be repeated')
    found.add_argument('--strict', action='store_true',
                       help='treat what is not known to meet the requirements as falling short: exit status 1')
    found.add_argument('--except', dest='excepted', metavar='GLOB', action='append', default=[],
                       help='leave out files whose name or path matches; can be repeated')
    found.add_argument('--format', choices=('text', 'json'), default='text')
    found.add_argument('--variant', action='store_true',
                       help='print only the bounds for a wheel variant and for __cuda of conda')
    found.add_argument('--version', action='version', version=f'cushim audit {VERSION}')
    return found


def matching(path, patterns):
    """The patterns that a name in an archive or a path matches: as a whole, or with its last part."""
    path = path.replace(os.sep, '/')
    return {one for one in patterns if fnmatch.fnmatch(path, one) or fnmatch.fnmatch(path.rsplit('/', 1)[-1], one)}


class Audit:
    """One run: reads the paths one by one, and keeps what JSON and the exit status need."""

    def __init__(self, options, write, complain):
        self.options, self.write, self.complain = options, write, complain
        self.reader = Reader(self.is_wanted)
        self.unmatched = list(dict.fromkeys(options.excepted))  # the patterns of --except that matched no file so far
        self.is_unread = self.is_short = self.is_unknown = self.is_empty = False
        self.is_checking = bool(options.require_driver or options.require_arch)
        self.files, self.summaries, self.problems = [], [], []

    def is_wanted(self, path):
        found = matching(path, self.options.excepted)
        self.unmatched = [one for one in self.unmatched if one not in found]
        return not found

    def complain_of_patterns(self):
        """A pattern with a mistake in it leaves files in, and never out: a check stays safe, so this is not a failure.
        With several paths, and in a hook that gets the files in batches, a pattern need not match each time."""
        for one in self.unmatched:
            self.complain(f'cushim audit: --except {one}: matches no file, so it leaves out nothing')

    def refuse(self, name, sentence):
        self.is_unread = True
        self.problems.append({'name': name, 'sentence': sentence})
        self.complain(f'cushim audit: {name}: {sentence}')

    def conclusions(self, path):
        """What is concluded of each file about CUDA below a path."""
        for item in self.reader.walk(path):
            if not isinstance(item, Item):
                self.refuse(item.name, item.sentence)
                continue
            try:
                facts = examine(item)
            except (Damaged, OSError) as error:
                self.refuse(item.name, str(error))
                continue
            if facts.is_about_cuda:
                yield Conclusion(facts)

    def read(self, path):
        unread = len(self.problems)
        conclusions = list(self.conclusions(path))
        summary = Summary(conclusions, len(self.problems) == unread)
        short, unknown = [], []
        for one in conclusions:
            wanted = self.options.require_driver, self.options.require_arch
            found, open_questions = shortfalls(one, *wanted), unknowns(one, *wanted, summary.runtime_known)
            short += [(one, found)] if found else []
            unknown += [(one, open_questions)] if open_questions and self.is_checking else []
            self.files.append(document.file_document(one, found, open_questions))
        self.is_short = self.is_short or bool(short)
        self.is_unknown = self.is_unknown or bool(unknown)
        self.is_empty = self.is_empty or self.is_checking and not conclusions
        self.summaries.append(document.summary_document(path, summary))
        if self.options.format == 'json':
            return
        if self.options.variant:
            variant.write_variant(path, summary, self.write)
            text.write_found(short, self.complain)
            text.write_found(unknown, self.complain)
            return
        self.write_text(path, summary, short, unknown)

    def write_text(self, path, summary, short, unknown):
        conclusions = summary.conclusions
        if not self.is_checking:
            text.write_files(conclusions, self.write)
        text.write_found(short, self.write)
        text.write_found(unknown, self.write)
        if self.is_checking:
            self.write(f'{path}: {self.verdict(summary, short, unknown)}')
        elif os.path.isdir(path) or len(conclusions) != 1 or conclusions[0].facts.archive:
            text.write_summary(path, summary, self.write)

    def verdict(self, summary, short, unknown):
        """The summary of a check: one line for each path."""
        count = len(summary.conclusions)
        files = f'{count} CUDA file{"s" if count != 1 else ""}'
        wanted = [f'driver {branch_of(self.options.require_driver)}'] if self.options.require_driver else []
        if self.options.require_arch:
            archs = ', '.join(arch_text(one) for one in sorted(self.options.require_arch))
            wanted.append(f'GPU{"s" if len(self.options.require_arch) > 1 else ""} {archs}')
        wanted = ' and '.join(wanted)
        if short:
            return f'{len(short)} of {files} fall{"s" if len(short) == 1 else ""} short of {wanted}' + \
                self.choice_text(short, count)
        if not count:
            return text.no_files(summary)
        if unknown:
            it_runs = 'it runs' if len(unknown) == 1 else 'they run'
            return f'{len(unknown)} of {files}: not known whether {it_runs} with {wanted}{self.newer_text()}'
        run = 'runs' if count == 1 else 'run'
        return f'{files} {run} with {wanted}{self.newer_text()}{self.no_code_text(summary)}'

    def no_code_text(self, summary):
        """The GPUs of the required driver for which the files have no code, if no GPUs are required."""
        def lacks(one):
            return one.how == coverage.NOT and driver_has(self.options.require_driver, one.arch)

        if self.options.require_arch or not summary.gpus_known:
            return ''
        texts = [found for found, run in text.gpu_ranges(summary.gpus, lacks) if lacks(run[0])]
        return f'; no code for {" and ".join(texts)}' if texts else ''

    def newer_text(self):
        """The required GPUs that the required driver does not know, in brackets."""
        driver = self.options.require_driver
        newer = [one for one in sorted(self.options.require_arch) if driver and gpu_first(one) > driver]
        texts = [f'{driver_text(gpu_first(one))} is the first for GPU {arch_text(one)}' for one in newer]
        return f' ({", ".join(texts)})' if texts else ''

    @staticmethod
    def choice_text(short, count):
        """A hint for packages that have one library for each CUDA version, and load one of them."""
        is_runtime = all(one.kind == 'runtime' for _, found in short for one in found)
        if len(short) == count or not is_runtime:
            return ''
        return '; if the package loads other files on older drivers, leave these out with --except'

    def status(self):
        if self.is_unread:
            return UNKNOWN
        if self.is_short or self.is_unknown and self.options.strict:
            return SHORT
        return UNKNOWN if self.is_unknown else NOTHING if self.is_empty else PASSED


def main(arguments=None):
    options = parser().parse_args(arguments)
    if options.variant and options.format == 'json':
        parser().error('--variant writes text, and does not go with --format=json')

    def write(line):
        encoding = sys.stdout.encoding or 'utf-8'
        print(text.printable(line).encode(encoding, 'backslashreplace').decode(encoding))

    def complain(line):
        print(text.printable(line).encode('ascii', 'backslashreplace').decode(), file=sys.stderr)

    audit = Audit(options, write, complain)
    try:
        for path in options.paths:
            audit.read(path)
        audit.complain_of_patterns()
        if options.format == 'json':
            # It has only ASCII characters, and escapes what is not printable.
            print(json.dumps({'schema': document.SCHEMA_VERSION, 'files': audit.files, 'summaries': audit.summaries,
                              'problems': audit.problems, 'status': audit.status()}, indent=1))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 130
    return audit.status()
