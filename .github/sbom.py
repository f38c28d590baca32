#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sbom.py VERSION DIRECTORY TIME - prints what a release consists of, as SPDX 2.3 in JSON: the files of DIRECTORY with
their checksums. TIME is that of the release, in seconds since 1970. cushim contains no code of others: the
amalgamations, the wheels and the archives are made from its own sources, and need the C library alone.
"""
import datetime
import hashlib
import json
import pathlib
import sys

LICENCE, NOBODY = 'MIT', 'NOASSERTION'


def file_entry(path, number):
    content = path.read_bytes()
    return {'SPDXID': f'SPDXRef-File-{number}', 'fileName': f'./{path.name}', 'licenseConcluded': LICENCE,
            'licenseInfoInFiles': [NOBODY], 'copyrightText': 'The cushim authors',
            'checksums': [{'algorithm': name.upper(), 'checksumValue': hashlib.new(name, content).hexdigest()}
                          for name in ('sha1', 'sha256')]}


def main(version, directory, time):
    files = [file_entry(path, number) for number, path in enumerate(sorted(pathlib.Path(directory).iterdir()), 1)]
    code = hashlib.sha1(''.join(sorted(one['checksums'][0]['checksumValue'] for one in files)).encode()).hexdigest()
    package = {'SPDXID': 'SPDXRef-Package', 'name': 'cushim', 'versionInfo': version, 'licenseConcluded': LICENCE,
               'licenseDeclared': LICENCE, 'licenseInfoFromFiles': [NOBODY], 'copyrightText': 'The cushim authors',
               'supplier': 'Organization: The cushim authors', 'downloadLocation': NOBODY, 'filesAnalyzed': True,
               'packageVerificationCode': {'packageVerificationCodeValue': code},
               'hasFiles': [one['SPDXID'] for one in files]}
    created = datetime.datetime.fromtimestamp(int(time), datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
    document = {'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT',
                'name': f'cushim-{version}', 'documentNamespace': f'https://spdx.org/spdxdocs/cushim-{version}-{code}',
                'creationInfo': {'created': created, 'creators': ['Organization: The cushim authors']},
                'packages': [package], 'files': files,
                'relationships': [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES',
                                   'relatedSpdxElement': 'SPDXRef-Package'}]}
    print(json.dumps(document, indent=1))


main(*sys.argv[1:])
