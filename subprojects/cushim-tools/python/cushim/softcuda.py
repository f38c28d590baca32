# SPDX-License-Identifier: MIT
"""softcuda: the software drivers of this package, for tests on a machine without a GPU.

    >>> from cushim import softcuda
    >>> with softcuda.driver(580, memory='4G') as cuda:
    ...     softcuda.fail('cuMemAlloc', 'OUT_OF_MEMORY', times=1)
    ...     program.run()

A process has one driver, which reads its settings when it is loaded. Tests that need others start a child with
environment().
"""
import contextlib
import ctypes
import difflib
import glob
import inspect
import itertools
import os
import traceback
import typing
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Union

from . import _IS_WINDOWS, _PACKAGE, _file

_FILE = 'nvcuda.dll' if _IS_WINDOWS else 'libcuda.so.1'
_SEARCH = 'PATH' if _IS_WINDOWS else 'LD_LIBRARY_PATH'
_CONTROL_VERSION = 1
_LAUNCH_FAILED = 719

Version = Union[int, str, None]


class Error(RuntimeError):
    """This process cannot use the driver in this way."""


class Launch(ctypes.Structure):
    """One launch of a kernel: `struct softcuda_launch` in softcuda.h, which describes its fields."""
    _fields_ = [('name', ctypes.c_char_p), ('grid', ctypes.c_uint * 3), ('block', ctypes.c_uint * 3),
                ('shared_bytes', ctypes.c_uint), ('arguments', ctypes.POINTER(ctypes.c_void_p)),
                ('argument_count', ctypes.c_size_t), ('result', ctypes.c_int)]


_Kernel = ctypes.CFUNCTYPE(None, ctypes.POINTER(Launch))


class _Control(ctypes.Structure):
    """`struct softcuda_control` in softcuda.h."""
    _fields_ = [
        ('driver', ctypes.c_char_p), ('cuda_version', ctypes.c_int),
        ('register_kernel', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, _Kernel, ctypes.POINTER(ctypes.c_size_t),
                                             ctypes.c_size_t)),
        ('fail_call', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_uint, ctypes.c_int)),
        ('failed_call', ctypes.CFUNCTYPE(ctypes.c_char_p)), ('clear_faults', ctypes.CFUNCTYPE(None)),
        ('delay_callbacks', ctypes.CFUNCTYPE(None, ctypes.c_uint)), ('refusal', ctypes.CFUNCTYPE(ctypes.c_char_p))]


class _Loaded:
    """The driver of this process."""

    def __init__(self, library_path: str) -> None:
        self.path, self.settings = library_path, _settings_of(os.environ)
        self.library = ctypes.CDLL(library_path)
        self.library.softcuda_control.restype = ctypes.POINTER(_Control)
        self.control = self.library.softcuda_control(_CONTROL_VERSION).contents
        self.kernels: List[Any] = []  # softcuda keeps their addresses
        self.results: Dict[str, int] = {}
        name = ctypes.c_char_p()
        for code in range(1, 1000):
            if self.library.cuGetErrorName(code, ctypes.byref(name)) == 0 and name.value:
                self.results[name.value.decode()] = code

    def check(self, code: int) -> None:
        """Raises an exception with the reason if a function of the control interface refused its arguments."""
        if code != 0:
            raise ValueError(self.control.refusal().decode() if code == 1 else 'out of memory')


_loaded: Optional[_Loaded] = None
_in_use = False


def _settings_of(environment: Mapping[str, str]) -> Dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith('SOFTCUDA_')}


def versions() -> List[str]:
    """Returns the driver branches of this package, such as '580', the oldest first."""
    found = glob.glob(os.path.join(glob.escape(_PACKAGE), 'lib', '**', 'softcuda', '*', _FILE), recursive=True)
    return sorted((os.path.basename(os.path.dirname(one)) for one in found), key=int)


def path(version: Version = None) -> str:
    """Returns the path of the library of a driver branch, such as 580, or of the newest one."""
    known = versions()
    branch = str(version) if version is not None else known[-1] if known else ''
    if branch not in known:
        raise ValueError(f'softcuda has no driver {version!r}; it has {", ".join(known) or "none in this package"}')
    return glob.glob(os.path.join(glob.escape(_PACKAGE), 'lib', '**', 'softcuda', branch, _FILE), recursive=True)[0]


def include_directory() -> str:
    """Returns the directory of softcuda.h, for tests in C."""
    return os.path.dirname(_file('include', 'softcuda.h'))


def environment(version: Version = None, **settings: Any) -> Dict[str, str]:
    """Returns the environment variables that make a child use a driver: {**os.environ, **environment(580)}.

    The settings are those of softcuda in lower case, memory='4G' for SOFTCUDA_MEMORY. A list is joined by commas.
    """
    library = path(version)
    variables = {'CUSHIM_DRIVER': library,
                 _SEARCH: os.pathsep.join(filter(None, (os.path.dirname(library), os.environ.get(_SEARCH))))}
    for name, value in settings.items():
        items = value if isinstance(value, (list, tuple)) else [int(value) if isinstance(value, bool) else value]
        variables['SOFTCUDA_' + name.upper()] = ','.join(str(one) for one in items)
    return variables


@contextlib.contextmanager
def driver(version: Version = None, **settings: Any) -> Iterator[ctypes.CDLL]:
    """Makes this process and its children use a driver, with settings as for environment(), and returns its library.

    In the process, what opens libcuda.so.1 or uses cushim from now on gets this driver, unless it has opened another
    one before. At the end, injected faults are removed, and the variables are as before. The exception is ValueError if
    a setting is not understood, and Error if the process has loaded another driver, or with other settings, before.
    """
    global _loaded, _in_use
    if _in_use:
        raise Error('a driver is already in use: leave the other "with softcuda.driver(...)" first')
    library, variables = path(version), environment(version, **settings)
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        if _loaded is None:
            _loaded = _Loaded(library)
        if (_loaded.path, _loaded.settings) != (library, _settings_of(os.environ)):
            raise Error(f'this process has loaded {_loaded.path} with the settings {_loaded.settings}: start a child '
                        'with environment() for others')
        refusal = _loaded.control.refusal().decode()
        if refusal.startswith(('SOFTCUDA_', 'environment')):
            raise ValueError(refusal)
        _in_use = True
        yield _loaded.library
    finally:
        if _in_use and _loaded is not None:
            _loaded.control.clear_faults()
        _in_use = False
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _used() -> _Loaded:
    if _loaded is None or not _in_use:
        raise Error('no driver is in use: call this inside of "with softcuda.driver(...)"')
    return _loaded


def _code(result: Union[int, str]) -> int:
    if isinstance(result, int):
        return result
    results = _used().results
    name = result if result in results else 'CUDA_ERROR_' + result
    if name not in results:
        meant = difflib.get_close_matches(name, results, 1)
        raise ValueError(f'{result!r} is not the name of a result' + (f'; did you mean {meant[0]!r}?' if meant else ''))
    return results[name]


def fail(function: str, result: Union[int, str], times: Optional[int] = None) -> None:
    """Makes the next calls of a function of the driver return a result, such as 'OUT_OF_MEMORY' or 2, and do nothing.

    A plain name means every version of the function, 'cuMemAlloc_v2' one, and '*' every function. Without `times`,
    every call fails until the driver is left.
    """
    used, code = _used(), _code(result)
    if times is not None and times < 1:
        raise ValueError(f'times is {times}, and at least 1 call must fail')
    for nth in range(1, times + 1) if times else [0]:
        used.check(used.control.fail_call(function.encode(), nth, code))


class Fault:
    """One round of each_call_fails()."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._function: Optional[str] = None

    @property
    def function(self) -> Optional[str]:
        """The exported name of the call that failed, or None if none has."""
        failed = _used().control.failed_call()
        if failed is not None:
            self._function = failed.decode()
        return self._function


def each_call_fails(result: Union[int, str]) -> Iterator[Fault]:
    """Repeats the body of a loop. In the first round the first call of the driver fails, in the second one the second,
    and so on. In the last round none does: then `function` of the round is None."""
    used, code = _used(), _code(result)
    for number in itertools.count(1):
        fault = Fault(number)
        used.check(used.control.fail_call(b'*', number, code))
        try:
            yield fault
            if fault.function is None:
                return
        finally:
            used.control.clear_faults()


def kernel(name: str, function: Callable[..., Any]) -> None:
    """Makes a Python function the kernel of this name in every module. It is called once for each launch.

    The annotations of its parameters are the types of the kernel's parameters: a type of ctypes for a value, and
    ctypes.POINTER(type) for an address. A first parameter `launch` receives the Launch. An exception is printed, and
    the launch fails with CUDA_ERROR_LAUNCH_FAILED.
    """
    used = _used()
    hints = typing.get_type_hints(function)
    names = list(inspect.signature(function).parameters)
    wants_launch = names[:1] == ['launch']
    types = [hints.get(one) for one in names[wants_launch:]]
    for one, kind in zip(names[wants_launch:], types):
        if not (isinstance(kind, type) and issubclass(kind, (ctypes._SimpleCData, ctypes._Pointer, ctypes.Structure))):
            raise TypeError(f'{function.__name__}: the annotation of the parameter {one} is not a type of ctypes')

    def value(kind: Any, address: int) -> Any:
        argument = kind.from_address(address)
        return argument.value if isinstance(argument, ctypes._SimpleCData) else argument

    def run(pointer: Any) -> None:
        launch = pointer.contents
        try:
            values = [value(kind, launch.arguments[i]) for i, kind in enumerate(types)]
            function(*([launch] if wants_launch else []), *values)
        except BaseException:  # pylint: disable=broad-except
            traceback.print_exc()
            launch.result = _LAUNCH_FAILED

    callback = _Kernel(run)
    sizes = (ctypes.c_size_t * max(1, len(types)))(*(ctypes.sizeof(kind) for kind in types))
    used.check(used.control.register_kernel(name.encode(), callback, sizes, len(types)))
    used.kernels.append(callback)
