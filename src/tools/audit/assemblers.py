# SPDX-License-Identifier: MIT
"""Compares toolkits.tsv and gpus.tsv with the assemblers (ptxas) and runtimes (libcudart) of Toolkits."""
import pathlib
import re
import subprocess
import tempfile

import audit_tables
import entry_points as lists

FETCH = pathlib.Path(__file__).resolve().parents[3] / 'tests' / 'audit' / 'fetch'
# The newest PTX, by what an assembler says of a version that does not exist.
TOO_NEW = '.version 99.0\n.target sm_80\n'
MAX_NAMES = 3


class Measured:
    """What the parts of one Toolkit show."""

    def __init__(self, version):
        self.version, self.name = version, lists.version_text(version)
        parts = f'ptxas-{self.name}', f'runtime-{self.name}'
        done = subprocess.run([FETCH, *parts], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f'the assembler or the runtime of CUDA {self.name} cannot be had')
        ptxas, runtime = map(pathlib.Path, done.stdout.split())
        self.ptx = newest_ptx(ptxas / 'ptxas')
        text = subprocess.run([ptxas / 'ptxas', '--help'], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.archs = {int(arch) for arch in re.findall(r"'sm_(\d+)'", text)}
        library, = runtime.glob('libcudart.so*')
        names = re.findall(rb'\0(cuda[A-Z]\w+)(?=\0)', library.read_bytes())
        # The names of the per-thread variants tell nothing new.
        self.names = {one.decode() for one in names if not one.endswith((b'_ptsz', b'_ptds'))}


def newest_ptx(ptxas):
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory) / 'a.ptx'
        source.write_text(TOO_NEW, encoding='ascii')
        done = subprocess.run([ptxas, source, '-o', source.with_suffix('.cubin')], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    major, minor = re.search(r"current version is '(\d+)\.(\d+)'", done.stdout).groups()
    return int(major), int(minor)


def new_names(measured, older):
    """Names to recognise a runtime by; none if there is no older one to compare with."""
    return sorted(measured.names - older.names)[:MAX_NAMES] if older else []


def row_text(measured, older):
    """The row of a Toolkit as it should stand in toolkits.tsv."""
    ptx = '{}.{}'.format(*measured.ptx)
    return '\t'.join([str(measured.version), ptx, 'ptxas', ','.join(new_names(measured, older)) or '-'])


def listed_text(known):
    ptx = '{}.{}'.format(*known.ptx)
    return '\t'.join([str(known.version), ptx, known.ptx_by, ','.join(known.runtime) or '-'])


def differences(versions):
    """Lines for a person: rows that are not what these Toolkits, oldest first, show."""
    known = {one.version: one for one in audit_tables.read_toolkits()}
    gpus = {one.arch: one for one in audit_tables.read_gpus()}
    older = None
    for version in versions:
        measured = Measured(version)
        row = known.get(version)
        if row is None or older and row_text(measured, older) != listed_text(row) or row.ptx != measured.ptx:
            yield f'toolkits.tsv: {row_text(measured, older)}'
        for arch in sorted(measured.archs - set(gpus)):
            yield f'gpus.tsv: {arch}\t-\t{version}\tptxas\t-\t-\t-\tunknown'
        for arch in sorted(set(gpus) & (older.archs if older else set()) - measured.archs):
            if gpus[arch].until != older.version:
                yield f'gpus.tsv: {arch} is listed by CUDA {older.name} and not by {measured.name}: until {older.version}'
        for arch in sorted(measured.archs & set(gpus)):
            one = gpus[arch]
            if one.until and one.until < version:
                yield f'gpus.tsv: {arch} is listed by CUDA {measured.name}, not until {one.until}'
            if one.first > version:
                yield f'gpus.tsv: {arch} is listed by CUDA {measured.name}, not first by {one.first}'
            if older and arch not in older.archs and one.first <= older.version:
                yield (f'gpus.tsv: {arch} is not listed by CUDA {older.name}, '
                       f'and first is {one.first}')
        older = measured


def measurable():
    """The versions that PyPI has, of those in the list."""
    return [one.version for one in audit_tables.read_toolkits() if one.ptx_by == 'ptxas']
