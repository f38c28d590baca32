# SPDX-License-Identifier: MIT
"""The lists are consistent: entry_points.h, symbols.inc, errors.inc, and the calls of well-known programs."""
import pathlib
import re

import support

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

# Areas in which every function has a slot. Streams and capture: in every ABI version; the others: in every version with
# 64-bit pointers and sizes.
STREAM_AREA = re.compile(r'Stream|ThreadExchangeStreamCaptureMode$|LaunchHostFunc$')
WHOLE_AREAS = re.compile(r'''
    Init$ | DriverGetVersion$ | GetError | GetProcAddress$ | Logs | Device | Ctx | GreenCtx | DevResource
    | DevSmResource | Event | Graph(?!ics) | UserObject | Mem(?!cpy3DBatchAsync) | Multicast | Pointer | Ipc | Module
    | Link | Library | Kernel | Func(?!SetBlockShape|SetSharedSize) | LaunchKernel | LaunchCooperative | Occupancy
    | \w*External(Memory|Semaphore)''', re.X)


def retired(versions, position):
    """Whether an entry point is older than 64-bit pointers or than the contexts of CUDA 4.0, and was replaced then."""
    return position + 1 < len(versions) and versions[position + 1][2] in (3020, 4000)


def test_row_when_compared_with_symbols_has_the_same(rows, symbols):
    known = {(function, abi, since) for function, abi, since, _, _ in symbols}
    failures = [f'{row.slot}: symbols.inc has no row ({row.function}, {row.abi}, {row.since})'
                for row in rows if (row.function, row.abi, row.since) not in known]
    for slot in {row.slot for row in rows}:
        if sum(row.slot == slot for row in rows) > 1:
            failures.append(f'{slot}: more than one row')
    return failures


def test_arguments_when_compared_with_parameters_are_their_names(rows):
    failures = []
    for row in rows:
        names = [] if row.parameters == 'void' else [re.search(r'(\w+)$', one)[1] for one in row.parameters.split(',')]
        if names != [one.strip() for one in row.arguments.split(',') if one.strip()]:
            failures.append(f'{row.slot}: ({row.parameters}) but ({row.arguments})')
        if any(re.match(r'cu[A-Z]', name) for name in names):
            failures.append(f'{row.slot}: a parameter has a name that <cuda.h> may rename')
    return failures


def test_area_when_promised_has_all_its_slots(rows, symbols):
    slots = {row.slot for row in rows}
    functions = {}
    for symbol in symbols:
        functions.setdefault(symbol[0], []).append(symbol)
    failures, promised = [], 0
    for function, versions in functions.items():
        for position, (_, abi, since, symbol, _) in enumerate(versions):
            slot = f'{function}_{abi}'
            if STREAM_AREA.match(function) or WHOLE_AREAS.match(function) and not retired(versions, position):
                promised += 1
                if slot not in slots:
                    failures.append(f'{symbol} (CUDA {since}): promised, but has no slot')
            elif slot in slots and retired(versions, position):
                failures.append(f'{slot}: a retired ABI outside of streams')
    print(f'{len(rows)} slots of {len({row.function for row in rows})} functions; {promised} of them by their area')
    return failures


def test_program_when_it_switches_finds_every_function(rows):
    names = {row.name for row in rows}
    failures = []
    for user, text in USERS.items():
        called = text.split()
        failures += [f'{user} calls {name}, which has no slot' for name in called if name not in names]
        print(f'{user}: {len(called)} functions')
    return failures


def test_error_when_listed_agrees_with_the_types(setting):
    listed = re.findall(r'^CUSHIM_ERROR\((\w+), (\d+), "([^"]+)"\)$',
                        support.read(support.ROOT / 'loader' / 'errors.inc'), re.M)
    failures = []
    values = [int(value) for _, value, _ in listed]
    if not listed or values != sorted(set(values)):
        failures.append('errors.inc: not in ascending order, or empty')
    declared = set(re.findall(r'\bCUDA_(?:SUCCESS|ERROR_\w+)', support.strip_comments(
        support.read(support.HEADERS / 'abi' / 'result.h'))))
    failures += [f'{name}: in one of errors.inc and abi/result.h only'
                 for name in sorted(declared ^ {name for name, _, _ in listed})]
    failures += [f'{name}: its sentence has a capital or a full stop'
                 for name, _, sentence in listed if sentence[0].isupper() or sentence.endswith('.')]
    source = '#include "cushim/abi/result.h"\n' + ''.join(
        f'typedef char is_{name}[(int)({name}) == {value} ? 1 : -1];\n' for name, value, _ in listed)
    modes = [support.OWN] + ([setting.toolkit] if setting.have_cuda_h else [])
    for language in setting.languages:
        for mode in modes:
            status, said = language.run(source, mode)
            if status:
                failures.append(f'errors.inc, {language} {mode}:\n{said}')
    if setting.have_cuda_h and setting.version <= 13000:
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
    public = {path.resolve() for path in support.HEADERS.rglob('*.h')}
    print(f'{len(installed)} headers are installed')
    return [f'{name}: in one of include/cushim and the installed headers only' for name in sorted(public ^ installed)]


def main():
    setting = support.Setting()
    rows, symbols = support.rows(), support.symbols()
    support.finish(
        test_row_when_compared_with_symbols_has_the_same(rows, symbols)
        + test_arguments_when_compared_with_parameters_are_their_names(rows)
        + test_area_when_promised_has_all_its_slots(rows, symbols)
        + test_program_when_it_switches_finds_every_function(rows)
        + test_error_when_listed_agrees_with_the_types(setting)
        + test_header_when_public_is_installed(setting))


main()
