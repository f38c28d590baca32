#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which copy of NVRTC is found, what it is to compile for, and the sentence if none fits. The copies are fakes."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from nvrtc_report import REPORT, WHEEL, WHEEL_13, NvrtcTest, main, soname  # pylint: disable=wrong-import-position

USER = 65534
GPU = {
    'sys/bus/pci/devices/0000:00:06.0/vendor': '0x10de\n', 'sys/bus/pci/devices/0000:00:06.0/class': '0x030200\n',
    'sys/bus/pci/devices/0000:00:06.0/device': '0x2335\n', 'proc/driver/nvidia/version': 'NVRM version: x\n',
    'proc/driver/nvidia/gpus/0000:00:06.0/information':
        'Model: \t NVIDIA H200\nGPU UUID: \t GPU-88913974-b729-bde5-cec9-7908a6baaae2\nBus Location: \t 0000:00:06.0\n'
        'Device Minor: \t 0\nGPU Excluded:\t No\n',
    'dev/nvidiactl': '', 'dev/nvidia0': '',
}


class Rule(NvrtcTest):
    """A virtual environment with 12.9 and 13.5, and drivers and GPUs."""

    def setUp(self):
        super().setUp()
        self.put('venv/' + WHEEL, '12.9')
        self.put('venv/' + WHEEL_13, '13.5')

    def find_in_venv(self, driver, capability, **arguments):
        return self.find(environment={'VIRTUAL_ENV': '/venv'}, driver=driver, capability=capability, root=self.directory,
                         **arguments)

    def test_copy_when_its_ptx_is_of_the_driver_then_fits(self):
        found = self.find_in_venv(12090, 9000)
        self.expect(found, reason='none', version='12090', target='compute_90', is_ptx_usable='1', place='VIRTUAL_ENV',
                    message='', compile='0', path=str(self.directory / 'venv' / WHEEL / 'libnvrtc.so.12'))

    def test_copy_when_both_fit_then_the_newest(self):
        self.expect(self.find_in_venv(13050, 9000), version='13050', target='compute_90', compile='0')

    def test_copy_when_its_ptx_is_too_new_then_compiles_for_the_gpu_itself(self):
        self.expect(self.find_in_venv(12020, 9000), version='12090', target='sm_90', is_ptx_usable='0', compile='0',
                    message='error 222')

    def test_copies_when_of_newer_major_versions_then_none_fits(self):
        self.expect(self.find_in_venv(11040, 8000), reason='too-old', version='0', path='', place='', target='',
                    message='is newer than the driver, which is of CUDA 11.4', advice='nvidia-cuda-nvrtc-cu11')

    def test_newest_when_without_volta_then_an_older_one(self):
        self.expect(self.find_in_venv(13050, 7000), version='12090', target='compute_70', compile='0')

    def test_copies_when_without_kepler_then_none_fits_and_the_advice_is_11(self):
        self.expect(self.find_in_venv(12090, 3070), reason='lacks-feature', message='no longer compiles for this GPU',
                    advice='pip install nvidia-cuda-nvrtc-cu11')

    def test_gpu_when_newer_than_the_copy_then_ptx_of_an_older_one(self):
        self.expect(self.find_in_venv(13050, 14000), target='compute_121', is_ptx_usable='1')
        self.expect(self.find_in_venv(12020, 14000), reason='lacks-feature', message='does not yet compile')

    def test_gpu_when_not_known_then_no_target(self):
        self.expect(self.find_in_venv(12090, 0), version='12090', capability='0', target='')

    def test_gpu_when_on_the_bus_then_is_known_without_a_start(self):
        for path, text in GPU.items():
            file = self.directory / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding='utf-8')
        self.expect(self.find_in_venv(12090, 0), capability='9000', target='compute_90')
        self.expect(self.find_in_venv(12090, 0, ordinal=1), capability='0', target='')
        mps = self.directory / 'tmp/nvidia-mps/control'  # then it is not known which GPU is device 0, but all are alike
        mps.parent.mkdir(parents=True)
        mps.touch()
        self.expect(self.find_in_venv(12090, 0), capability='9000', target='compute_90')

    def test_output_when_cubins_then_the_newest_copy_of_the_driver(self):
        self.put('cuda/lib64', '12.1')
        for output, version, target in ((0, '12010', 'compute_90'), (1, '12090', 'sm_90')):
            found = self.find(environment={'VIRTUAL_ENV': '/venv', 'CUDA_PATH': '/cuda'}, driver=12020, capability=9000,
                              root=self.directory, output=output)
            self.expect(found, version=version, target=target, is_ptx_usable=str(1 - output))
        self.expect(self.find_in_venv(12090, 9000, output=1), version='12090', target='sm_90', is_ptx_usable='1')
        # a GPU that only PTX can serve
        self.expect(self.find_in_venv(13050, 14000, output=1), target='compute_121', is_ptx_usable='1')

    def test_output_when_cubins_then_a_copy_without_the_gpu_comes_later(self):
        self.put('conda/lib', '12.4')
        self.put('cuda/lib64', '12.9')
        for names, version, target in ((['CONDA_PREFIX', 'CUDA_PATH'], '12090', 'sm_120'),
                                       (['CONDA_PREFIX'], '12040', 'compute_90')):
            places = {'CONDA_PREFIX': '/conda', 'CUDA_PATH': '/cuda'}
            found = self.find(environment={name: places[name] for name in names}, driver=12090, capability=12000,
                              output=1, root=self.directory)
            self.expect(found, version=version, target=target)

    def test_driver_when_newer_than_the_list_then_everything_fits(self):
        self.expect(self.find_in_venv(15000, 9000), version='13050', is_ptx_usable='1')

    def test_copy_when_older_than_its_own_list_then_the_list_of_cushim_counts(self):
        self.put('cuda/lib64', '11.0')
        for capability, target in ((8000, 'compute_80'), (9000, 'compute_80'), (7000, 'compute_70')):
            for output in (0, 1):  # it cannot make CUBINs
                self.expect(self.find(environment={'CUDA_PATH': '/cuda'}, driver=11020, capability=capability,
                                      output=output, root=self.directory), version='11000', target=target)

    def test_option_when_wrong_then_an_error(self):
        for argument in ('output=2', 'output=-1', 'driver=-1', 'capability=-1', 'ordinal=-1'):
            done = subprocess.run([REPORT, argument], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1, argument)
            self.assertIn('option', done.stderr)


class Toolkit(NvrtcTest):
    """Toolkits in their usual directories."""

    def find_toolkit(self, **arguments):
        return self.find(root=self.directory, **arguments)

    def test_toolkit_when_newer_than_the_driver_then_says_so(self):
        self.put('usr/local/cuda/lib64', '13.0')
        self.expect(self.find_toolkit(driver=12020), reason='too-old', message='NVRTC 13.0',
                    advice='"nvidia-cuda-nvrtc-cu12<12.3"')

    def test_toolkit_when_without_the_gpu_then_says_so(self):
        self.put('usr/local/cuda/lib64', '13.0')
        self.expect(self.find_toolkit(driver=13000, capability=7000), reason='lacks-feature',
                    message='compute capability 7.0', advice='"nvidia-cuda-nvrtc-cu12<12.10"')

    def test_toolkit_when_no_driver_is_loaded_then_is_found(self):
        self.put('usr/local/cuda-12.9/targets/x86_64-linux/lib', '12.9')
        self.put('usr/local/cuda-13.0/lib64', '13.0')
        self.expect(self.find_toolkit(), version='13000', driver='0', message='No driver is loaded',
                    place='the directory of a Toolkit')

    def test_nothing_when_nothing_is_there_then_it_is_not_of_the_driver(self):
        self.expect(self.find_toolkit(driver=13020), reason='not-found', message='not part of the driver',
                    advice='"nvidia-cuda-nvrtc>=13,<13.3"')
        self.expect(self.find_toolkit(), reason='not-found', advice="Install NVIDIA's driver first")
        self.expect(self.find_toolkit(driver=10020), advice='Install NVRTC 10.2 (a CUDA Toolkit)')

    def test_link_when_to_a_full_name_then_has_its_version(self):
        self.put('usr/local/cuda/lib64', '12.4', builtins=False)
        directory = self.directory / 'usr/local/cuda/lib64'
        (directory / 'libnvrtc.so.12').rename(directory / 'libnvrtc.so.12.4.127')
        (directory / 'libnvrtc.so.12').symlink_to('libnvrtc.so.12.4.127')
        self.expect(self.find_toolkit(driver=11080), message='NVRTC 12.4 (')


class Places(NvrtcTest):
    """The order of the places."""

    def test_debian_when_without_runpath_then_its_builtins_are_found(self):
        self.put('usr/lib/x86_64-linux-gnu', '12.4')
        self.expect(self.find(environment={'CUDA_PATH': 'usr'}, driver=12040, capability=9000), version='12040',
                    place='CUDA_PATH', target='compute_90', compile='0')

    def test_debian_when_older_than_the_gpu_then_ptx_of_its_newest(self):
        self.put('usr/lib/x86_64-linux-gnu', '11.2')
        self.expect(self.find(environment={'CUDA_PATH': 'usr'}, driver=12040, capability=9000), version='11020',
                    target='compute_86', compile='0')

    def test_copy_when_beside_the_program_without_builtins_then_says_so(self):
        program = shutil.copy(REPORT, self.directory)
        self.put('.', '12.9', builtins=False)
        self.expect(self.find(report=program, driver=12090, root=self.directory / 'none'), reason='not-found')
        found = self.find(report=program, driver=12080, capability=9000)
        if found['reason'] != 'none':  # else this machine has another one
            self.expect(found, reason='needs-library', message='lacks its second file, libnvrtc-builtins.so.12.9',
                        advice='Install the file again')

    def test_copy_when_beside_the_program_or_in_lib_then_is_found(self):
        (self.directory / 'bin').mkdir()
        program = shutil.copy(REPORT, self.directory / 'bin')
        for directory in ('lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib', 'lib', 'bin'):
            self.put(directory, '12.9')
            self.expect(self.find(report=program, driver=12090), version='12090', place='beside the program',
                        path=str(self.directory / directory / 'libnvrtc.so.12'), compile='0')

    def test_library_path_when_it_has_a_copy_then_is_found(self):
        self.put('lib', '12.1')
        self.expect(self.find(environment={'LD_LIBRARY_PATH': 'lib'}, driver=12020, capability=9000), version='12010',
                    place='LD_LIBRARY_PATH', compile='0')

    def test_loader_when_it_alone_finds_a_copy_then_is_asked(self):
        program = shutil.copy(REPORT, self.directory)
        self.put('of_loader', '12.1')
        self.expect(self.find(report=program, driver=12010, capability=9000), version='12010', compile='0',
                    place='the search of the dynamic loader')

    def test_loader_when_its_cache_has_a_copy_then_is_found(self):
        copy, cache, conf = pathlib.Path(self.put('of_cache', '12.1')), self.directory / 'cache', self.directory / 'conf'
        conf.write_text(f'{copy.parent}\n', encoding='utf-8')
        view = ['unshare', '-rm', 'sh', '-c', 'mount --bind "$0" /etc/ld.so.cache && exec "$@"', cache]
        made = subprocess.run(['/sbin/ldconfig', '-X', '-C', cache, '-f', conf], check=False)
        if made.returncode != 0 or subprocess.run([*view, 'true'], stderr=subprocess.PIPE, check=False).returncode != 0:
            self.skipTest('the dynamic loader cannot have a cache of its own here')
        self.expect(self.find(under=view, driver=12010, capability=9000), version='12010', compile='0',
                    place='the search of the dynamic loader')
        copy.write_bytes(copy.read_bytes()[:5000])
        self.expect(self.find(under=view, driver=12010), version='0', reason='damaged')

    def test_library_path_when_it_has_other_builtins_then_those_of_the_copy_are_used(self):
        self.put('venv/' + WHEEL, '12.9')
        wrong = pathlib.Path(self.put('wrong', '12.1')).parent
        (wrong / soname('12.1')).unlink()
        (wrong / 'libnvrtc-builtins.so.12.1').rename(wrong / 'libnvrtc-builtins.so.12.9')
        self.expect(self.find(environment={'VIRTUAL_ENV': 'venv', 'LD_LIBRARY_PATH': 'wrong'}, driver=12090,
                              capability=9000), version='12090', compile='0')

    def test_packages_when_the_process_has_opened_one_then_are_searched(self):
        self.put('venv/' + WHEEL, '12.9')
        extension = self.put('venv/lib/python3.11/site-packages/package', '11.8', builtins=False)
        renamed = pathlib.Path(extension).with_name('extension.so')
        pathlib.Path(extension).rename(renamed)
        self.expect(self.find(driver=12090, capability=9000, open=renamed), version='12090', compile='0',
                    place='a Python package of this process')

    def test_open_when_it_fits_then_is_taken(self):
        open_one = self.put('somewhere', '12.1')
        self.put('somewhere', '13.0')
        self.put('venv/' + WHEEL_13, '13.0')
        self.expect(self.find(environment={'VIRTUAL_ENV': 'venv'}, driver=13000, capability=9000, open=open_one),
                    version='12010', place='open in this process', path=str(open_one), compile='0')

    def test_open_when_it_does_not_fit_then_another_one_is_taken(self):
        self.put('venv/' + WHEEL, '12.9')
        open_one = self.put('somewhere', '13.5')
        self.expect(self.find(environment={'VIRTUAL_ENV': 'venv'}, driver=12090, capability=9000, open=open_one),
                    version='12090', place='VIRTUAL_ENV', compile='0')

    def test_conda_when_it_has_a_copy_then_is_found(self):
        for directory in ('conda/' + WHEEL, 'conda/targets/x86_64-linux/lib', 'conda/lib'):
            path = self.put(directory, '12.9')
            self.expect(self.find(environment={'CONDA_PREFIX': 'conda'}, driver=12090, capability=9000), version='12090',
                        place='CONDA_PREFIX', path=str(path), compile='0')
            if directory != 'conda/lib':
                shutil.rmtree(self.directory / 'conda')

    def test_variables_when_several_have_a_copy_then_the_first_place(self):
        places = {'VIRTUAL_ENV': WHEEL, 'CONDA_PREFIX': 'lib', 'CUDA_PATH': 'lib64', 'CUDA_HOME': 'lib64'}
        for name, directory in places.items():
            self.put(f'{name}/{directory}', '12.9')
        left = list(places)
        while left:
            self.expect(self.find(environment={name: name for name in left}, driver=12090, capability=9000),
                        place=left[0])
            left.pop(0)

    def test_program_when_set_user_id_then_variables_are_ignored(self):
        if os.geteuid() != 0:
            self.skipTest('only root can make a program that runs as another user')
        program = pathlib.Path(shutil.copy(REPORT, self.directory))
        self.put('venv/' + WHEEL, '12.9')
        self.put('of_loader', '12.9')
        self.put('root/venv/' + WHEEL, '12.9')
        self.put('root/usr/local/cuda/lib64', '12.1')
        settings = {'VIRTUAL_ENV': 'venv', 'LD_LIBRARY_PATH': 'of_loader', 'CUDA_PATH': 'of_loader'}
        for path in (self.directory, *self.directory.rglob('*')):
            path.chmod(0o755)
        os.chown(program, 1, 1)
        program.chmod(0o4755)
        as_user = {'user': USER, 'group': USER, 'extra_groups': []}
        try:
            found = self.find(report=program, environment=settings, process=as_user, driver=12090, capability=9000)
        except PermissionError:
            self.skipTest('this root cannot become another user')
        if found['privileged'] == '0':
            self.skipTest('programs in the temporary directory get no rights from their files here')
        self.assertIn(found['place'], ('', 'the directory of a Toolkit'))
        self.expect(self.find(report=program, environment={'VIRTUAL_ENV': '/venv'}, process=as_user, driver=12090,
                              capability=9000, root=self.directory / 'root'), version='12010', place='the directory of a Toolkit')
        program.chmod(0o755)
        self.expect(self.find(report=program, environment={'VIRTUAL_ENV': 'venv'}, process=as_user, driver=12090,
                              capability=9000), version='12090', place='VIRTUAL_ENV')


class Broken(NvrtcTest):
    """Files that cannot be used."""

    def test_file_when_truncated_then_the_process_lives_and_another_one_is_found(self):
        broken = pathlib.Path(self.put('venv/' + WHEEL, '12.9'))
        broken.write_bytes(broken.read_bytes()[:5000])
        self.expect(self.find(environment={'VIRTUAL_ENV': '/venv'}, driver=12090, root=self.directory), reason='damaged',
                    message='the file is incomplete', advice='Install the file again')
        self.put('cuda/lib64', '12.1')
        self.expect(self.find(environment={'VIRTUAL_ENV': 'venv', 'CUDA_PATH': 'cuda'}, driver=12090, capability=9000),
                    version='12010', place='CUDA_PATH', compile='0')

    def test_builtins_when_truncated_then_the_process_lives(self):
        self.put('venv/' + WHEEL, '12.9')
        broken = self.directory / 'venv' / WHEEL / 'libnvrtc-builtins.so.12.9'
        broken.write_bytes(broken.read_bytes()[:5000])
        self.expect(self.find(environment={'VIRTUAL_ENV': '/venv'}, driver=12090, root=self.directory), reason='damaged',
                    message='libnvrtc-builtins.so.12.9, which NVRTC needs, cannot be used: the file is incomplete')

    def test_file_when_truncated_where_the_dynamic_loader_looks_then_it_is_not_opened(self):
        program = shutil.copy(REPORT, self.directory)
        second = f'none;{self.directory}/lib'
        for directory, environment in (('lib', {'LD_LIBRARY_PATH': 'lib'}), ('lib', {'LD_LIBRARY_PATH': second}),
                                       ('of_loader', {})):
            for truncated in (soname('12.9'), 'libnvrtc-builtins.so.12.9'):
                broken = pathlib.Path(self.put(directory, '12.9')).with_name(truncated)
                broken.write_bytes(broken.read_bytes()[:5000])
                found = self.find(report=program, environment=environment, driver=12090, capability=9000)
                if found['reason'] != 'none':  # else this machine has another one
                    self.expect(found, reason='damaged')
            shutil.rmtree(broken.parent)

    def test_file_when_not_nvrtc_then_says_so(self):
        target = pathlib.Path(self.put('venv/' + WHEEL, '12.9'))
        shutil.copy(target.with_name('libnvrtc-builtins.so.12.9'), target)
        self.expect(self.find(environment={'VIRTUAL_ENV': '/venv'}, driver=12090, root=self.directory),
                    reason='not-a-driver', message='is not NVRTC')

    def test_names_when_they_lie_then_the_library_decides(self):
        self.put('venv/' + WHEEL, '12.9', builtins=False)
        shutil.copy(pathlib.Path(self.put('other', '12.1')).with_name('libnvrtc-builtins.so.12.1'),
                    self.directory / 'venv' / WHEEL)  # looks like 12.1, whose PTX a driver of 12.2 compiles
        found = self.find(environment={'VIRTUAL_ENV': '/venv'}, driver=12020, capability=9000, root=self.directory)
        self.expect(found, reason='needs-library', message='libnvrtc-builtins.so.12.9')

    def test_name_when_that_of_a_better_version_then_a_copy_that_is_one_comes_first(self):
        liar = pathlib.Path(self.put('liar/lib64', '12.9'))
        liar.rename(liar.with_name('libnvrtc.so.12.1.105'))
        self.put('cuda/lib64', '12.1')
        for environment, version, target in (({'CUDA_PATH': '/liar', 'CUDA_HOME': '/cuda'}, '12010', 'compute_90'),
                                             ({'CUDA_PATH': '/liar'}, '12090', 'sm_90')):
            self.expect(self.find(environment=environment, driver=12020, capability=9000, root=self.directory),
                        version=version, target=target, compile='0')


if __name__ == '__main__':
    main()
