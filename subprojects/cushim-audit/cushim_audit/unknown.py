# SPDX-License-Identifier: MIT
"""What a check cannot know of a file. An answer that is not known is never a pass."""
from .conclude import listed
from .coverage import PART
from .fatbin import IR
from .rules import OLDEST, arch_text, driver_text


class Unknown:
    """A question that the file leaves open, with a sentence."""

    advice = ''

    def __init__(self, kind, sentence):
        self.kind, self.sentence = kind, sentence


def unknowns(conclusion, driver, archs, runtime_known):
    """What is not known of a file on a driver (a CUDA version, or None) and GPUs (a list, may be empty).
    `runtime_known`: whether the CUDA runtime is known of which its archive has only the user."""
    found = list(code_unknowns(conclusion))
    found += [Unknown('gpu', f'GPU {arch_text(one.arch)}: {one.served} of {one.total} fat binaries have code for it, and '
                      'whether the others are used on it is not known')
              for one in conclusion.gpus if one.how == PART and one.arch in archs]
    if driver or not archs:
        found += driver_unknowns(conclusion, driver or max(conclusion.first, OLDEST), runtime_known)
    return found


def code_unknowns(conclusion):
    facts = conclusion.facts
    if facts.compiles:
        yield Unknown('code', f'it compiles code at run time ({", ".join(sorted(facts.compiles))}), and for which GPUs '
                      'and drivers is not known')
    elif conclusion.loads_code:
        yield Unknown('code', f'it loads device code that is not in the file ({listed(conclusion.loads_code)}), and '
                      'for which GPUs and drivers that is, is not known')
    elif any(code.kind == IR for code in conclusion.codes):
        yield Unknown('code', 'it has intermediate code for linking at run time (LTO), and for which GPUs and drivers '
                      'that is linked is not known')


def driver_unknowns(conclusion, driver, runtime_known):
    facts = conclusion.facts
    if conclusion.runtime_is_elsewhere and not runtime_known:
        yield Unknown('runtime', 'the driver that its CUDA runtime needs is not known')
    if facts.needs_driver and conclusion.unknown_symbols:
        yield Unknown('symbol', f'it is linked to {listed(conclusion.unknown_symbols)}, and no known driver exports '
                      f'{"these" if len(conclusion.unknown_symbols) > 1 else "it"}')
    if conclusion.unknown_needs:
        yield Unknown('need', f'it says that it needs {listed(conclusion.unknown_needs)}, and the driver for that is not '
                      'known')
    if facts.unknown_video:
        yield Unknown('video', f'the driver that {" and ".join(sorted(facts.unknown_video))} needs is not known')
    newer = conclusion.newer_lookups(driver)
    if newer:
        count = len(facts.lookups)
        yield Unknown('lookup', f'{driver_text(driver)} lacks {listed(newer)} of the {count} '
                      f'name{"s" if count > 1 else ""} that it looks up; whether it needs '
                      f'{"these" if len(newer) > 1 else "it"} is not known')
