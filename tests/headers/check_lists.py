# SPDX-License-Identifier: MIT
"""The lists are valid and consistent: entry_points.tsv, errors.inc, and the calls of well-known programs."""
import itertools
import pathlib
import re

import support
from support import lists

import write_lists

# The exported names that the loaders of three programs look up: FFmpeg's and PyTorch's own lists, and the functions
# that Cycles calls. Functions that only Windows has are in no list. FFmpeg's list contains cuModuleGetGlobal without
# _v2, which is the form with 32-bit pointers; FFmpeg means _v2.
USERS = {
    'FFmpeg': '''
        cuInit cuDriverGetVersion cuDeviceGetCount cuDeviceGet cuDeviceGetAttribute cuDeviceGetName
        cuDeviceComputeCapability cuCtxCreate_v2 cuCtxGetCurrent cuCtxSetLimit cuCtxPushCurrent_v2 cuCtxPopCurrent_v2
        cuCtxDestroy_v2 cuMemAlloc_v2 cuMemAllocPitch_v2 cuMemAllocManaged cuMemsetD8Async cuMemFree_v2 cuMemcpy
        cuMemcpyAsync cuMemcpy2D_v2 cuMemcpy2DAsync_v2 cuMemcpyHtoD_v2 cuMemcpyHtoDAsync_v2 cuMemcpyDtoH_v2
        cuMemcpyDtoHAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoDAsync_v2 cuGetErrorName cuGetErrorString cuCtxGetDevice
        cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxGetState
        cuDevicePrimaryCtxReset cuStreamCreate cuStreamQuery cuStreamSynchronize cuStreamDestroy_v2 cuStreamAddCallback
        cuStreamWaitEvent cuEventCreate cuEventDestroy_v2 cuEventSynchronize cuEventQuery cuEventRecord cuLaunchKernel
        cuLinkCreate cuLinkAddData cuLinkComplete cuLinkDestroy cuModuleLoadData cuModuleUnload cuModuleGetFunction
        cuModuleGetGlobal_v2 cuTexObjectCreate cuTexObjectDestroy cuGLGetDevices_v2 cuGraphicsGLRegisterImage
        cuGraphicsUnregisterResource cuGraphicsMapResources cuGraphicsUnmapResources
        cuGraphicsSubResourceGetMappedArray cuGraphicsResourceGetMappedPointer_v2 cuDeviceGetUuid cuDeviceGetUuid_v2
        cuDeviceGetLuid cuDeviceGetByPCIBusId cuDeviceGetPCIBusId cuImportExternalMemory cuDestroyExternalMemory
        cuExternalMemoryGetMappedBuffer cuExternalMemoryGetMappedMipmappedArray cuMipmappedArrayGetLevel
        cuMipmappedArrayDestroy cuImportExternalSemaphore cuDestroyExternalSemaphore cuSignalExternalSemaphoresAsync
        cuWaitExternalSemaphoresAsync cuArrayCreate_v2 cuArray3DCreate_v2 cuArrayDestroy cuEGLStreamProducerConnect
        cuEGLStreamProducerDisconnect cuEGLStreamConsumerDisconnect cuEGLStreamProducerPresentFrame
        cuEGLStreamProducerReturnFrame''',
    'Cycles': '''
        cuInit cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDeviceGetAttribute cuDeviceGetPCIBusId
        cuDeviceGetP2PAttribute cuDeviceCanAccessPeer cuCtxCreate_v2 cuCtxDestroy_v2 cuCtxPushCurrent_v2
        cuCtxPopCurrent_v2 cuCtxEnablePeerAccess cuCtxSynchronize cuModuleLoadData cuModuleGetFunction
        cuModuleGetGlobal_v2 cuModuleUnload cuFuncSetCacheConfig cuLaunchKernel cuOccupancyMaxPotentialBlockSize
        cuMemGetInfo_v2 cuMemAlloc_v2 cuMemFree_v2 cuMemHostAlloc cuMemFreeHost cuMemHostGetDevicePointer_v2
        cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuMemcpy2DUnaligned_v2 cuMemcpy3D_v2
        cuMemsetD8_v2 cuMemsetD8Async cuArray3DCreate_v2 cuArrayDestroy cuTexObjectCreate cuTexObjectDestroy
        cuStreamCreate cuStreamSynchronize cuStreamDestroy_v2 cuGLGetDevices_v2 cuGraphicsGLRegisterBuffer
        cuGraphicsMapResources cuGraphicsUnmapResources cuGraphicsUnregisterResource
        cuGraphicsResourceGetMappedPointer_v2 cuImportExternalMemory cuExternalMemoryGetMappedBuffer
        cuDestroyExternalMemory cuGetErrorName cuGetErrorString''',
    'PyTorch': '''
        cuGetProcAddress cuGetProcAddress_v2 cuGetErrorString cuDeviceGet cuDeviceGetAttribute cuMemAddressReserve
        cuMemRelease cuMemMap cuMemAddressFree cuMemSetAccess cuMemUnmap cuMemCreate cuMemGetAllocationGranularity
        cuMemExportToShareableHandle cuMemImportFromShareableHandle cuMemRetainAllocationHandle
        cuMemGetAllocationPropertiesFromHandle cuMemsetD32Async cuStreamWriteValue32_v2 cuMulticastAddDevice
        cuMulticastBindMem cuMulticastCreate cuMulticastUnbind cuCtxFromGreenCtx cuCtxGetCurrent cuCtxPopCurrent_v2
        cuCtxPushCurrent_v2 cuCtxSetCurrent cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxStreamCreate
        cuDevSmResourceSplitByCount cuDeviceGetDevResource cuDevResourceGenerateDesc cuLogsRegisterCallback
        cuLogsUnregisterCallback cuModuleLoad cuModuleLoadData cuModuleLoadDataEx cuModuleGetFunction cuModuleUnload
        cuOccupancyMaxActiveBlocksPerMultiprocessor cuLaunchKernel cuLaunchCooperativeKernel
        cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRetain cuLinkCreate_v2 cuLinkAddData_v2 cuLinkComplete
        cuFuncSetAttribute cuFuncGetAttribute cuFuncSetCacheConfig cuPointerGetAttribute cuTensorMapEncodeTiled''',
}

def repeated(values):
    return sorted({str(value) for value in values if values.count(value) > 1})


def test_slots_when_numbered_are_each_taken_once(entry_points):
    numbers = [one.slot for one in entry_points]
    return [f'slot {number}: taken by none, or by several'
            for number in sorted(set(numbers) ^ set(range(len(numbers)))) + repeated(numbers)]


def test_entry_points_when_listed_are_grouped_and_ordered(entry_points):
    functions = [name for name, _ in itertools.groupby(one.function for one in entry_points)]
    failures = [f'{name}: its entry points do not stand together' for name in repeated(functions)]
    failures += [f'{name}: stands behind {before}' for before, name in itertools.pairwise(functions) if name < before]
    for name, versions in lists.by_function(entry_points).items():
        if [one.version for one in versions] != sorted({one.version for one in versions}):
            failures.append(f'{name}: not oldest first')
        if [int(one.abi[1:]) for one in versions] != sorted({int(one.abi[1:]) for one in versions}):
            failures.append(f'{name}: its ABI versions do not ascend')
    return failures


def test_entry_point_when_listed_has_the_names_that_follow_from_its_abi(entry_points):
    failures = [f'{name}: exported twice' for name in repeated([one.symbol for one in entry_points])]
    for one in entry_points:
        if one.symbol != one.function + ('' if one.abi == 'v1' else '_' + one.abi):
            failures.append(f'{one.slot_name}: is not exported as {one.symbol}')
        if one.per_thread_symbol not in ('', one.symbol + '_ptsz', one.symbol + '_ptds'):
            failures.append(f'{one.slot_name}: has no per-thread variant {one.per_thread_symbol}')
        failures += [f'{one.slot_name}: no parameter is called {name}, as in the column values'
                     for name in one.values if name not in one.arguments]
        if any(version < one.version for version in one.plain.values()):
            failures.append(f'{one.slot_name}: a plain name meant it before it existed')
        if one.platform not in ('all', 'linux', 'windows'):
            failures.append(f'{one.slot_name}: no platform is called {one.platform}')
    return failures


def test_role_when_an_entry_point_is_listed_is_one_that_is_known(entry_points):
    failures = []
    for one in entry_points:
        role, *flags = one.role.split(',')
        if role not in lists.ROLES or not set(flags) <= set(lists.ROLE_FLAGS):
            failures.append(f'{one.slot_name}: no role is called "{one.role}"')
        needs_stream = role not in ('other', 'synchronous', 'synchronize-context', 'synchronize-event', 'query-event',
                                    'exchange-mode', 'elapsed-time')
        if needs_stream and not any('CUstream' in kind or 'CUlaunchConfig' in kind for kind, _ in one.fields):
            failures.append(f'{one.slot_name}: has the role {role} and no stream')
    for function, versions in lists.by_function(entry_points).items():
        if len({one.role for one in versions}) > 1:
            failures.append(f'{function}: its ABI versions have different roles')
    return failures


def test_list_when_a_version_has_no_driver_branch_is_refused(entry_points):
    write_lists.check_drivers(entry_points)
    newer = lists.EntryPoint({**entry_points[-1].row, 'version': '99010'})
    try:
        write_lists.check_drivers([*entry_points, newer])
    except SystemExit as refusal:
        return [] if 'CUDA 99.1' in str(refusal) and 'drivers.tsv' in str(refusal) else [str(refusal)]
    return ['a list with an entry point of CUDA 99.1 is accepted, and drivers.tsv has no row for that version']


def test_arguments_when_compared_with_parameters_are_their_names(rows):
    failures = []
    for row in rows:
        names = [] if row.parameters == 'void' else [re.search(r'(\w+)$', one)[1] for one in row.parameters.split(',')]
        if names != [one.strip() for one in row.arguments.split(',') if one.strip()]:
            failures.append(f'{row.slot}: ({row.parameters}) but ({row.arguments})')
        if any(re.match(r'cu[A-Z]', name) for name in names):
            failures.append(f'{row.slot}: a parameter has a name that <cuda.h> may rename')
    return failures


def test_program_when_it_switches_finds_every_function(rows):
    names = {row.name for row in rows}
    failures = []
    for user, text in USERS.items():
        called = text.split()
        failures += [f'{user} calls {name}, which has no slot' for name in called if name not in names]
        print(f'{user}: {len(called)} functions')
    return failures


def test_error_when_listed_is_in_order_and_has_a_sentence(setting):
    """check_registry.py compares the values with the types."""
    listed = re.findall(r'^CUSHIM_ERROR\((\w+), (\d+), "([^"]+)"\)$',
                        support.read(support.ROOT / 'loader' / 'lists' / 'errors.inc'), re.M)
    failures = []
    values = [int(value) for _, value, _ in listed]
    if not listed or values != sorted(set(values)):
        failures.append('errors.inc: not in ascending order, or empty')
    failures += [f'{name}: its sentence has a capital or a full stop'
                 for name, _, sentence in listed if sentence[0].isupper() or sentence.endswith('.')]
    if setting.have_cuda_h and setting.version <= support.NEWEST:
        text = setting.c.preprocess('#include <cuda.h>\n', setting.toolkit)
        body = re.search(r'enum cudaError_enum \{(.*?)\}', text, re.S)[1]
        theirs = re.findall(r'(CUDA_\w+)\s*=', body)
        failures += [f'{name}: in <cuda.h>, but not in errors.inc'
                     for name in theirs if name not in {name for name, _, _ in listed}]
        print(f'{len(theirs)} errors in <cuda.h>')
    print(f'{len(listed)} errors')
    return failures


def test_header_when_public_is_installed(setting):
    if setting.installed is None:
        print('not told what is installed')
        return []
    installed = {pathlib.Path(path).resolve() for path in setting.installed}
    public = {path.resolve() for path in support.HEADERS.rglob('*.h*')}
    print(f'{len(installed)} headers are installed')
    return [f'{name}: in one of include/cushim and the installed headers only' for name in sorted(public ^ installed)]


def test_predicate_when_public_begins_with_is_or_has():
    """Also as a function, after the noun of its object: cushim_stream_is_owned()."""
    names = [(path.name, name) for path in sorted(support.HEADERS.glob('*.h'))
             for name in re.findall(r'\bbool (\w+)', support.strip_comments(support.read(path)))]
    print(f'{len(names)} predicates')
    return [f'{header}: {name} is a bool, and its name has neither is_ nor has_'
            for header, name in names if not re.match(r'(cushim_\w+_)?(is|has)_', name)]


def main():
    setting = support.Setting()
    rows, entry_points = support.rows(), lists.read()
    support.finish(
        test_slots_when_numbered_are_each_taken_once(entry_points)
        + test_entry_points_when_listed_are_grouped_and_ordered(entry_points)
        + test_entry_point_when_listed_has_the_names_that_follow_from_its_abi(entry_points)
        + test_role_when_an_entry_point_is_listed_is_one_that_is_known(entry_points)
        + test_list_when_a_version_has_no_driver_branch_is_refused(entry_points)
        + test_arguments_when_compared_with_parameters_are_their_names(rows)
        + test_program_when_it_switches_finds_every_function(rows)
        + test_error_when_listed_is_in_order_and_has_a_sentence(setting)
        + test_header_when_public_is_installed(setting)
        + test_predicate_when_public_begins_with_is_or_has())


main()
