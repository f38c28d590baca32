#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Features in probe and doctor, on software drivers."""

import re

from program import USABLE, UNUSABLE, USAGE, Case, main, run, run_json

NEW, OLD = '--softcuda=580', '--softcuda=450'


def by_name(rows):
    return {row['name']: row for row in rows}


class Features(Case):
    def test_probe_when_not_started_then_lists_what_the_driver_supports(self):
        document = run_json('probe', OLD).document
        rows = by_name(document['features'])
        self.assertGreater(len(rows), 45)
        self.assertEqual(document['initialised'], None)
        self.assertEqual((rows['graphs']['usable'], rows['graphs']['obstacle']), (True, None))
        self.assertEqual(rows['graphs']['since'], 10000)
        self.assertEqual((rows['memory-pools']['usable'], rows['memory-pools']['obstacle']), (False, 'version'))
        self.assertEqual(rows['memory-pools']['message'],
                         'memory-pools: cuMemPoolCreate needs CUDA 11.2; this driver is CUDA 11.0.')
        usable = sum(row['usable'] for row in rows.values())
        self.assertIn(f'the driver supports {usable} of {len(rows)}', run('probe', OLD).out.decode())

    def test_probe_when_started_then_lists_the_features_of_each_gpu(self):
        document = run_json('probe', NEW, '--devices', SOFTCUDA_DEVICES='2').document
        self.assertEqual(len(document['devices']), 2)
        for device in document['devices']:
            rows = by_name(device['features'])
            self.assertEqual([row['name'] for row in device['features']], [row['name'] for row in document['features']])
            self.assertEqual(rows['virtual-memory']['obstacle'], 'device')
            self.assertIn('VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED is 0', rows['virtual-memory']['message'])
            self.assertIn({'name': 'COMPUTE_CAPABILITY_MAJOR', 'value': 9}, rows['native-code']['values'])
            self.assertIn({'name': 'PEER_COUNT', 'value': 1}, rows['peer-access']['values'])
        text = run('probe', NEW, '--devices', SOFTCUDA_DEVICES='2').out.decode()
        for row in document['features']:
            self.assertRegex(text, rf'\n  (yes|no ) +(yes|no ) +{row["name"]} ')

    def test_feature_when_usable_then_exit_status_is_usable(self):
        answer = run('probe', NEW, '--feature', 'memory-pools')
        self.assertEqual((answer.status, answer.err), (USABLE, b''))
        self.assertTrue(answer.out.startswith(b'GPU 0  yes'), answer.out)
        self.assertIn(b'MEMORY_POOLS_SUPPORTED=1', answer.out)
        self.assertEqual(answer.out.count(b'\n'), 1)

    def test_feature_when_written_as_json_then_it_is_alone(self):
        document = run_json('probe', NEW, '--feature=graphs').document
        self.assertEqual([row['name'] for row in document['features']], ['graphs'])
        self.assertEqual([row['name'] for row in document['devices'][0]['features']], ['graphs'])

    def test_feature_when_unusable_then_says_why(self):
        answer = run('probe', OLD, '--feature', 'memory-pools')
        self.assertEqual((answer.status, answer.out),
                         (UNUSABLE, b'GPU 0  no   cuMemPoolCreate needs CUDA 11.2; this driver is CUDA 11.0.\n'))
        answer = run('probe', '--driver=none', '--feature', 'memory-pools')
        self.assertEqual(answer.status, UNUSABLE)
        self.assertIn(b'disabled on request', answer.out)

    def test_feature_when_unknown_then_refused(self):
        for option, advice in (('--feature=memory_pools', 'did you mean "memory-pools"?'),
                               ('--feature=Graph-Updates', 'did you mean "graph-update"?'),
                               ('--require=multicst', 'did you mean "multicast"?'),
                               ('--feature=segments', 'did you mean "expandable-segments"?'),
                               ('--feature=', 'lists the features'), ('--require=nonsense', 'lists the features')):
            answer = run('probe', NEW, option)
            self.assertEqual(answer.status, USAGE)
            self.assertIn(advice, answer.err.decode(), option[:40])

    def test_require_when_doctor_gets_a_feature_then_refused(self):
        answer = run('doctor', NEW, '--require=graphs')
        self.assertEqual(answer.status, USAGE)
        self.assertIn(b'a feature are answered by cushim probe', answer.err)

    def test_require_when_a_feature_is_usable_then_exit_status_is_usable(self):
        answer = run('probe', NEW, '--require', 'graphs', '--require=memory-pools', '--require=12.0')
        self.assertEqual(answer.status, USABLE)

    def test_require_when_the_driver_is_too_old_for_a_feature_then_advice_names_a_driver(self):
        answer = run_json('probe', OLD, '--require=memory-pools', '--require=graph-conditional-nodes',
                          '--require=graphs')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'too-old'))
        self.assertRegex(answer.document['advice'], r'CUDA 12\.3 needs driver 545 .*Missing: memory-pools, '
                                                    r'graph-conditional-nodes\.')
        self.assertEqual(len(re.findall(b' is missing: ', answer.err)), 2)
        text = run('probe', OLD, '--require=memory-pools')
        for line in (answer.err + text.out + text.err).splitlines():
            self.assertLessEqual(line.count(b'memory-pools: '), 1, line)
        self.assertIn(b'memory-pools is missing: cuMemPoolCreate needs CUDA 11.2', answer.err)

    def test_require_when_a_device_lacks_a_feature_then_the_reason_is_not_the_driver(self):
        answer = run_json('probe', NEW, '--require=virtual-memory')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'lacks-feature'))
        self.assertIn('CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED is 0', answer.document['message'])

    def test_require_when_a_function_of_a_feature_is_hidden_then_advice_names_the_option(self):
        answer = run_json('probe', NEW, '--require=memory-pools', '--hide=MemPoolCreate')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'too-old'))
        self.assertIn('Do not hide required functions: --hide or CUSHIM_HIDE.', answer.document['advice'])

    def test_require_when_the_version_is_limited_then_advice_names_the_limit(self):
        answer = run_json('probe', NEW, '--require=memory-pools', '--max-version=11.1')
        self.assertEqual(answer.status, UNUSABLE)
        self.assertIn('CUSHIM_MAX_VERSION', answer.document['advice'])


if __name__ == '__main__':
    main()
