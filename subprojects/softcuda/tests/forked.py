# SPDX-License-Identifier: MIT
"""A process that has not opened a library before, without the start of another Python."""
import os
import sys
import tempfile
import traceback


def forked(function, *arguments, **variables):
    """Calls a function in a child with these variables. Returns its result, which is an exit status, and what it wrote."""
    with tempfile.TemporaryFile('w+', encoding='utf-8') as output:
        child = os.fork()
        if child == 0:
            status = 255
            try:
                os.environ.update(variables)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                status = function(*arguments)
                sys.stdout.flush()
            except Exception:  # pylint: disable=broad-exception-caught
                traceback.print_exc()
            finally:
                os._exit(status)  # pylint: disable=protected-access
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        return status, output.read()
