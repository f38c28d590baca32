#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the completion of a shell for the program cushim, from the list of its commands and options.

  make_completions.py bash|zsh|fish LISTS OPTION_LIST

LISTS is the directory of the lists of the loader, which have the numbers of the software drivers. OPTION_LIST is what
the preprocessor makes of option_list.c.
"""
import ast
import pathlib
import re
import sys


# The program cushim-audit beside this one: it completes files.
AUDIT = {'audit': 'Derives from a binary on which drivers and GPUs it runs'}


def read(path):
    """The commands as {name: description}, and the options as (name, value or '', commands, description or '').

    Only trace has the format html: its --format is a row of its own."""
    rows = ast.literal_eval(f'[{pathlib.Path(path).read_text(encoding="utf-8")}]')
    # The description is the first sentence of the help, which is indented by six spaces.
    commands = {row[1]: re.split(r'[.:](?: |$)', ' '.join(re.findall(r'^ {6}(\w.*)', row[2], re.M)))[0]
                for row in rows if row[0] == 'COMMAND'}
    # The row of an option can name a command that this build does not have.
    options = [(name, value or '', [one for one in (only or '').split() if one in commands] or list(commands), text or '')
               for name, value, only, text in (row[1:] for row in rows if row[0] == 'OPTION')]
    if 'trace' in commands:
        _, _, only, _ = next(row for row in options if row[0] == '--format')
        only.remove('trace')
        options.insert(0, ('--format', 'FORMAT of trace', ['trace'], ''))
    return commands, options


def words_of(command, options):
    """The words that can follow a command."""
    return ['report'] * (command == 'trace') + [name for name, _, only, _ in options if command in only]


def bash(commands, options, words):
    """A value without a list of words is completed as a file name, by `-o default`."""
    free = [name for name, value, _, _ in options if value and value not in words]
    values = [f"        '{name} '{only[0] if len(only) == 1 else '*'}) words='{words[value]}' ;;"
              for name, value, only, _ in options if value in words]
    of_command = [f"            {command}) words='{' '.join(words_of(command, options))}' ;;" for command in commands]
    of_command += [f"            {command}) words= ;;" for command in AUDIT]
    free = ' | '.join(f"'{name} '*" for name in free)
    lines = '\n'.join([f"        {free}) return ;;", *values, '        *) case $command in', *of_command])
    return f"""_cushim()
{{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command= word words=
    [ "$current" = = ] && current=
    [ "$previous" = = ] && previous=${{COMP_WORDS[COMP_CWORD - 2]}}
    COMPREPLY=()
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case $word in
        --) # the program of exec, and its arguments
            [ "$previous" != -- ] || COMPREPLY=($(compgen -c -- "$current"))
            return ;;
        {' | '.join([*commands, *AUDIT])}) command=${{command:-$word}} ;;
        esac
    done
    case "$previous $command" in
{lines}
            *) words='{' '.join([*commands, *AUDIT, *(name for name, _, _, _ in options)])}' ;;
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _cushim cushim
"""


def zsh(commands, options, words):
    files = {'PATH': '_files', 'FILE': '_files', 'DIR': '_files -/'}

    def quote(text):
        return "'" + text.replace("'", r"'\''") + "'"

    every = list(commands)

    def specs(chosen):
        for name, value, only, text in options:
            if chosen(only):
                text = '[' + re.sub(r'([\[\]:])', r'\\\1', text) + ']' if text else ''
                action = f'({words[value]})' if value in words else files.get(value, '')
                end = '=' if name.startswith('--') else '+'
                yield quote(f'*{name}{end}' + f'{text}:{value}:{action}' if value else f'*{name}{text}')
    places = {'trace': " '2:word:(report)' '3:file:_files'"}
    of_command = '\n'.join(
        f"    {command}) options+=({' '.join(specs(lambda only, one=command: one in only != every))}{places.get(command, '')}) ;;"
        for command in commands)
    of_command += ''.join(f"\n    {command}) options=('*:file:_files') ;;" for command in AUDIT)
    described = ' '.join(rf'{command}\:"{text}"' for command, text in {**commands, **AUDIT}.items())
    return f"""#compdef cushim
local -i end=${{words[(i)--]}}
if (( end < CURRENT )); then # the program of exec, and its arguments
    words=("${{(@)words[end+1,-1]}}")
    (( CURRENT -= end ))
    _normal
    return
fi
local -a options=({' '.join(specs(lambda only: only == every))})
local command=${{words[(r)({'|'.join([*commands, *AUDIT])})]}}
case $command in
{of_command}
esac
_arguments $options {quote(f'1:command:(({described}))')}
"""


def fish(commands, options, words):
    def quote(text):
        return "'" + text.replace("'", r"\'") + "'"
    lines = ['complete -c cushim -f']
    for command, text in {**commands, **AUDIT}.items():
        lines.append(f'complete -c cushim -n __fish_use_subcommand -a {command} -d {quote(text)}')
    for name, value, only, text in options:
        line = 'complete -c cushim' + (f' -l {name[2:]}' if name.startswith('--') else f' -s {name[1:]}')
        line += f" -n '__fish_seen_subcommand_from {' '.join(only)}'" if len(only) < len(commands) else \
            f" -n 'not __fish_seen_subcommand_from {' '.join(AUDIT)}'"
        if value:
            line += f" -xa '{words[value]}'" if value in words else ' -rF' if value in ('PATH', 'FILE', 'DIR') else ' -x'
        lines.append(line + (f' -d {quote(text)}' if text else ''))
    lines += [f"complete -c cushim -n '__fish_seen_subcommand_from {command}' -F" for command in AUDIT]
    lines.append("complete -c cushim -n '__fish_seen_subcommand_from exec' -xa '(__fish_complete_subcommand --fcs-skip=2)'")
    if 'trace' in commands:
        lines += ["complete -c cushim -n '__fish_seen_subcommand_from trace; and not contains report -- (commandline -opc)' -a report",
                  "complete -c cushim -n '__fish_seen_subcommand_from report' -F",
                  "complete -c cushim -n '__fish_seen_subcommand_from trace; and contains -- -- (commandline -opc)'"
                  " -xa '(__fish_complete_subcommand --fcs-skip=2)'"]
    return '\n'.join(lines) + '\n'


def main():
    shell, directory, path = sys.argv[1:]
    sys.dont_write_bytecode = True
    sys.path.insert(0, directory)
    import entry_points as lists  # pylint: disable=import-outside-toplevel
    words = {'FORMAT': 'text json', 'FORMAT of trace': 'text json html csv', 'WHICH': 'newest first',
             'NUMBER': ' '.join(str(one.branch) for one in lists.known_drivers())}
    print({'bash': bash, 'zsh': zsh, 'fish': fish}[shell](*read(path), words), end='')


main()
