# SPDX-License-Identifier: MIT
"""sites - the places of the sources that a mutant changes, by area. All product code is in an area or has a reason."""
import ast
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = 'subprojects/cushim-tools/'
OF_LIBRARY = ('unit devices nvrtc', 'stream conformance features fuzz',
              'cli exec trace cpp cuda compat structure drivers packaging examples')
# The sources of an area, and the suites that build it in the order in which they run. A sample of 80 has 10 of each.
AREAS = {
    'loader': ('loader/*.c loader/linux/*.c loader/posix/*.c src/cuda/*.c', OF_LIBRARY),
    'stream': ('src/stream/*.c src/completion/*.c src/completion/posix/*.c',
               ('stream', 'unit fuzz', 'trace cpp examples structure packaging')),
    'program': (f'{TOOLS}cli/*.c {TOOLS}common/*.c', ('cli', 'exec trace devices drivers', 'cli long')),
    'doctor': (f'{TOOLS}doctor/*.c {TOOLS}doctor/program/*.c', ('cli', 'exec devices', 'cli long')),
    'exec': (f'{TOOLS}exec/*.c {TOOLS}trace/layer/*.c {TOOLS}trace/file/*.c',
             ('exec trace', 'cli fuzz drivers audit softcuda', 'trace long')),
    'report': (f'{TOOLS}trace/model/*.c {TOOLS}trace/finders/*.c {TOOLS}trace/order/*.c {TOOLS}trace/output/*.c',
               ('trace fuzz', 'cli exec', 'trace long')),
    'softcuda': ('subprojects/softcuda/src/*.c subprojects/softcuda/src/*/*.c subprojects/softcuda/posix/*.c '
                 'subprojects/softcuda/hide_symbol/*.c subprojects/cushim-testing/*.c '
                 'subprojects/cushim-testing/fakes/*.c',
                 ('softcuda', 'conformance stream features fuzz unit nvrtc', 'trace exec cli examples')),
    'python': ('subprojects/*/*.py subprojects/*/*/*.py subprojects/*/*/*/*.py loader/*/*.py',
               ('audit headers', 'packaging cli exec softcuda trace unit', 'plain structure')),
}
# What cannot be mutated here, and the reason.
LEFT_OUT = {
    '*/windows/*': 'compiled for Windows',
    'subprojects/softcuda/hide_symbol/windows.c': 'compiled for Windows',
    'subprojects/cushim-testing/cmocka/*': 'compiled for Windows and in cross builds',
    'loader/other/*': 'compiled for systems without a driver',
    'loader/amalgamation/*.c': 'compiled as a part of cushim.c',
    'loader/lists/debug_info.py': 'run on files of NVIDIA when a new version is added',
}
EXCHANGED = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}
RELEASE = r'(?i:[\w()>.-]*(?:free|close|destroy|unref|release|unmap)\w*\([^;{}]*\);)'
FUNCTION = r'(?m)^(?!typedef|struct|enum|union)\w[^;={}()]*?\b(\w+)\((?=[^;{}]*\{)'
Site = collections.namedtuple('Site', 'area file kind begin end text name')


def is_test(path):
    return 'tests' in path.parts or not path.parts[1].startswith(('cushim-', 'softcuda')) and path.parts[0] == 'subprojects'


def check_areas():
    """Fails unless each product file is in one area, or is left out."""
    areas = collections.Counter(file for area in AREAS for file in files_of(area))
    for directory in ('loader', 'src', 'subprojects'):
        for path in sorted(ROOT.glob(directory + '/**/*')):
            file = path.relative_to(ROOT)
            if path.suffix in ('.c', '.py') and not is_test(file):
                assert areas[str(file)] + bool(is_left_out(file)) == 1, f'{file} must be in one area, or be left out'


def is_left_out(file):
    return any(file.match(pattern) for pattern in LEFT_OUT)


def files_of(area):
    """Returns the files of the area."""
    paths = (path.relative_to(ROOT) for pattern in AREAS[area][0].split() for path in sorted(ROOT.glob(pattern)))
    return [str(file) for file in paths if not is_test(file) and not is_left_out(file)]


def blank(text):
    """Returns C code with blanks for comments, texts and lines of the preprocessor."""
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*"
    return re.sub(pattern, lambda found: re.sub(r'[^\n]', ' ', found[0]), text, flags=re.S | re.M)


def find_end(code, begin, ends):
    """Returns where the expression ends that begins there: at one of the words, or at the bracket around it."""
    depth = 0
    for at in range(begin, len(code)):
        depth += (code[at] in '([{') - (code[at] in ')]}')
        if depth < 0 or depth == 0 and code.startswith(ends, at):
            return at
    return len(code)


def find_in_c(text):
    """Returns a list of (kind, begin, end, text that comes there)."""
    code = blank(text)
    found = []
    for match in re.finditer(r'\b(?:if|while) \(', code):
        begin, end = match.end(), find_end(code, match.end(), (';',))
        found.append(('negated', begin, end, f'!({text[begin:end]})'))
    simple = [(begin, end) for _, begin, end, _ in found if not re.search(r'&&|\|\|', code[begin:end])]
    for match in re.finditer(r'(?<= )([<>]=?|[=!]=)(?=\s)', code):
        # To exchange == in `if (a == b)` is to negate the condition.
        if match[0][0] in '<>' or not any(begin < match.start() < end for begin, end in simple):
            found.append(('exchanged', *match.span(), EXCHANGED[match[0]]))
    for match in re.finditer(r'&&|\|\|', code):
        ends = ('||', ';', ',', '?', ':') + (('&&',) if match[0] == '&&' else ())
        found.append(('second dropped', match.start(), find_end(code, match.end(), ends), ''))
    found += [('return removed', *match.span(), ';')
              for match in re.finditer(r'(?m)(?<=^ {8}) *return\b[^;]*;', code)]
    found += [('release removed', *match.span(), ';') for match in re.finditer(r'(?m)(?<=^ {4}) *' + RELEASE, code)]
    return found


def find_in_python(text):
    """Returns the same of Python."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def at(line, column):
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def span(node):
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    found, negated = [], []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            begin, end = span(node.test)
            negated.append(node.test)
            found.append(('negated', begin, end, f'(not ({text[begin:end]}))'))
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            begin, end = span(node.left)[1], span(node.comparators[0])[0]
            operator = re.search(r'[<>]=?|[=!]=', text[begin:end])
            if operator and (operator[0][0] in '<>' or node not in negated):
                begin += operator.start()
                found.append(('exchanged', begin, begin + len(operator[0]), EXCHANGED[operator[0]]))
        elif isinstance(node, ast.BoolOp):
            neutral = str(isinstance(node.op, ast.And))
            found += [('second dropped', *span(value), neutral) for value in node.values[1:]]
        elif isinstance(node, ast.FunctionDef):
            found += [('return removed', *span(early), 'pass') for early in ast.walk(node)
                      if isinstance(early, ast.Return) and early is not node.body[-1] and early not in negated]
            negated += [early for early in ast.walk(node) if isinstance(early, ast.Return)] # of an inner function
    return found


def name_functions(text, is_python):
    """Returns a list of (where it begins, the name of the function)."""
    pattern = r'(?m)^ *(?:def|class) (\w+)' if is_python else FUNCTION
    return [(0, 'file')] + [(match.start(), match[1]) for match in re.finditer(pattern, text)]


def find_sites(area):
    """Returns the sites of the area."""
    sites, names = [], collections.Counter()
    for file in files_of(area):
        text = (ROOT / file).read_text(encoding='utf-8')
        is_python = file.endswith('.py')
        functions = name_functions(text if is_python else blank(text), is_python)
        found = find_in_python(text) if is_python else find_in_c(text)
        for kind, begin, end, new in sorted(set(found), key=lambda site: site[1:3]):
            function = [name for start, name in functions if start <= begin][-1]
            changed = ' '.join(text[begin:end].split())
            if kind == 'exchanged':
                first, last = text.rfind('\n', 0, begin) + 1, text.find('\n', end)
                changed = ' '.join(f'{text[first:begin]}{new}{text[end:last]}'.split())
            name = f'{file} {function}: {kind}: {changed}'
            names[name] += 1
            name += f' (number {names[name]})' if names[name] > 1 else ''
            kept = '\n' * (text[begin:end].count('\n') - new.count('\n')) # the lines that follow keep their numbers
            sites.append(Site(area, file, kind, begin, end, new if is_python else new + kept, name))
    return sites


def same_code(one, other):
    """Reports whether two texts of Python compile to the same code."""
    def key(code):
        return (code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable if hasattr(
            code, 'co_exceptiontable') else b'', [key(value) if hasattr(value, 'co_code') else repr(value)
                                                  for value in code.co_consts])
    return key(compile(one, 'file', 'exec')) == key(compile(other, 'file', 'exec'))
