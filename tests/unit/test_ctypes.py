# SPDX-License-Identifier: MIT
"""Python calls the driver through cushim: by name, and through a table. Arguments: the shared library, a fake driver."""
import ctypes
import os
import sys

LEGACY, VERSION = 0, 12040


def main():
    os.environ['CUSHIM_DRIVER'] = sys.argv[2]
    cushim = ctypes.CDLL(sys.argv[1])
    get_version = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))
    version = ctypes.c_int()

    cushim.cushim_symbol.restype = ctypes.c_void_p
    found = cushim.cushim_symbol(b'cuDriverGetVersion')
    assert get_version(found)(ctypes.byref(version)) == 0 and version.value == VERSION, version
    assert cushim.cushim_symbol(b'cuNoSuchThing') is None

    slot = ctypes.c_int()
    cushim.cushim_table_get.restype = ctypes.POINTER(ctypes.c_void_p)
    assert cushim.cushim_slot_find(b'DriverGetVersion_v1', ctypes.byref(slot)) == 0
    table = cushim.cushim_table_get(LEGACY)
    version.value = 0
    assert get_version(table[slot.value])(ctypes.byref(version)) == 0 and version.value == VERSION, version
    assert table[slot.value] == found


main()
