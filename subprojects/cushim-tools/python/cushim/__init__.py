# SPDX-License-Identifier: MIT
"""The program cushim, for Python programs that ask what the CUDA driver of this machine can do.

    >>> import cushim
    >>> cushim.probe()['message']
    >>> cushim.choose({'cu13': 'cuda>=13.0', 'cu12': 'cuda>=12.0 arch>=7.5', 'cpu': ''})
    >>> [device.uuid for device in cushim.devices()]
"""
import ctypes
import enum
import glob
import json
import os
import subprocess
import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_IS_WINDOWS = os.name == 'nt'


class Error(subprocess.CalledProcessError):
    """The program refused its arguments, or ended without an answer. `stderr` has what it wrote, as text."""

    def __str__(self) -> str:
        return f'{super().__str__().rstrip(".")}: {self.stderr.strip() or "it wrote no message"}'


def _file(*names: str) -> str:
    path = os.path.join(_PACKAGE, *names)
    if not os.path.isfile(path):
        raise FileNotFoundError(f'{path} is not there: the package cushim is not installed as a whole')
    return path


def find_program() -> str:
    """Returns the path of the program cushim in this package."""
    return _file('bin', 'cushim.exe' if _IS_WINDOWS else 'cushim')


def find_library() -> str:
    """Returns the path of the C library cushim in this package, for ctypes."""
    if _IS_WINDOWS:
        return _file('bin', 'libcushim-0.dll')
    # Some distributions have a directory for each processor in lib.
    found = glob.glob(os.path.join(glob.escape(_PACKAGE), 'lib', '**', 'libcushim.so.0'), recursive=True)
    return found[0] if found else _file('lib', 'libcushim.so.0')


def _answer(arguments: List[str], timeout: Optional[float]) -> Dict[str, Any]:
    for one in arguments:
        if not isinstance(one, str) or '\0' in one:
            raise TypeError(f'the arguments are options of the program, strings such as "--devices", and not {one!r}')
    command = [find_program(), 'probe', '--format=json', *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding='utf-8', errors='replace', timeout=timeout, check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    # 1: the driver cannot be used, or lacks what an argument requires
    if done.returncode not in (0, 1) or not isinstance(answer, dict):
        raise Error(done.returncode, command, done.stdout, done.stderr)
    return answer


def probe(*arguments: str, timeout: Optional[float] = None) -> Dict[str, Any]:
    """Returns the answer of `cushim probe --format=json` as a dictionary; the manual of the program describes its keys.
    Its `message` is a sentence, also if nothing is wrong.

    The arguments are options of `cushim probe`, such as '--devices', without which the driver is not started. If the
    program refuses one, the exception is cushim.Error.
    """
    return _answer(list(arguments), timeout)


def choose(builds: Union[str, Mapping[str, str]], *arguments: str, timeout: Optional[float] = None) -> Optional[str]:
    """Returns the name of the first build that fits this machine, or None: `cushim probe --choose`.

    `builds` is a list as for that option, or a dictionary of names and conditions: {'cu12': 'cuda>=12.0', 'cpu': ''}.
    """
    if not isinstance(builds, str):
        builds = '; '.join(f'{name}: {conditions}' for name, conditions in builds.items())
    return _answer(['--choose', builds, *arguments], timeout)['choice']


class Device(NamedTuple):
    """A GPU that CUDA shows. What is not known is None."""
    ordinal: Optional[int]
    uuid: Optional[str]
    pci_bus_id: str
    capability: Optional[Tuple[int, int]]
    name: Optional[str]


def devices(*arguments: str, timeout: Optional[float] = None) -> List[Device]:
    """Returns the GPUs that CUDA would show this process, in its order, without a start: `cushim probe --list`, which also
    has the hidden ones, and why. An `ordinal` of None: it is not known whether CUDA shows the GPU, or under which number.
    """
    found = []
    for gpu in _answer(['--list', *arguments], timeout)['gpus']:
        if not gpu['hidden']:
            major, _, minor = (gpu['compute_capability'] or '').partition('.')
            capability = (int(major), int(minor)) if minor else None
            found.append(Device(gpu['ordinal'], gpu['uuid'], gpu['pci_bus_id'], capability, gpu['name']))
    return sorted(found, key=lambda device: -1 if device.ordinal is None else device.ordinal)


class Start(enum.IntEnum):
    """Whether CUDA is started in this process. Only NO is false."""
    NO = 0  # fork() is possible
    YES = 1  # by any part of the process
    FORKED = 2  # before a fork(): this process cannot use CUDA
    ENDED = 3


def is_started() -> Start:
    """Returns whether any part of this process has started CUDA. Starts and loads no driver."""
    return Start(ctypes.CDLL(find_library()).cushim_is_started())


def main() -> int:
    """The command cushim."""
    if sys.argv[1:2] == ['audit']:
        return audit(sys.argv[2:])
    command = [find_program(), *sys.argv[1:]]
    if _IS_WINDOWS:
        return subprocess.call(command)
    os.execv(command[0], command)


def audit(arguments: Optional[List[str]] = None) -> int:
    """The command cushim-audit, with this interpreter."""
    if not os.path.isdir(os.path.join(_PACKAGE, 'bin', 'cushim_audit')):
        sys.exit('cushim: audit is not in this package')
    sys.path.insert(0, os.path.join(_PACKAGE, 'bin'))
    from cushim_audit.command import main as command  # pylint: disable=import-error,import-outside-toplevel
    return command(arguments)
