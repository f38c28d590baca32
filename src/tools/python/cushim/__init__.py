# SPDX-License-Identifier: MIT
"""The program cushim, for Python programs that ask what the CUDA driver of this machine can do.

    >>> import cushim
    >>> cushim.probe()['message']
"""
import importlib.metadata
import json
import os
import subprocess


def find_program():
    """Returns the path of the program cushim that was installed with this module."""
    name = 'cushim.exe' if os.name == 'nt' else 'cushim'
    files = importlib.metadata.distribution('cushim').files or ()
    paths = [str(file.locate()) for file in files if file.name == name and file.parent.name in ('bin', 'Scripts')]
    # `pip install --target` records another path than the one to which it installs.
    paths.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'bin', name))
    for path in paths:
        if os.path.isfile(path):
            return os.path.realpath(path)
    raise FileNotFoundError(f'the program cushim is not at {" or ".join(paths)}')


def probe(*arguments):
    """Returns the answer of `cushim probe --format=json` as a dictionary; the manual of the program describes its keys.

    The arguments are options of `cushim probe`, such as '--devices', without which the driver is not started. If the
    program refuses an argument, the exception is subprocess.CalledProcessError.
    """
    command = [find_program(), 'probe', '--format=json', *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):  # 1: the driver cannot be used, or lacks what an argument requires
        raise subprocess.CalledProcessError(done.returncode, command)
    return json.loads(done.stdout)
