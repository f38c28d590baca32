# SPDX-License-Identifier: MIT
"""The declarations of include/cushim/abi that a subset reaches.

A declaration stays if a text that stays uses one of its names; if it gives another name to a type that stays, or casts
a number to one; or if its comment names a chosen function ("Flags of cuMemHostAlloc"). The comment of a macro or of an
enumeration can also name a declaration that stays ("Bits of CUDA_TEXTURE_DESC.flags"), because functions and members
take many of them as integers.
"""
import re

COMMENT = re.compile(r'/\*.*?\*/', re.S)
CONDITION = re.compile(r' *# *(if|endif|el)')
DIRECTIVE = re.compile(r' *# *(?!define)\w+')
MACRO = re.compile(r' *# *define (\w+)(.*)', re.S)
ENUM = re.compile(r'typedef enum \w+[^{]*\{(.*)\}', re.S)
FUNCTION_TYPE = re.compile(r'typedef [^{;(]*\((?:CUDA_CB )?\*(\w+)\)\(')
ALIAS = re.compile(r'typedef (?:(?:enum|struct|union) )?(\w+) \w+;')
WORD = re.compile(r'\b[A-Za-z_]\w+')
FUNCTION = re.compile(r'cu[A-Z]')


def words(text):
    """The words of a text, without those of its comments."""
    return set(WORD.findall(COMMENT.sub('', text)))


class Declaration:
    """A declaration or a macro, and the comment above it or above its group."""

    def __init__(self, text, comment):
        code = COMMENT.sub('', text)
        macro, enum, function = MACRO.match(code), ENUM.match(code), FUNCTION_TYPE.match(code)
        self.text, self.comment, self.stays = text, comment, False
        self.words = words(text)
        self.macro = macro[1] if macro else None
        self.of_types = set(re.findall(r'\(\((\w+)\)', macro[2]) if macro else ALIAS.findall(code))
        self.subjects = {word for word in WORD.findall(comment) if macro or enum or FUNCTION.match(word)}
        if macro or function:
            self.names = {(macro or function)[1]}
        else:
            self.names = {*re.findall(r'\b(?:enum|struct|union) (\w+)', code.split('{')[0]),
                          *re.findall(r'(\w+)(?:\[\w+\])?;\s*$', code),
                          *(re.findall(r'(\w+) =', enum[1]) if enum else [])}


class Header:
    """A header of include/cushim/abi: its declarations, and the other lines."""

    def __init__(self, text):
        self.parts, comment, pending, depth = [], '', '', 0
        for line in text.splitlines(keepends=True):
            if not pending and (not line.strip() or DIRECTIVE.match(line)):
                comment = comment if line.strip() else ''
                self.parts.append(line)
                continue
            pending += line
            code = COMMENT.sub('', pending)
            if '/*' in code or code.count('{') != code.count('}') or line.endswith('\\\n'):
                continue
            if not code.strip():
                comment, pending = pending, ''
            elif MACRO.match(code) or code.rstrip().endswith(';'):
                self.parts.append(Declaration(pending, comment))
                pending = ''
        self.declarations = [part for part in self.parts if isinstance(part, Declaration)]

    def text(self):
        """The declarations that stay, each comment once, and the conditions around them. The comment of the header does
        not stay: it is that of the guard."""
        opened, shown = [('', '', False)], ''
        for part in self.parts:
            start, text, has_some = opened.pop()
            if isinstance(part, Declaration):
                is_guard = part.macro in WORD.findall(start)
                if is_guard:
                    text += part.text
                elif part.stays:
                    text += (part.comment if part.comment is not shown else '') + part.text
                    shown, has_some = part.comment, True
                opened.append((start, text, has_some))
                continue
            kind = CONDITION.match(part)
            if kind and kind[1] == 'if':
                opened += [(start, text, has_some), (part, part, False)]
            elif kind and kind[1] == 'endif':
                outer = opened.pop()
                opened.append((outer[0], outer[1] + (text + part if has_some else ''), outer[2] or has_some))
            elif part.strip() or not text.endswith('\n\n'):
                opened.append((start, text + part, has_some))
            else:
                opened.append((start, text, has_some))
        return opened[0][1] if opened[0][2] else ''


def reach(headers, used, functions):
    """Marks the declarations that stay. `used`: the words of the other sources; `functions`: the chosen ones."""
    used, names, before = set(used), set(functions), -1
    declarations = [one for header in headers for one in header.declarations]
    while before != len(used) + len(names):
        before = len(used) + len(names)
        for one in declarations:
            if not one.stays and (one.names & used or one.of_types & names or one.subjects & names):
                one.stays = True
                used |= one.words
                names |= one.names
