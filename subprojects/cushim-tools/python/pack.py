#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs what is released. Two runs write the same bytes.

  pack.py wheel BUILD PLATFORM DIRECTORY      the program and its libraries, from a build directory of Meson, as a wheel
  pack.py archive BUILD PLATFORM DIRECTORY    the same as a .zip for Windows, or else a .tar.gz
  pack.py source DIRECTORY                    the sources, also as the source distribution for Python
  pack.py crate REGISTRY DIRECTORY            the crate cushim-sys for Rust, with the amalgamation; REGISTRY is cushim.json

In a wheel, the package cushim contains the tree of a prefix: cushim/bin/cushim, cushim/lib. So it is whole wherever pip
places it, also with --target, and the commands are scripts of Python. The man page is also in .data/data, where man
looks in an active environment. A wheel has no symbolic links. So each library that is installed with links has the name
of its first link instead, such as libcuda.so.1, and a libcuda.so beside it is a small library that needs libcuda.so.1.
"""
import base64
import csv
import gzip
import hashlib
import io
import pathlib
import posixpath
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
VERSION = (ROOT / 'loader' / 'version.txt').read_text(encoding='utf-8').strip()
TIME = 1577836800  # of every file: the first second of 2020
EXECUTABLE, PLAIN = 0o755, 0o644
# `pip show` prints License, and only new ones License-Expression, which may not stand beside it.
METADATA = f'''Metadata-Version: 2.1
Name: cushim
Version: {VERSION}
Summary: Reports what the CUDA driver of this machine can do
Author: The cushim authors
License: MIT
License-File: LICENSE
Keywords: CUDA,driver,GPU,NVIDIA
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Intended Audience :: Developers
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Requires-Python: >=3.8
Description-Content-Type: text/markdown

'''.encode() + (HERE / 'README.md').read_bytes()


COMMANDS = b'[console_scripts]\ncushim = cushim:main\ncushim-audit = cushim:audit\n'


def files_below(directory, names=None):
    """Returns {name: (content, mode)}. A symbolic link has the mode None, and its target as the content."""
    paths = sorted(directory / name for name in names) if names else sorted(directory.rglob('*'))
    files = {}
    for path in paths:
        name = path.relative_to(directory).as_posix()
        if path.is_symlink():
            files[name] = path.readlink().as_posix().encode(), None
        elif path.is_file():
            files[name] = path.read_bytes(), EXECUTABLE if path.stat().st_mode & 0o100 else PLAIN
    return files


def installed_files(build):
    """Installs the program in a scratch directory, and returns the files below the prefix."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--tags', 'runtime,man', '--destdir', scratch],
                       check=True, stdout=subprocess.DEVNULL)
        return files_below(next(pathlib.Path(scratch).rglob('bin')).parent)


def without_links(files, build):
    """Replaces the links to libraries, as above."""
    plain = {name: file for name, file in files.items() if file[1] is not None}
    for name, (target, mode) in files.items():
        if mode is None and not name.endswith('.so'):
            plain[name] = plain.pop(posixpath.normpath(posixpath.join(posixpath.dirname(name), target.decode())))
        elif mode is None:
            plain[name] = (pathlib.Path(build) / 'subprojects/cushim-tools/exec/libneeds-libcuda.so').read_bytes(), EXECUTABLE
    return plain


def write_zip(path, files):
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.create_system = 3  # Unix, whose modes these are
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def write_tar(path, files):
    with open(path, 'wb') as raw, gzip.GzipFile('', 'wb', 9, raw, TIME) as zipped, \
            tarfile.open(fileobj=zipped, mode='w', format=tarfile.PAX_FORMAT) as archive:
        for name, (content, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.mtime = TIME
            if mode is None:
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, content.decode(), 0o777
                archive.addfile(entry)
            else:
                entry.size, entry.mode = len(content), mode
                archive.addfile(entry, io.BytesIO(content))


def wheel(build, platform, directory):
    """Writes a wheel and returns its name. The platform may be several tags, with dots between them."""
    info, data = f'cushim-{VERSION}.dist-info', f'cushim-{VERSION}.data'
    tags = ''.join(f'Tag: py3-none-{tag}\n' for tag in platform.split('.'))
    files = {f'cushim/{name}': file for name, file in files_below(HERE / 'cushim').items()
             if name.endswith(('.py', 'py.typed'))}
    for name, file in without_links(installed_files(build), build).items():
        target = f'cushim/{name}'
        if '/cushim_audit/' in name:  # beside the script cushim-audit, which finds it there
            target = 'cushim/bin/' + name[name.index('cushim_audit/'):]
        of_environment = name.startswith('share/') and not name.startswith('share/cushim/')
        if of_environment:
            files[f'{data}/data/{name}'] = file
        if '/man/' in name or not of_environment:
            files[target] = file
    files['cushim/include/softcuda.h'] = (ROOT / 'subprojects/softcuda/include/softcuda.h').read_bytes(), PLAIN
    files[f'{info}/METADATA'] = METADATA, PLAIN
    files[f'{info}/entry_points.txt'] = COMMANDS, PLAIN
    files[f'{info}/licenses/LICENSE'] = (ROOT / 'LICENSE').read_bytes(), PLAIN
    files[f'{info}/WHEEL'] = (
        f'Wheel-Version: 1.0\nGenerator: cushim {VERSION}\nRoot-Is-Purelib: false\n{tags}'.encode(), PLAIN)
    record = io.StringIO()
    rows = csv.writer(record, lineterminator='\n')
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        rows.writerow([name, f'sha256={digest}', len(content)])
    rows.writerow([f'{info}/RECORD', '', ''])
    files[f'{info}/RECORD'] = record.getvalue().encode(), PLAIN
    name = f'cushim-{VERSION}-py3-none-{platform}.whl'
    write_zip(pathlib.Path(directory) / name, files)
    return name


def archive(build, platform, directory):
    """Writes the installed tree, with its links, and returns the name of the file."""
    name = f'cushim-{VERSION}-{platform}'
    files = {f'{name}/{path}': file for path, file in installed_files(build).items()}
    for page in ('LICENSE', 'CHANGELOG.md'):
        files[f'{name}/{page}'] = (ROOT / page).read_bytes(), PLAIN
    if platform.startswith('windows'):
        write_zip(pathlib.Path(directory) / f'{name}.zip', files)
        return f'{name}.zip'
    write_tar(pathlib.Path(directory) / f'{name}.tar.gz', files)
    return f'{name}.tar.gz'


def source(directory):
    """Writes the files that git tracks, or all files if this is no work tree, and returns the name of the tarball."""
    names = None
    if (ROOT / '.git').exists():
        names = subprocess.run(['git', 'ls-files', '-z'], cwd=ROOT, check=True,
                               stdout=subprocess.PIPE).stdout.decode().rstrip('\0').split('\0')
    name = f'cushim-{VERSION}'
    files = {f'{name}/{path}': file for path, file in files_below(ROOT, names).items()}
    files[f'{name}/PKG-INFO'] = METADATA, PLAIN
    write_tar(pathlib.Path(directory) / f'{name}.tar.gz', files)
    return f'{name}.tar.gz'


def crate(registry, directory):
    """Writes the crate, as cargo would pack it, and returns its name."""
    name = f'cushim-sys-{VERSION}'
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / 'cushim').mkdir()
        for command in (['tests/packaging/recipes/rust/write_crate.py', registry, scratch],
                        ['loader/amalgamation/amalgamate.py', scratch / 'cushim']):
            subprocess.run([sys.executable, '-B', ROOT / command[0], *command[1:]], check=True)
        files = {f'{name}/{path}': (content, PLAIN) for path, (content, _) in files_below(scratch).items()}
    write_tar(pathlib.Path(directory) / f'{name}.crate', files)
    return f'{name}.crate'


if __name__ == '__main__':
    print({'wheel': wheel, 'archive': archive, 'source': source, 'crate': crate}[sys.argv[1]](*sys.argv[2:]))
