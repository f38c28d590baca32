#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls the driver from Python with ctypes: the types, the slots and the constants come from cushim.json, and nothing
else is needed but the shared library.

  registry_table.py cushim.json libcushim.so.0

With a GPU it prints:

    A stream has an id. GPUs: ...
"""
import ctypes
import json
import sys

WORDS = {'void': None, 'bool': ctypes.c_bool, 'char': ctypes.c_char, 'usize': ctypes.c_size_t, 'f32': ctypes.c_float,
         'f64': ctypes.c_double, **{f'{sign}{bits}': getattr(ctypes, f'c_{"u" * (sign == "u")}int{bits}')
                                    for sign in 'iu' for bits in (8, 16, 32, 64)}}


class Cushim:
    """Each slot as a function by its name, each function of cushim likewise, and each constant in `constants`."""

    def __init__(self, path, library):
        with open(path, encoding='utf-8') as file:
            data = json.load(file)
        if data['schema'].split('.')[0] != '1':
            sys.exit(f'{path} has the schema {data["schema"]}; this program reads 1')
        self.types, self.functions, self.library = data['types'], data['functions'], ctypes.CDLL(library)
        self.slots = {one['name']: (index, one) for index, one in enumerate(data['slots'])}
        enums = [one['values'] for one in data['types'].values() if one['kind'] == 'enum']
        self.constants = {name: value for values in enums for name, value in values.items()}
        self.constants.update((name, one['value']) for name, one in data['constants'].items())
        # The pointer of the release that the file describes: an older library, with a shorter table, lacks it.
        self.table = ctypes.POINTER(ctypes.c_void_p).in_dll(self.library, data['table']['legacy'])

    def type(self, text):
        """A type of the file as one of ctypes."""
        text = text.removeprefix('const ')
        if text.startswith('*'):
            return ctypes.c_char_p if text == '*const char' else ctypes.c_void_p
        if text.startswith('['):
            length, _, inner = text[1:].partition(']')
            return self.type(inner) * int(length)
        if text not in WORDS:
            one = self.types[text]
            if one['kind'] not in ('struct', 'union'):
                return self.type(one['type'])
            fields = [(field['name'] or field['type'], self.type(field['type'])) for field in one['fields']]
            WORDS[text] = type(text, (ctypes.Structure if one['kind'] == 'struct' else ctypes.Union,), {
                '_anonymous_': [field['type'] for field in one['fields'] if not field['name']], '_fields_': fields})
        return WORDS[text]

    def __getattr__(self, name):
        if name in self.slots:
            index, one = self.slots[name]
            address = self.table[index]
        else:
            one = self.functions[name]
            address = ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value
        kinds = [self.type(each['type']) for each in one['parameters']]
        return ctypes.CFUNCTYPE(self.type(one['returns']), *kinds)(address)

    def message(self, function):
        """The sentence in the record to which a function of cushim returns a pointer."""
        kind = self.type(self.functions[function]['returns'].removeprefix('*'))
        return kind.from_address(getattr(self, function)()).message.decode()


def main():
    cuda = Cushim(*sys.argv[1:])
    if cuda.cushim_init():
        print('No GPU today.', cuda.message('cushim_diagnosis_get'))
        return
    count, context, stream_id = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    cuda.DeviceGetCount_v1(ctypes.byref(count))
    cuda.CtxCreate_v2(ctypes.byref(context), cuda.constants['CU_CTX_SCHED_AUTO'], 0)
    if cuda.StreamGetId_v1(cuda.constants['CU_STREAM_LEGACY'], ctypes.byref(stream_id)):
        print(cuda.message('cushim_error_last'))
    else:
        print('A stream has an id. GPUs:', count.value)


if __name__ == '__main__':
    main()
