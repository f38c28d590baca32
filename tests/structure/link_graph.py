#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""link_graph.py - checks that the dependencies between the objects of a static library run one way.

    link_graph.py NM LIBRARY [--allow A,B]... [--knot A]... [--above A,B,...]... [--leaf A,B,...]... [--show]

An object depends on another one if that defines a symbol which the first leaves undefined; nm lists both. The
check fails for each group of objects that depend on each other in a cycle. An object is named after its source
file, with "_" for "/": "load", "src_posix_os_wait".

    --allow A,B   these two may depend on each other
    --above A,B   the objects whose names begin with A or B are above all others: no other object depends on them
    --leaf A,B    the objects whose names begin with A or B depend on no others
    --knot A      the objects whose names begin with A, those of one directory, may depend on each other
    --show        prints the graph

Exit status 0: the rules are met; 1: they are not, and each violation is printed with its symbols; 77: nm is not
installed.
"""
import argparse
import shutil
import subprocess
import sys

SUFFIXES = ('.o', '.obj', '.c')


def object_name(member):
    """A thin archive has paths for members."""
    for suffix in SUFFIXES:
        member = member.removesuffix(suffix)
    return member.split('/')[-1].replace('.._', '')


def read_symbols(nm, library):
    """Returns the symbols that each object defines, and those that it leaves undefined."""
    done = subprocess.run([nm, '-g', library], capture_output=True, text=True, check=True)
    defined, undefined, name = {}, {}, None
    for line in done.stdout.splitlines():
        if line.endswith(':'):
            name = object_name(line[:-1])
            if name in defined:
                sys.exit(f'{library} has two objects {name}')
            defined[name], undefined[name] = set(), set()
        elif line:
            *_, kind, symbol = line.split()
            (undefined if kind in 'Uvw' else defined)[name].add(symbol)
    return defined, undefined


def read_graph(nm, library):
    """Returns for each object the objects that it depends on, each with the symbols it needs of it."""
    defined, undefined = read_symbols(nm, library)
    owners = {}
    for name, symbols in defined.items():
        for symbol in symbols:
            if symbol in owners:
                sys.exit(f'{symbol} is defined in {owners[symbol]} and in {name}')
            owners[symbol] = name
    graph = {name: {} for name in defined}
    for name, symbols in undefined.items():
        for symbol in sorted(symbols & owners.keys()):
            graph[name].setdefault(owners[symbol], []).append(symbol)
    return graph


def find_cycles(graph):
    """Returns each group of objects of which every one depends on every other (Tarjan's algorithm)."""
    index, low, stack, groups = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            group = set(stack[stack.index(name):])
            del stack[stack.index(name):]
            if len(group) > 1:
                groups.append(group)

    for name in graph:
        if name not in index:
            visit(name)
    return groups


def edges_within(graph, group):
    return [f'    {name} -> {other}: {", ".join(graph[name][other])}'
            for name in sorted(group) for other in sorted(graph[name]) if other in group]


def check_cycles(graph, allowed, knots):
    violations = []
    for group in find_cycles(graph):
        if group not in allowed and not any(group <= knot for knot in knots):
            violations += [f'a cycle of {len(group)} objects:', *edges_within(graph, group)]
    for name in set().union(*allowed) - graph.keys():
        sys.exit(f'the library has no object {name}')
    return violations


def select(graph, prefixes):
    chosen = {name for name in graph if name.startswith(tuple(prefixes))}
    for prefix in prefixes:
        if not any(name.startswith(prefix) for name in chosen):
            sys.exit(f'the library has no object {prefix}')
    return chosen


def check_above(graph, prefixes):
    above = select(graph, prefixes)
    return [f'{name} depends on {other}, which is above it: {", ".join(symbols)}'
            for name in sorted(graph.keys() - above) for other, symbols in graph[name].items() if other in above]


def check_leaves(graph, prefixes):
    leaves = select(graph, prefixes)
    return [f'{name} is a leaf, but depends on {other}: {", ".join(symbols)}'
            for name in sorted(leaves) for other, symbols in graph[name].items() if other not in leaves]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('nm')
    parser.add_argument('library')
    parser.add_argument('--allow', action='append', default=[], type=lambda text: set(text.split(',')))
    parser.add_argument('--above', action='append', default=[], type=lambda text: text.split(','))
    parser.add_argument('--leaf', action='append', default=[], type=lambda text: text.split(','))
    parser.add_argument('--knot', action='append', default=[])
    parser.add_argument('--show', action='store_true')
    options = parser.parse_args()
    if shutil.which(options.nm) is None:
        print('skipped: nm (binutils) is not installed')
        return 77
    graph = read_graph(options.nm, options.library)
    if options.show:
        for name in sorted(graph):
            print(f'{name}: {" ".join(sorted(graph[name]))}')
    violations = check_cycles(graph, options.allow, [select(graph, [prefix]) for prefix in options.knot])
    for prefixes in options.above:
        violations += check_above(graph, prefixes)
    for prefixes in options.leaf:
        violations += check_leaves(graph, prefixes)
    print('\n'.join(violations) or f'{len(graph)} objects: dependencies run one way')
    return 1 if violations else 0


if __name__ == '__main__':
    sys.exit(main())
