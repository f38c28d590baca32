# SPDX-License-Identifier: MIT
"""reached.py: which declarations of include/cushim/abi a subset keeps. Each declaration stays with some function alone,
and the flags that a function takes as an integer stay with that function.
"""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'loader' / 'amalgamation'))
import reached  # pylint: disable=wrong-import-position
import subset  # pylint: disable=wrong-import-position

ROWS = subset.lists.in_slots(subset.lists.read())
TEXTS = [subset.read(path) for path in subset.TYPES]
HEADERS = [reached.Header(text) for text in TEXTS]
DECLARATIONS = [one for header in HEADERS for one in header.declarations]
# {function: what its manual names beside the types of its prototype}
FLAGS = {
    'cuArray3DCreate': 'CUDA_ARRAY3D_SURFACE_LDST CUDA_ARRAY3D_LAYERED CUDA_ARRAY3D_DEFERRED_MAPPING CUarray_cubemap_face',
    'cuCtxCreate': 'CU_CTX_SCHED_AUTO CU_CTX_MAP_HOST CU_CTX_SYNC_MEMOPS',
    'cuDevicePrimaryCtxSetFlags': 'CU_CTX_SCHED_BLOCKING_SYNC',
    'cuDeviceGetAttribute': 'CU_COMPUTEMODE_PROHIBITED CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST',
    'cuDeviceGetNvSciSyncAttributes': 'CUDA_NVSCISYNC_ATTR_WAIT',
    'cuDevSmResourceSplitByCount': 'CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING',
    'cuEventCreate': 'CU_EVENT_DISABLE_TIMING',
    'cuEventRecordWithFlags': 'CU_EVENT_RECORD_EXTERNAL',
    'cuFuncSetAttribute': 'CU_SHAREDMEM_CARVEOUT_MAX_L1',
    'cuGraphAddDependencies': 'CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC',
    'cuGraphAddKernelNode': 'CU_LAUNCH_PARAM_BUFFER_POINTER CU_LAUNCH_PARAM_END_AS_INT',
    'cuGraphConditionalHandleCreate': 'CU_GRAPH_COND_ASSIGN_DEFAULT',
    'cuGraphDebugDotPrint': 'CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE',
    'cuGraphInstantiateWithFlags': 'CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH',
    'cuGraphicsD3D11RegisterResource': 'CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST',
    'cuGraphicsGLRegisterBuffer': 'CU_GRAPHICS_REGISTER_FLAGS_NONE',
    'cuGraphicsGLRegisterImage': 'CU_GRAPHICS_REGISTER_FLAGS_NONE',
    'cuGraphicsResourceSetMapFlags': 'CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY',
    'cuGreenCtxCreate': 'CU_GREEN_CTX_DEFAULT_STREAM',
    'cuImportExternalMemory': 'CUDA_EXTERNAL_MEMORY_DEDICATED',
    'cuIpcOpenMemHandle': 'CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS CU_IPC_HANDLE_SIZE',
    'cuLaunchCooperativeKernelMultiDevice': 'CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC',
    'cuLaunchKernel': 'CU_LAUNCH_PARAM_BUFFER_POINTER CU_LAUNCH_PARAM_BUFFER_SIZE CU_LAUNCH_PARAM_END '
                      'CU_STREAM_PER_THREAD CU_LAUNCH_KERNEL_REQUIRED_BLOCK_DIM',
    'cuMemAllocManaged': 'CU_MEM_ATTACH_GLOBAL',
    'cuMemCreate': 'CU_MEM_CREATE_USAGE_TILE_POOL CU_MEM_ALLOCATION_COMP_GENERIC',
    'cuMemGetHandleForAddressRange': 'CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE',
    'cuMemHostAlloc': 'CU_MEMHOSTALLOC_DEVICEMAP',
    'cuMemHostRegister': 'CU_MEMHOSTREGISTER_READ_ONLY',
    'cuMemRangeGetAttribute': 'CU_MEM_LOCATION_TYPE_HOST',
    'cuMemcpyBatchAsync': 'CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE',
    'cuModuleLoadDataEx': 'CU_TARGET_COMPUTE_90 CU_PREFER_PTX CU_JIT_CACHE_OPTION_CA CU_COMPUTE_FAMILY_TARGET_BASE',
    'cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags': 'CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE',
    'cuPointerGetAttribute': 'CU_MEMORYTYPE_DEVICE CUDA_POINTER_ATTRIBUTE_P2P_TOKENS',
    'cuSignalExternalSemaphoresAsync': 'CUDA_EXTERNAL_SEMAPHORE_SIGNAL_SKIP_NVSCIBUF_MEMSYNC',
    'cuStreamAttachMemAsync': 'CU_MEM_ATTACH_SINGLE',
    'cuStreamCreate': 'CU_STREAM_NON_BLOCKING CU_STREAM_LEGACY',
    'cuStreamUpdateCaptureDependencies': 'CU_STREAM_SET_CAPTURE_DEPENDENCIES',
    'cuStreamWaitEvent': 'CU_EVENT_WAIT_EXTERNAL',
    'cuStreamWaitValue32': 'CU_STREAM_WAIT_VALUE_GEQ CU_STREAM_WAIT_VALUE_FLUSH',
    'cuStreamWriteValue64': 'CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER',
    'cuTexObjectCreate': 'CU_TRSF_READ_AS_INTEGER CU_TRSF_SRGB CU_TRSF_SEAMLESS_CUBEMAP',
    'cuTexRefSetArray': 'CU_TRSA_OVERRIDE_FORMAT',
    'cuTexRefSetFlags': 'CU_TRSF_READ_AS_INTEGER',
    'cuUserObjectCreate': 'CU_USER_OBJECT_NO_DESTRUCTOR_SYNC',
}


def keep(function):
    """Marks the declarations that stay for all versions of one function."""
    rows = [one for one in ROWS if one.function == function]
    for one in DECLARATIONS:
        one.stays = False
    reached.reach(HEADERS, reached.words(' '.join(one.parameters for one in rows)),
                  {function, *(one.symbol for one in rows)})


def names(declarations):
    return {name for one in declarations for name in one.names}


class Reached(unittest.TestCase):
    def test_declaration_when_a_function_needs_it_then_stays_with_that_function_alone(self):
        every = names(DECLARATIONS)
        self.assertGreater(len(every), 1000)
        stay = set()
        for function in {one.function for one in ROWS}:
            keep(function)
            stay |= names(one for one in DECLARATIONS if one.stays)
        guards = {name for name in every if name.startswith('CUSHIM_ABI_')} | {'CU_UUID_HAS_BEEN_DEFINED'}
        self.assertEqual(sorted(every - guards - stay), [], 'their comments name no function and no kept type')

    def test_flag_when_its_function_is_chosen_then_stays(self):
        for function, flags in FLAGS.items():
            keep(function)
            text = ''.join(header.text() for header in HEADERS)
            for flag in flags.split():
                self.assertRegex(text, rf'\b{flag}\b(?!\()', f'{function} needs {flag}')

    def test_header_when_all_stays_then_nothing_is_lost(self):
        for text in TEXTS:
            header = reached.Header(text)
            for one in header.declarations:
                one.stays = True
            start = text.index('\n#ifndef CUSHIM_ABI_')  # the comment of the header does not stay
            self.assertEqual(sorted(filter(None, header.text().splitlines())),
                             sorted(filter(None, text[start:].splitlines())))

    def test_header_when_nothing_stays_then_is_empty(self):
        self.assertEqual([reached.Header(text).text() for text in TEXTS], [''] * len(TEXTS))


if __name__ == '__main__':
    unittest.main()
