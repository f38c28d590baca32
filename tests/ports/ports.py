#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ports.py - builds FFmpeg, hashcat and PyCUDA twice, with their own loaders or linked to libcuda (old) and with subsets
of cushim (new), runs both with each driver, prints a table, and fails where they differ in another way than is expected
here. PROGRAM is ffmpeg, hashcat or pycuda.

  ports.py build PROGRAM DIRECTORY             fetches the sources, and leaves DIRECTORY/run/old and new
  ports.py compare PROGRAM DIRECTORY SOFTCUDA  on a machine without a GPU: softcuda, real drivers, none
  ports.py gpu PROGRAM DIRECTORY [H264]        on a machine with a GPU: results and times

It needs Debian 12 with g++, clang (for FFmpeg's kernels), make, pkg-config, zlib1g-dev, libminizip-dev,
libxxhash-dev, opencl-c-headers, ocl-icd-libopencl1, pocl-opencl-icd (OpenCL without a GPU), python3-dev and
python3-venv, and about 600 MB. FFmpeg is changed as loader/amalgamation/REPLACE.md says, hashcat by HASHCAT_EDITS;
PyCUDA is only linked in another way (src/cuda/README.md).
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
AMALGAMATE = ROOT / 'loader' / 'amalgamation' / 'amalgamate.py'
COMMON = ROOT / 'loader' / 'amalgamation' / 'common.txt'
SMALL = ['-Os', '-fPIC', '-ffunction-sections', '-fdata-sections', '-fno-asynchronous-unwind-tables']
FFMPEG_OPTIONS = '''--optflags=-O1 --disable-everything --disable-autodetect --disable-doc --disable-x86asm --disable-debug
    --disable-network --disable-swscale --disable-swresample --disable-postproc --disable-ffplay --disable-ffprobe
    --enable-ffnvcodec --enable-cuda-llvm --enable-cuvid --enable-nvdec --enable-nvenc
    --enable-encoder=h264_nvenc,rawvideo,wrapped_avframe --enable-decoder=h264_cuvid,rawvideo,wrapped_avframe
    --enable-demuxer=h264 --enable-parser=h264 --enable-bsf=h264_mp4toannexb --enable-muxer=h264,md5,null
    --enable-protocol=file,pipe --enable-indev=lavfi --enable-filter=testsrc2,hwdownload,hwupload,hwupload_cuda
    --enable-filter=scale_cuda,yadif_cuda,bwdif_cuda,thumbnail_cuda,bilateral_cuda,colorspace_cuda,chromakey_cuda
    --enable-filter=overlay_cuda'''.split()
FFMPEG_FILTERS = {
    'upload + download': '',
    'scale_cuda': 'scale_cuda=640:360,',
    'scale_cuda, lanczos': 'scale_cuda=640:360:interp_algo=lanczos,',
    'yadif_cuda': 'yadif_cuda,',
    'bwdif_cuda': 'bwdif_cuda,',
    'thumbnail_cuda': 'thumbnail_cuda=10,',
    'colorspace_cuda': 'colorspace_cuda=range=pc,',
    'chromakey_cuda': 'chromakey_cuda=0x70de77:0.1:0.1,',
}
# Of FFmpeg's eight filters, bilateral_cuda is not here: the original's checksum differs from run to run.
DOWNLOADED = {'chromakey_cuda': 'yuva420p'} # the format of its frames
# Of hashcat's loader: (file, pattern, text in its place).
HASHCAT_EDITS = (
    ('src/ext_cuda.c', r'#include "dynloader\.h"', '#include "cushim_untyped.h"'),
    ('src/ext_cuda.c', r'^  #if   defined \(_WIN\)\n  cuda->lib.*?^  if \(cuda->lib == NULL\) return -1;\n', '''\
  if (cushim_load (NULL) != 0)
  {
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get ();

    if (diagnosis->reason != CUSHIM_REASON_NO_NVIDIA)
      event_log_warning (hashcat_ctx, "CUDA: %s %s", diagnosis->message, diagnosis->advice);

    return -1;
  }
'''),
    ('src/ext_cuda.c', r'hc_dlsym \(\(ptr\)->lib, #cudaname\)', 'cushim_symbol_if_available (#cudaname)'),
    ('src/ext_cuda.c', r'"%s is missing from %s shared library\.", #name, #libname',
     '"%s", cushim_error_last ()->message'),
    ('src/ext_cuda.c', r'^    if \(cuda->lib\)\n    \{\n.*\n    \}\n\n', ''),
    ('src/ext_cuda.c', r'cuda->cuInit \(Flags\)', '(CUresult) cushim_init ()'),
    ('src/ext_cuda.c', r'"cuInit\(\): %s", pStr', '"cuInit(): %s", cushim_diagnosis_get ()->message'),
    ('include/ext_cuda.h', r'^  hc_dynlib_t lib;\n\n', ''),
)
# The most bytes that cushim may add to the stripped program.
GROWTH = {'ffmpeg': 100 << 10, 'hashcat': 80 << 10, 'pycuda': 80 << 10}


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def check_common(cushim):
    """The amalgamation that a release has for programs such as these has the functions of each."""
    names = (cushim / 'cushim_names.h').read_text(encoding='utf-8')
    lacking = set(re.findall(r'^#undef (cu\w+?)(?:_v\d+)?$', names, re.M)) - set(COMMON.read_text('utf-8').split())
    assert not lacking, f'{COMMON.name} lacks {sorted(lacking)}'


def subset(directory, lists):
    """Writes cushim for these functions into DIRECTORY/cushim and compiles it as a static library."""
    cushim = directory / 'cushim'
    cushim.mkdir()
    slots = [word for path in lists for word in ('--slots', path)]
    run(AMALGAMATE, *slots, '--no-streams', cushim)
    check_common(cushim)
    run('gcc', *SMALL, '-DCUSHIM_OWN_TYPES=1', '-c', cushim / 'cushim.c', '-o', directory / 'cushim.o')
    run('ar', 'rcs', directory / 'libcushim.a', directory / 'cushim.o')
    return cushim


def keep(program, copy):
    run('strip', '-o', copy, program)
    print(f'{copy.name}: {copy.stat().st_size:,} bytes', flush=True)


def build_ffmpeg(directory):
    source = directory / 'source'
    cushim = subset(directory, [directory / 'headers' / 'usr' / 'include' / 'ffnvcodec' / 'dynlink_loader.h'])
    shutil.copy(ROOT / 'include' / 'cushim' / 'ffnvcodec.h', cushim)
    # The old program does not refer to the library, so the linker takes nothing from it.
    run('./configure', *FFMPEG_OPTIONS, '--extra-ldflags=-Wl,--gc-sections', f'--extra-cflags=-I{directory}',
        f'--extra-libs={directory / "libcushim.a"} -ldl', cwd=source,
        env={**os.environ, 'PKG_CONFIG_PATH': str(directory)}, stdout=subprocess.DEVNULL)
    run('make', '-s', f'-j{os.cpu_count()}', 'ffmpeg', cwd=source)
    keep(source / 'ffmpeg', directory / 'run' / 'old')
    header = source / 'compat' / 'cuda' / 'dynlink_loader.h'
    text = header.read_text(encoding='utf-8')
    original = '#include <ffnvcodec/dynlink_loader.h>'
    assert text.count(original) == 1
    lines = '#include "cushim/cushim_untyped.h"\n#include "cushim/ffnvcodec.h"\n'
    header.write_text(text.replace(original, lines + original), encoding='utf-8')
    run('make', '-s', f'-j{os.cpu_count()}', 'ffmpeg', cwd=source)
    keep(source / 'ffmpeg', directory / 'run' / 'new')


def edit(path, pattern, text):
    flags = re.M | re.S if '.*?' in pattern else re.M
    changed, count = re.subn(pattern, text, path.read_text(encoding='utf-8'), flags=flags)
    assert count > 0, f'{path.name} is another one: nothing matches {pattern}'
    path.write_text(changed, encoding='utf-8')


def build_hashcat(directory):
    source = directory / 'source'
    options = ['ENABLE_UNRAR=0', 'USE_SYSTEM_ZLIB=1', 'USE_SYSTEM_XXHASH=1', 'USE_SYSTEM_OPENCL=1', 'ENABLE_CUBIN=0']
    # As parts of the program, which then runs on another machine.
    linked = '-Wl,--gc-sections -Wl,--as-needed -Wl,-Bstatic -lxxhash -lminizip -lz -Wl,-Bdynamic'
    make = ['make', '-s', f'-j{os.cpu_count()}', *options]
    run(*make, 'hashcat', cwd=source, env={**os.environ, 'LDFLAGS': linked})
    run(*make, 'modules/module_00000.so', cwd=source)
    keep(source / 'hashcat', directory / 'run' / 'old')
    cushim = subset(directory, [source / name for name in ('src/ext_cuda.c', 'include/ext_cuda.h')])
    shutil.copy(cushim / 'cushim_untyped.h', source / 'include')
    for name, pattern, text in HASHCAT_EDITS:
        edit(source / name, pattern, text)
    (source / 'hashcat').unlink()
    run(*make, 'hashcat', cwd=source, env={**os.environ, 'LDFLAGS': f'{directory / "cushim.o"} {linked}'})
    keep(source / 'hashcat', directory / 'run' / 'new')
    for name in ('modules', 'tunings', 'hashcat.hcstat2'):
        (shutil.copytree if (source / name).is_dir() else shutil.copy)(source / name, directory / 'run' / name)
    # The kernels of one kind of hash, and the file by which hashcat finds the directory.
    shutil.copytree(source / 'OpenCL', directory / 'run' / 'OpenCL',
                    ignore=lambda _, names: [name for name in names if re.match(r'm(?!00000|00400)\d', name)])
    (directory / 'stand-in').mkdir()
    run('gcc', '-shared', '-fPIC', HERE / 'nvrtc.c', '-o', directory / 'stand-in' / 'libnvrtc.so')


def build_pycuda(directory):
    """Compiles PyCUDA's extension once. Its sources stay as they are."""
    source, stand_in, python = directory / 'source', directory / 'stand-in', directory / 'venv' / 'bin' / 'python'
    toolkit = subprocess.run([ROOT / 'tests' / 'drivers' / 'fetch-toolkit', '11.8'], check=True,
                             stdout=subprocess.PIPE, text=True).stdout.strip()
    stand_in.mkdir()
    run('gcc', '-shared', '-x', 'c', os.devnull, '-Wl,-soname,libcuda.so.1', '-o', stand_in / 'libcuda.so')
    (source / 'siteconf.py').write_text(f'CUDA_ENABLE_CURAND = False\nCUDA_INC_DIR = ["{toolkit}/include"]\n'
                                        f'CUDADRV_LIB_DIR = ["{stand_in}"]\n', encoding='utf-8')
    run(python, '-W', 'ignore', 'setup.py', '-q', 'build_ext', '--inplace', f'-j{os.cpu_count()}', cwd=source,
        env={**os.environ, 'CC': 'gcc', 'CXX': 'g++', 'CFLAGS': '-O1 -w'})
    objects = [path for path in (source / 'build').glob('temp*/**/*.o') if not path.name.startswith('_pvt')]
    cushim = directory / 'cushim'
    run(AMALGAMATE, '--no-streams', '--link', *(path for path in objects if path.parent.name == 'wrapper'), cushim)
    check_common(cushim)
    compiled = [directory / f'{name}.o' for name in ('cushim', 'cushim_cuda')]
    for path in compiled:
        run('gcc', *SMALL, '-DCUSHIM_OWN_TYPES=1', '-c', cushim / f'{path.stem}.c', '-o', path)
    for which, linked in (('old', ['-Wl,--no-as-needed', stand_in / 'libcuda.so']),
                          ('new', [*compiled, '-Wl,--gc-sections'])):
        package = directory / 'run' / which / 'pycuda'
        shutil.copytree(source / 'pycuda', package)
        extension = next(package.glob('_driver.*.so'))
        run('g++', '-shared', '-s', *objects, *linked, '-o', extension)
        print(f'{which}: {size(directory / "run" / which):,} bytes', flush=True)


def ffmpeg(filters='', *encoder):
    frames = DOWNLOADED.get(filters.split('=')[0], 'yuv420p')
    return ['-hide_banner', '-v', 'error', '-init_hw_device', 'cuda', '-f', 'lavfi', '-i', 'testsrc2=duration=2', '-vf',
            f'format=yuv420p,hwupload_cuda,{filters}' + ('null' if encoder else f'hwdownload,format={frames}'),
            *(encoder or ('-f', 'md5', '-'))]


# What PyCUDA's user does before the first kernel, which softcuda does not run.
PYCUDA = '''
import numpy, pycuda.driver as cuda
cuda.init()
gpu = cuda.Device(0)
print(cuda.Device.count(), gpu.name(), gpu.compute_capability())
context = gpu.make_context()
numbers = numpy.arange(1000)
assert (cuda.from_device_like(cuda.to_device(numbers), numbers) == numbers).all()
context.pop()
'''
NVENC = ['-c:v', 'h264_nvenc', '-f', 'null', '-']
# What CUSHIM_LOG prints where a driver loads and does not start.
LOGGED = r'cushim\[\d+\]: loaded .*\n(.*\n)*cushim\[\d+\]: cuInit failed: .*(/dev/nvidia|GPU)'
# program: (test, arguments, driver, variables, expected: 'same' text and exit status, 'same: ' with this in the text, or
# what new prints where both fail, or, after 'new:', what new prints where only new has these variables, or, after
# 'only:', what new prints where old fails)
CASES = {
    'ffmpeg': [
        ('upload + download', ffmpeg(), 'none', {}, "This machine has neither an NVIDIA GPU nor NVIDIA's driver"),
        ('upload + download', ffmpeg(), 'real 550', {}, 'CUDA_ERROR_NO_DEVICE: .*(/dev/nvidia|GPU)'),
        ('log of a start', ffmpeg(), 'real 550', {'CUSHIM_LOG': 'stderr'}, LOGGED),
        ('upload + download', ffmpeg(), 'real 470', {}, 'CUDA_ERROR_NO_DEVICE: .*(/dev/nvidia|GPU)'),
        ('upload + download', ffmpeg(), 'real 340', {}, 'needs CUDA 7.0; this driver is CUDA 6.5'),
        ('upload + download', ffmpeg(), '340', {}, 'needs CUDA 7.0; this driver is CUDA 6.5'),
        ('upload + download', ffmpeg(), '470', {}, 'same'),
        ('upload + download', ffmpeg(), '580', {}, 'same'),
        ('upload + download', ffmpeg(), '580', {'CUSHIM_MAX_VERSION': '10.2'}, 'same'),
        ('upload + download', ffmpeg(), '580', {'CUSHIM_HIDE': 'cuMemcpy2DAsync'}, 'new: Cannot load cuMemcpy2DAsync'),
        ('h264_nvenc', ffmpeg('', *NVENC), '580', {}, 'same'),
    ],
    'hashcat': [
        ('devices', ['-I', '--backend-ignore-opencl'], 'none', {}, 'same'),
        ('devices of OpenCL', ['-I'], 'none', {}, 'same: OpenCL Platform ID'),
        ('devices', ['-I', '--backend-ignore-opencl'], 'real 550', {}, r'cuInit\(\): .*(/dev/nvidia|GPU)'),
        ('log of a start', ['-I', '--backend-ignore-opencl'], 'real 550', {'CUSHIM_LOG': 'stderr'}, LOGGED),
        ('devices', ['-I', '--backend-ignore-opencl'], '340', {}, 'needs CUDA 9.0; this driver is CUDA 6.5'),
        ('devices', ['-I', '--backend-ignore-opencl'], '470', {}, 'same'),
        ('devices', ['-I', '--backend-ignore-opencl'], '580', {}, 'same'),
    ],
    'pycuda': [
        ('copy', [PYCUDA], 'none', {}, "cuInit failed: This machine has neither an NVIDIA GPU nor NVIDIA's driver"),
        ('copy', [PYCUDA], 'real 550', {}, 'cuInit failed: .*(/dev/nvidia|GPU)'),
        ('log of a start', [PYCUDA], 'real 550', {'CUSHIM_LOG': 'stderr'}, LOGGED),
        ('copy', [PYCUDA], '340', {}, 'only: 1 softcuda 340'),
        ('copy', [PYCUDA], '470', {}, 'same'),
        ('copy', [PYCUDA], '580', {}, 'same'),
        ('copy', [PYCUDA], '580', {'CUSHIM_MAX_VERSION': '10.2'}, 'same'),
    ],
}


def answer(directory, which, arguments, library, variables):
    """The exit status, and what the program printed, without addresses and what varies."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith('CUSHIM_')}
    home = directory / 'home'
    home.mkdir(exist_ok=True)
    command = [f'./{which}']
    if (directory / 'run' / which).is_dir(): # of a package of Python
        command = [directory / 'venv' / 'bin' / 'python', '-W', 'ignore', '-c']
        variables = {**variables, 'PYTHONPATH': which}
    done = subprocess.run([*command, *arguments], cwd=directory / 'run', check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', timeout=300,
                          env={**inherited, **variables, 'HOME': str(home), 'LD_LIBRARY_PATH': library})
    return done.returncode, re.sub(r'^hashcat .*| @ 0x[0-9a-f]+|Memory\.Free.*', '', done.stdout).strip()


def short(status, text):
    lines = text.splitlines() or ['']
    line = lines[0] if status != 0 and not lines[0].startswith('Traceback') else lines[-1]
    return f'{status}: {line.removeprefix("MD5=")[:72]}'


def size(path):
    """Of a program, or of the extension of a package of Python."""
    return (next(path.glob('pycuda/_driver.*.so')) if path.is_dir() else path).stat().st_size


def library_of(driver, softcuda):
    """The directory of libcuda.so.1, which `none` lacks."""
    if not driver.startswith('real '):
        return softcuda.resolve() / driver
    done = subprocess.run([ROOT / 'tests' / 'drivers' / 'fetch', driver.removeprefix('real ')], check=True,
                          stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def compare(program, directory, softcuda):
    failed = 0
    for test, arguments, driver, variables, expected in CASES[program]:
        library = f'{library_of(driver, softcuda)}:{directory / "stand-in"}'
        old = answer(directory, 'old', arguments, library, {})
        new = answer(directory, 'new', arguments, library, variables)
        if expected.startswith('same'):
            # Threads of FFmpeg print their errors in any order.
            good = old[0] == new[0] and sorted(old[1].splitlines()) == sorted(new[1].splitlines()) \
                and expected.removeprefix('same').removeprefix(': ') in new[1]
        elif expected.startswith('only: '):
            good = old[0] != 0 and new[0] == 0 and expected[6:] in new[1]
        elif expected.startswith('new: '):
            good = old[0] == 0 and new[0] != 0 and expected[5:] in new[1]
        else:
            good = old[0] != 0 and new[0] == old[0] and re.search(expected, new[1])
        failed += not good
        print(f'{program}: {test}, driver {driver}', *(f'{name}={value}' for name, value in variables.items()),
              '' if good else '  FAILED')
        print(f'    old  {short(*old)}\n    new  {short(*new)}')
        if not good or not expected.startswith('same'):
            print('\n'.join(f'         {line}' for line in new[1].splitlines()[:8]))
    sizes = [size(directory / 'run' / name) for name in ('old', 'new')]
    growth = sizes[1] - sizes[0]
    print(f'{program}: stripped: old {sizes[0]:,} bytes, new {growth:+,} bytes, at most {GROWTH[program]:+,}')
    return failed + (growth > GROWTH[program])


def gpu(program, directory, h264=None):
    if program == 'ffmpeg':
        tests = [(name, ffmpeg(filters), {}) for name, filters in FFMPEG_FILTERS.items()]
        tests += [(f'scale_cuda, limit {limit}', ffmpeg('scale_cuda=640:360,'), {'CUSHIM_MAX_VERSION': limit})
                  for limit in ('9.1', '7.0')]
        if h264:
            file = pathlib.Path(h264).resolve()
            tests += [(name, ['-hide_banner', '-v', 'error', *options, '-i', file, '-f', 'md5', '-'], {})
                      for name, options in (('h264_cuvid', ['-c:v', 'h264_cuvid']), ('NVDEC', ['-hwaccel', 'cuda']))]
    elif program == 'pycuda':
        tests = [('copy', [PYCUDA], {})]
    else:
        mask = ['-m', '0', '-a', '3', '--potfile-disable', '--quiet', '--backend-ignore-opencl', '--force',
                '187ef4436122d1cc2f40dc2b92f0eba0', '?l?l'] # the hash of "ab"
        tests = [('md5 of two letters', mask, {})]
    failed = 0
    for test, arguments, variables in tests:
        said, times = {}, {'old': [], 'new': []}
        for _ in range(3):
            for which, seconds in times.items():
                start = time.monotonic()
                said[which] = answer(directory, which, arguments, os.environ.get('LD_LIBRARY_PATH', ''), variables)
                seconds.append(time.monotonic() - start)
        good = said['old'] == said['new'] and said['new'][0] == 0
        failed += not good
        print(f'{program}: {test}: {"same" if good else "FAILED"}; median of 3 in ms: ' + ', '.join(
            f'{which} {statistics.median(seconds) * 1000:.0f}' for which, seconds in times.items()))
        for which in ('old', 'new') if not good else ('new',):
            print(f'    {which}  {short(*said[which])}')
    return failed


def main(verb, program, directory, *more):
    directory = pathlib.Path(directory).resolve()
    if verb == 'build':
        run(HERE / 'fetch', program, directory)
        (directory / 'run').mkdir()
        {'ffmpeg': build_ffmpeg, 'hashcat': build_hashcat, 'pycuda': build_pycuda}[program](directory)
        return 0
    if verb == 'compare':
        return 1 if compare(program, directory, pathlib.Path(*more)) else 0
    return 1 if gpu(program, directory, *more) else 0


if __name__ == '__main__':
    if len(sys.argv) < 4 or sys.argv[1] not in ('build', 'compare', 'gpu') or sys.argv[2] not in CASES:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
