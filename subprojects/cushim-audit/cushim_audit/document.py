# SPDX-License-Identifier: MIT
"""Conclusions as a JSON document; schema.json beside this file describes it."""
from . import coverage
from .rules import arch_text, branch_of, version_text

SCHEMA_VERSION = 1


def driver(version):
    """A driver: the CUDA version and the first branch for it; null for one that is not known."""
    if not version:
        return None
    return {'cuda_version': version_text(version), 'branch': branch_of(version)}


def code_document(code):
    document = {'kind': code.kind, 'arch': arch_text(code.arch) + code.suffix}
    if code.kind == 'PTX':
        document['version'] = '{}.{}'.format(*code.version)
    return document


def gpu_document(one):
    return {'arch': arch_text(one.arch), 'runs': one.how,
            'first_driver': driver(one.first) if one.how != coverage.NOT else None,
            'last_branch': one.last, 'served': one.served, 'total': one.total,
            'ptx': code_document(one.ptx) if one.ptx else None}


def containers_document(facts):
    """Equal containers once, with their number."""
    counts = {}
    for one in facts.containers:
        kind = 'empty' if one.empty else 'linked' if one.linked else 'relocatable' if one.relocatable else one.where
        key = kind, tuple(sorted(code.key for code in one.codes))
        counts.setdefault(key, [0, one])[0] += 1
    return [{'kind': key[0], 'count': count, 'code': [code_document(code) for code in one.codes]}
            for key, (count, one) in counts.items()]


def file_document(conclusion, shortfalls, unknowns):
    facts = conclusion.facts
    kind, release = facts.copy or (None, None)
    return {
        'name': facts.name, 'archive': facts.archive or None, 'member': facts.member if facts.archive else None,
        'format': facts.format, 'machine': facts.machine or None, 'kind': facts.kind or None,
        'first_driver': driver(conclusion.first), 'first_driver_known': conclusion.driver_known,
        'demands': [{'kind': one.kind, 'driver': driver(one.version), 'name': one.name, 'reason': one.reason,
                     'fails': one.fails or None} for one in conclusion.all_demands],
        'gpus': [gpu_document(one) for one in conclusion.gpus],
        'gpus_known': conclusion.gpus_known,
        'containers': containers_document(facts),
        'symbols': [{'name': one.name, 'lazy': one.is_lazy, 'weak': one.is_weak}
                    for one in sorted(facts.symbols, key=lambda one: one.name)],
        'lookups': sorted(facts.lookups), 'compilers': sorted(facts.compiles),
        'video': sorted(facts.video),
        'cushim': [{'version': one.version, 'functions': len(one.functions), 'whole': one.is_whole}
                   for one in facts.records],
        'needs': sorted(facts.needs),
        'copy': {'kind': kind, 'release': release or None} if kind else None,
        'notes': conclusion.notes,
        'shortfalls': [{'kind': one.kind, 'sentence': one.sentence, 'advice': one.advice or None}
                       for one in shortfalls],
        'unknown': [{'kind': one.kind, 'sentence': one.sentence} for one in unknowns],
    }


def summary_document(name, summary):
    return {'name': name, 'files': len(summary.conclusions),
            'first_driver': driver(summary.first), 'first_driver_known': summary.driver_known,
            'newest_lookup': driver(summary.lookup),
            'gpus': [gpu_document(one) for one in summary.gpus], 'gpus_known': summary.gpus_known,
            'complete': summary.is_complete}
