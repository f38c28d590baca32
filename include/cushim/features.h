/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The list of features, and what each one needs. feature.h has the functions that compare it with a machine.
 *
 *     CUSHIM_FEATURE(id, name, description, source)
 *     CUSHIM_FEATURE_SLOT(id, slot)
 *     CUSHIM_FEATURE_SINCE(id, version)
 *     CUSHIM_FEATURE_NOT_ON(id, platform)
 *     CUSHIM_FEATURE_DEVICE(id, attribute, test, wanted)
 *     CUSHIM_FEATURE_PROPERTY(id, property, test, wanted)
 *
 * A feature is a row CUSHIM_FEATURE and the rows that follow it:
 *
 * - CUSHIM_FEATURE: CUSHIM_FEATURE_<id> is the feature and `name` its name as text. `description` says what a program
 *   can do with it. `source` names the origin of the rules. It ends with "not seen on hardware" if no test has used the
 *   feature on a GPU.
 * - SLOT: a slot that the feature needs, the newest first. The CUDA version that the feature needs is that of its
 *   newest slot.
 * - SINCE: a CUDA version that the feature needs for a reason that no slot shows, such as a device attribute of that
 *   version. It stands before the slots, which are older.
 * - NOT_ON: a platform on which the feature does not work, whatever the driver reports: WINDOWS, WSL, or
 *   NO_IMEX_CHANNEL, a machine without a channel (/dev/nvidia-caps-imex-channels) that this process may open.
 * - DEVICE: a device attribute, CU_DEVICE_ATTRIBUTE_<attribute>. `test` is AT_LEAST: the attribute must be `wanted` or
 *   more; HAS: it must have the bits `wanted`; IF_KNOWN: as AT_LEAST, but drivers that do not know the attribute also
 *   support the feature; ANY: it is not a condition, but a program that uses the feature needs the value.
 * - PROPERTY: the same for CUSHIM_PROPERTY_<property>, a value that another call of the driver returns (enum
 *   cushim_feature_property in feature.h).
 *
 * Define the macros that you need before including this file. They default to nothing, and the file undefines them at
 * its end. Rows of features are only added, at the end.
 */
#ifndef CUSHIM_FEATURE
#    define CUSHIM_FEATURE(id, name, description, source)
#endif
#ifndef CUSHIM_FEATURE_SLOT
#    define CUSHIM_FEATURE_SLOT(id, slot)
#endif
#ifndef CUSHIM_FEATURE_SINCE
#    define CUSHIM_FEATURE_SINCE(id, version)
#endif
#ifndef CUSHIM_FEATURE_NOT_ON
#    define CUSHIM_FEATURE_NOT_ON(id, platform)
#endif
#ifndef CUSHIM_FEATURE_DEVICE
#    define CUSHIM_FEATURE_DEVICE(id, attribute, test, wanted)
#endif
#ifndef CUSHIM_FEATURE_PROPERTY
#    define CUSHIM_FEATURE_PROPERTY(id, property, test, wanted)
#endif

/* clang-format off */

/* ---- Memory ---- */

CUSHIM_FEATURE(UNIFIED_ADDRESSING, "unified-addressing", "Host and device memory share one address space.",
               "CUDA manual, cuDeviceGetAttribute")
CUSHIM_FEATURE_SLOT(UNIFIED_ADDRESSING, PointerGetAttribute_v1)
CUSHIM_FEATURE_DEVICE(UNIFIED_ADDRESSING, UNIFIED_ADDRESSING, AT_LEAST, 1)

CUSHIM_FEATURE(STREAM_ORDERED_ALLOCATION, "stream-ordered-allocation",
               "Allocates and frees device memory in the order of a stream.", "CUDA manual, cuMemAllocAsync")
CUSHIM_FEATURE_SLOT(STREAM_ORDERED_ALLOCATION, MemAllocAsync_v1)
CUSHIM_FEATURE_SLOT(STREAM_ORDERED_ALLOCATION, MemFreeAsync_v1)
CUSHIM_FEATURE_DEVICE(STREAM_ORDERED_ALLOCATION, MEMORY_POOLS_SUPPORTED, AT_LEAST, 1)

CUSHIM_FEATURE(MEMORY_POOLS, "memory-pools", "Allocates device memory from pools that the program creates.",
               "CUDA manual, cuMemPoolCreate")
CUSHIM_FEATURE_SLOT(MEMORY_POOLS, MemPoolCreate_v1)
CUSHIM_FEATURE_SLOT(MEMORY_POOLS, MemAllocFromPoolAsync_v1)
CUSHIM_FEATURE_DEVICE(MEMORY_POOLS, MEMORY_POOLS_SUPPORTED, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(MEMORY_POOLS, MEMPOOL_SUPPORTED_HANDLE_TYPES, ANY, 0)

CUSHIM_FEATURE(POOL_DESCRIPTORS, "pool-descriptors", "Shares a memory pool with other processes by a file descriptor.",
               "CUDA manual, cuMemPoolExportToShareableHandle; WSL (not seen on hardware): NVIDIA/cuda-python#1045, "
               "rapidsai/rmm#1051")
CUSHIM_FEATURE_SINCE(POOL_DESCRIPTORS, 11030)
CUSHIM_FEATURE_SLOT(POOL_DESCRIPTORS, MemPoolCreate_v1)
CUSHIM_FEATURE_SLOT(POOL_DESCRIPTORS, MemPoolExportToShareableHandle_v1)
CUSHIM_FEATURE_SLOT(POOL_DESCRIPTORS, MemPoolImportFromShareableHandle_v1)
CUSHIM_FEATURE_NOT_ON(POOL_DESCRIPTORS, WINDOWS)
CUSHIM_FEATURE_NOT_ON(POOL_DESCRIPTORS, WSL)
CUSHIM_FEATURE_DEVICE(POOL_DESCRIPTORS, MEMPOOL_SUPPORTED_HANDLE_TYPES, HAS, 1)

CUSHIM_FEATURE(POOL_FABRIC_HANDLES, "pool-fabric-handles",
               "Shares a memory pool with other machines of an NVLink fabric.",
               "CUDA manual, CUmemPoolProps; the channel: CUmemAllocationHandleType, and observed with driver 580 "
               "on an H200")
CUSHIM_FEATURE_SINCE(POOL_FABRIC_HANDLES, 12030)
CUSHIM_FEATURE_SLOT(POOL_FABRIC_HANDLES, MemPoolCreate_v1)
CUSHIM_FEATURE_SLOT(POOL_FABRIC_HANDLES, MemPoolExportToShareableHandle_v1)
CUSHIM_FEATURE_SLOT(POOL_FABRIC_HANDLES, MemPoolImportFromShareableHandle_v1)
CUSHIM_FEATURE_DEVICE(POOL_FABRIC_HANDLES, MEMPOOL_SUPPORTED_HANDLE_TYPES, HAS, 8)
CUSHIM_FEATURE_NOT_ON(POOL_FABRIC_HANDLES, NO_IMEX_CHANNEL)

CUSHIM_FEATURE(VIRTUAL_MEMORY, "virtual-memory", "Reserves addresses and maps device memory to them.",
               "CUDA manual, cuMemCreate")
CUSHIM_FEATURE_SLOT(VIRTUAL_MEMORY, MemCreate_v1)
CUSHIM_FEATURE_SLOT(VIRTUAL_MEMORY, MemAddressReserve_v1)
CUSHIM_FEATURE_SLOT(VIRTUAL_MEMORY, MemMap_v1)
CUSHIM_FEATURE_SLOT(VIRTUAL_MEMORY, MemSetAccess_v1)
CUSHIM_FEATURE_SLOT(VIRTUAL_MEMORY, MemGetAllocationGranularity_v1)
CUSHIM_FEATURE_DEVICE(VIRTUAL_MEMORY, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, AT_LEAST, 1)
CUSHIM_FEATURE_PROPERTY(VIRTUAL_MEMORY, GRANULARITY, ANY, 0)
CUSHIM_FEATURE_PROPERTY(VIRTUAL_MEMORY, RECOMMENDED_GRANULARITY, ANY, 0)
CUSHIM_FEATURE_DEVICE(VIRTUAL_MEMORY, HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, ANY, 0)
CUSHIM_FEATURE_DEVICE(VIRTUAL_MEMORY, HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, ANY, 0)
CUSHIM_FEATURE_DEVICE(VIRTUAL_MEMORY, HANDLE_TYPE_FABRIC_SUPPORTED, ANY, 0)

CUSHIM_FEATURE(VIRTUAL_MEMORY_VISIBLE, "virtual-memory-visible",
               "Uses virtual memory with device numbers that CUDA_VISIBLE_DEVICES changes.",
               "NVIDIA/nccl, src/misc/cudawrap.cc; earlier versions of NCCL also need gpu-direct-rdma-virtual")
CUSHIM_FEATURE_SINCE(VIRTUAL_MEMORY_VISIBLE, 12000)
CUSHIM_FEATURE_SLOT(VIRTUAL_MEMORY_VISIBLE, MemCreate_v1)
CUSHIM_FEATURE_SLOT(VIRTUAL_MEMORY_VISIBLE, MemMap_v1)
CUSHIM_FEATURE_DEVICE(VIRTUAL_MEMORY_VISIBLE, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(VIRTUAL_MEMORY_VISIBLE, GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, ANY, 0)

CUSHIM_FEATURE(MEMORY_DESCRIPTORS, "memory-descriptors",
               "Shares virtual memory with other processes by a file descriptor.",
               "CUDA manual, cuMemExportToShareableHandle")
CUSHIM_FEATURE_SLOT(MEMORY_DESCRIPTORS, MemCreate_v1)
CUSHIM_FEATURE_SLOT(MEMORY_DESCRIPTORS, MemExportToShareableHandle_v1)
CUSHIM_FEATURE_SLOT(MEMORY_DESCRIPTORS, MemImportFromShareableHandle_v1)
CUSHIM_FEATURE_DEVICE(MEMORY_DESCRIPTORS, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(MEMORY_DESCRIPTORS, HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, AT_LEAST, 1)

CUSHIM_FEATURE(MEMORY_WIN32_HANDLES, "memory-win32-handles",
               "Shares virtual memory with other processes by a Win32 handle.",
               "CUDA manual, cuMemExportToShareableHandle; not seen on hardware")
CUSHIM_FEATURE_SLOT(MEMORY_WIN32_HANDLES, MemCreate_v1)
CUSHIM_FEATURE_SLOT(MEMORY_WIN32_HANDLES, MemExportToShareableHandle_v1)
CUSHIM_FEATURE_SLOT(MEMORY_WIN32_HANDLES, MemImportFromShareableHandle_v1)
CUSHIM_FEATURE_DEVICE(MEMORY_WIN32_HANDLES, HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, AT_LEAST, 1)

CUSHIM_FEATURE(MEMORY_FABRIC_HANDLES, "memory-fabric-handles",
               "Shares virtual memory with other machines of an NVLink fabric.",
               "CUDA manual, cuMemExportToShareableHandle; the channel: as for pool-fabric-handles")
CUSHIM_FEATURE_SINCE(MEMORY_FABRIC_HANDLES, 12030)
CUSHIM_FEATURE_SLOT(MEMORY_FABRIC_HANDLES, MemCreate_v1)
CUSHIM_FEATURE_SLOT(MEMORY_FABRIC_HANDLES, MemExportToShareableHandle_v1)
CUSHIM_FEATURE_SLOT(MEMORY_FABRIC_HANDLES, MemImportFromShareableHandle_v1)
CUSHIM_FEATURE_DEVICE(MEMORY_FABRIC_HANDLES, HANDLE_TYPE_FABRIC_SUPPORTED, AT_LEAST, 1)
CUSHIM_FEATURE_NOT_ON(MEMORY_FABRIC_HANDLES, NO_IMEX_CHANNEL)

CUSHIM_FEATURE(EXPANDABLE_SEGMENTS, "expandable-segments",
               "Supports the expandable segments of PyTorch's allocator.",
               "pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp")
CUSHIM_FEATURE_SLOT(EXPANDABLE_SEGMENTS, MemCreate_v1)
CUSHIM_FEATURE_SLOT(EXPANDABLE_SEGMENTS, MemAddressReserve_v1)
CUSHIM_FEATURE_SLOT(EXPANDABLE_SEGMENTS, MemMap_v1)
CUSHIM_FEATURE_SLOT(EXPANDABLE_SEGMENTS, MemUnmap_v1)
CUSHIM_FEATURE_SLOT(EXPANDABLE_SEGMENTS, MemSetAccess_v1)
CUSHIM_FEATURE_SLOT(EXPANDABLE_SEGMENTS, MemExportToShareableHandle_v1)
CUSHIM_FEATURE_NOT_ON(EXPANDABLE_SEGMENTS, WINDOWS)
CUSHIM_FEATURE_DEVICE(EXPANDABLE_SEGMENTS, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(EXPANDABLE_SEGMENTS, HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(EXPANDABLE_SEGMENTS, GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, ANY, 0)

CUSHIM_FEATURE(MULTICAST, "multicast", "Writes to the memory of several devices through one address.",
               "CUDA manual, cuMulticastCreate")
CUSHIM_FEATURE_SLOT(MULTICAST, MulticastCreate_v1)
CUSHIM_FEATURE_SLOT(MULTICAST, MulticastAddDevice_v1)
CUSHIM_FEATURE_SLOT(MULTICAST, MulticastBindMem_v1)
CUSHIM_FEATURE_SLOT(MULTICAST, MemCreate_v1)
CUSHIM_FEATURE_DEVICE(MULTICAST, MULTICAST_SUPPORTED, AT_LEAST, 1)

CUSHIM_FEATURE(PEER_ACCESS, "peer-access", "Accesses the memory of another device directly.",
               "CUDA manual, cuDeviceCanAccessPeer")
CUSHIM_FEATURE_SLOT(PEER_ACCESS, CtxEnablePeerAccess_v1)
CUSHIM_FEATURE_SLOT(PEER_ACCESS, DeviceCanAccessPeer_v1)
CUSHIM_FEATURE_PROPERTY(PEER_ACCESS, PEER_COUNT, AT_LEAST, 1)

CUSHIM_FEATURE(IPC_EVENTS, "ipc-events", "Shares an event with other processes.",
               "CUDA manual, cuIpcGetEventHandle; WSL (not seen on hardware): unreliable, though the CUDA on WSL guide "
               "names it from driver 510: NVIDIA/numba-cuda#488, sgl-project/sglang#35385")
CUSHIM_FEATURE_SLOT(IPC_EVENTS, IpcGetEventHandle_v1)
CUSHIM_FEATURE_SLOT(IPC_EVENTS, IpcOpenEventHandle_v1)
CUSHIM_FEATURE_NOT_ON(IPC_EVENTS, WSL)
CUSHIM_FEATURE_DEVICE(IPC_EVENTS, UNIFIED_ADDRESSING, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(IPC_EVENTS, IPC_EVENT_SUPPORTED, IF_KNOWN, 1)

CUSHIM_FEATURE(IPC_MEMORY, "ipc-memory", "Shares an ordinary allocation with other processes.",
               "CUDA manual, cuIpcGetMemHandle; WSL (not seen on hardware): unreliable, though the CUDA on WSL guide "
               "names it from driver 510: NVIDIA/numba-cuda#488, sgl-project/sglang#35385")
CUSHIM_FEATURE_SLOT(IPC_MEMORY, IpcGetMemHandle_v1)
CUSHIM_FEATURE_SLOT(IPC_MEMORY, IpcCloseMemHandle_v1)
CUSHIM_FEATURE_NOT_ON(IPC_MEMORY, WSL)
CUSHIM_FEATURE_DEVICE(IPC_MEMORY, UNIFIED_ADDRESSING, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(IPC_MEMORY, IPC_EVENT_SUPPORTED, IF_KNOWN, 1)

CUSHIM_FEATURE(GPU_DIRECT_RDMA, "gpu-direct-rdma",
               "Lets other PCIe devices, such as network cards, access device memory.",
               "CUDA manual, cuFlushGPUDirectRDMAWrites; GPUDirect RDMA guide")
CUSHIM_FEATURE_SLOT(GPU_DIRECT_RDMA, FlushGPUDirectRDMAWrites_v1)
CUSHIM_FEATURE_NOT_ON(GPU_DIRECT_RDMA, WINDOWS)
CUSHIM_FEATURE_DEVICE(GPU_DIRECT_RDMA, GPU_DIRECT_RDMA_SUPPORTED, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(GPU_DIRECT_RDMA, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, ANY, 0)
CUSHIM_FEATURE_DEVICE(GPU_DIRECT_RDMA, GPU_DIRECT_RDMA_WRITES_ORDERING, ANY, 0)

CUSHIM_FEATURE(GPU_DIRECT_RDMA_VIRTUAL, "gpu-direct-rdma-virtual", "Lets other PCIe devices access virtual memory.",
               "CUDA manual, CUmemAllocationProp")
CUSHIM_FEATURE_SINCE(GPU_DIRECT_RDMA_VIRTUAL, 11000)
CUSHIM_FEATURE_SLOT(GPU_DIRECT_RDMA_VIRTUAL, MemCreate_v1)
CUSHIM_FEATURE_NOT_ON(GPU_DIRECT_RDMA_VIRTUAL, WINDOWS)
CUSHIM_FEATURE_DEVICE(GPU_DIRECT_RDMA_VIRTUAL, GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, AT_LEAST, 1)

CUSHIM_FEATURE(DMA_BUF, "dma-buf", "Exports device memory as a Linux dma-buf.",
               "CUDA manual, cuMemGetHandleForAddressRange")
CUSHIM_FEATURE_SLOT(DMA_BUF, MemGetHandleForAddressRange_v1)
CUSHIM_FEATURE_NOT_ON(DMA_BUF, WINDOWS)
CUSHIM_FEATURE_DEVICE(DMA_BUF, DMA_BUF_SUPPORTED, AT_LEAST, 1)

CUSHIM_FEATURE(MANAGED_MEMORY, "managed-memory", "Allocates memory that moves between host and device.",
               "CUDA manual, cuMemAllocManaged")
CUSHIM_FEATURE_SLOT(MANAGED_MEMORY, MemAllocManaged_v1)
CUSHIM_FEATURE_DEVICE(MANAGED_MEMORY, MANAGED_MEMORY, AT_LEAST, 1)

CUSHIM_FEATURE(CONCURRENT_MANAGED_MEMORY, "concurrent-managed-memory",
               "Host and device use managed memory at the same time, and it can be prefetched.",
               "CUDA manual, cuMemPrefetchAsync; CUDA on WSL guide: WSL has no such memory (not seen on hardware)")
CUSHIM_FEATURE_SLOT(CONCURRENT_MANAGED_MEMORY, MemPrefetchAsync_v1)
CUSHIM_FEATURE_SLOT(CONCURRENT_MANAGED_MEMORY, MemAllocManaged_v1)
CUSHIM_FEATURE_DEVICE(CONCURRENT_MANAGED_MEMORY, MANAGED_MEMORY, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(CONCURRENT_MANAGED_MEMORY, CONCURRENT_MANAGED_ACCESS, AT_LEAST, 1)

CUSHIM_FEATURE(PAGEABLE_ACCESS, "pageable-access", "The device accesses ordinary host memory (malloc).",
               "CUDA manual, cuDeviceGetAttribute")
CUSHIM_FEATURE_SINCE(PAGEABLE_ACCESS, 8000)
CUSHIM_FEATURE_DEVICE(PAGEABLE_ACCESS, PAGEABLE_MEMORY_ACCESS, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(PAGEABLE_ACCESS, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, ANY, 0)

CUSHIM_FEATURE(HOST_REGISTRATION, "host-registration", "Page-locks host memory that the program allocated.",
               "CUDA manual, cuMemHostRegister")
CUSHIM_FEATURE_SLOT(HOST_REGISTRATION, MemHostRegister_v2)
CUSHIM_FEATURE_DEVICE(HOST_REGISTRATION, HOST_REGISTER_SUPPORTED, IF_KNOWN, 1)
CUSHIM_FEATURE_DEVICE(HOST_REGISTRATION, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, ANY, 0)

CUSHIM_FEATURE(READ_ONLY_HOST_REGISTRATION, "read-only-host-registration",
               "Page-locks host memory that is mapped for reading only.", "CUDA manual, CU_MEMHOSTREGISTER_READ_ONLY")
CUSHIM_FEATURE_SINCE(READ_ONLY_HOST_REGISTRATION, 11010)
CUSHIM_FEATURE_SLOT(READ_ONLY_HOST_REGISTRATION, MemHostRegister_v2)
CUSHIM_FEATURE_DEVICE(READ_ONLY_HOST_REGISTRATION, HOST_REGISTER_SUPPORTED, IF_KNOWN, 1)
CUSHIM_FEATURE_DEVICE(READ_ONLY_HOST_REGISTRATION, READ_ONLY_HOST_REGISTER_SUPPORTED, AT_LEAST, 1)

CUSHIM_FEATURE(BATCHED_COPIES, "batched-copies", "Enqueues many copies with one call.",
               "CUDA manual, cuMemcpyBatchAsync")
CUSHIM_FEATURE_SLOT(BATCHED_COPIES, MemcpyBatchAsync_v1)

/* ---- Streams ---- */

CUSHIM_FEATURE(PER_THREAD_STREAMS, "per-thread-streams", "Each thread has a default stream of its own.",
               "CUDA manual, per-thread default streams")
CUSHIM_FEATURE_SINCE(PER_THREAD_STREAMS, 7000)

CUSHIM_FEATURE(STREAM_PRIORITIES, "stream-priorities", "Streams have priorities.",
               "CUDA manual, cuStreamCreateWithPriority")
CUSHIM_FEATURE_SLOT(STREAM_PRIORITIES, StreamCreateWithPriority_v1)
CUSHIM_FEATURE_DEVICE(STREAM_PRIORITIES, STREAM_PRIORITIES_SUPPORTED, AT_LEAST, 1)

CUSHIM_FEATURE(STREAM_MEMORY_OPERATIONS, "stream-memory-operations",
               "A stream waits for and writes 32-bit values in memory.",
               "CUDA manual, cuStreamWaitValue32")
CUSHIM_FEATURE_SLOT(STREAM_MEMORY_OPERATIONS, StreamWaitValue32_v2)
CUSHIM_FEATURE_SLOT(STREAM_MEMORY_OPERATIONS, StreamWriteValue32_v2)
CUSHIM_FEATURE_DEVICE(STREAM_MEMORY_OPERATIONS, CAN_USE_STREAM_WAIT_VALUE_NOR, ANY, 0)

CUSHIM_FEATURE(STREAM_MEMORY_OPERATIONS_64, "stream-memory-operations-64",
               "A stream waits for and writes 64-bit values in memory.", "CUDA manual, cuStreamWaitValue64")
CUSHIM_FEATURE_SLOT(STREAM_MEMORY_OPERATIONS_64, StreamWaitValue64_v2)
CUSHIM_FEATURE_SLOT(STREAM_MEMORY_OPERATIONS_64, StreamWriteValue64_v2)
CUSHIM_FEATURE_DEVICE(STREAM_MEMORY_OPERATIONS_64, CAN_USE_64_BIT_STREAM_MEM_OPS, AT_LEAST, 1)

CUSHIM_FEATURE(STREAM_MEMORY_OPERATIONS_V1, "stream-memory-operations-v1",
               "A stream waits for and writes values in memory, by the functions of drivers before CUDA 11.7.",
               "CUDA manual of CUDA 11.6, cuStreamWaitValue32")
CUSHIM_FEATURE_SLOT(STREAM_MEMORY_OPERATIONS_V1, StreamWaitValue32_v1)
CUSHIM_FEATURE_SLOT(STREAM_MEMORY_OPERATIONS_V1, StreamWriteValue32_v1)
CUSHIM_FEATURE_DEVICE(STREAM_MEMORY_OPERATIONS_V1, CAN_USE_STREAM_MEM_OPS_V1, AT_LEAST, 1)

CUSHIM_FEATURE(STREAM_FLUSH, "stream-flush", "A stream makes remote writes visible (CU_STREAM_WAIT_VALUE_FLUSH).",
               "CUDA manual, CUstreamWaitValue_flags")
CUSHIM_FEATURE_SLOT(STREAM_FLUSH, StreamBatchMemOp_v2)
CUSHIM_FEATURE_DEVICE(STREAM_FLUSH, CAN_FLUSH_REMOTE_WRITES, AT_LEAST, 1)

/* ---- Graphs ---- */

CUSHIM_FEATURE(GRAPHS, "graphs", "Captures the work of a stream as a graph and launches it.",
               "CUDA manual, cuStreamBeginCapture")
CUSHIM_FEATURE_SLOT(GRAPHS, StreamBeginCapture_v1)
CUSHIM_FEATURE_SLOT(GRAPHS, GraphLaunch_v1)

CUSHIM_FEATURE(GRAPH_UPDATE, "graph-update", "Updates an executable graph instead of instantiating it again.",
               "CUDA manual, cuGraphExecUpdate")
CUSHIM_FEATURE_SLOT(GRAPH_UPDATE, GraphExecUpdate_v1)

CUSHIM_FEATURE(GRAPH_MEMORY_NODES, "graph-memory-nodes", "A graph allocates and frees device memory.",
               "CUDA manual, cuGraphAddMemAllocNode; CUDA programming guide, graph memory nodes")
CUSHIM_FEATURE_SLOT(GRAPH_MEMORY_NODES, GraphAddMemAllocNode_v1)
CUSHIM_FEATURE_SLOT(GRAPH_MEMORY_NODES, GraphAddMemFreeNode_v1)
CUSHIM_FEATURE_DEVICE(GRAPH_MEMORY_NODES, MEMORY_POOLS_SUPPORTED, AT_LEAST, 1)

CUSHIM_FEATURE(GRAPH_DEVICE_LAUNCH, "graph-device-launch", "A kernel launches a graph.",
               "CUDA manual, cuGraphInstantiateWithParams; CUDA programming guide, device graph launch")
CUSHIM_FEATURE_SLOT(GRAPH_DEVICE_LAUNCH, GraphInstantiateWithParams_v1)
CUSHIM_FEATURE_DEVICE(GRAPH_DEVICE_LAUNCH, UNIFIED_ADDRESSING, AT_LEAST, 1)

CUSHIM_FEATURE(GRAPH_CONDITIONAL_NODES, "graph-conditional-nodes", "A graph decides and loops while it runs.",
               "CUDA manual, cuGraphConditionalHandleCreate")
CUSHIM_FEATURE_SLOT(GRAPH_CONDITIONAL_NODES, GraphConditionalHandleCreate_v1)
CUSHIM_FEATURE_SLOT(GRAPH_CONDITIONAL_NODES, GraphAddNode_v2)

CUSHIM_FEATURE(CAPTURE_TO_GRAPH, "capture-to-graph", "Captures the work of a stream into an existing graph.",
               "CUDA manual, cuStreamBeginCaptureToGraph")
CUSHIM_FEATURE_SLOT(CAPTURE_TO_GRAPH, StreamBeginCaptureToGraph_v1)

/* ---- Kernels and code ---- */

CUSHIM_FEATURE(NATIVE_CODE, "native-code",
               "Runs machine code (cubin) of the device's own compute capability, and of older ones with the same first"
               " number.", "CUDA programming guide, binary compatibility")
CUSHIM_FEATURE_SLOT(NATIVE_CODE, ModuleLoadData_v1)
CUSHIM_FEATURE_DEVICE(NATIVE_CODE, COMPUTE_CAPABILITY_MAJOR, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(NATIVE_CODE, COMPUTE_CAPABILITY_MINOR, ANY, 0)

CUSHIM_FEATURE(PTX, "ptx", "Compiles PTX, up to the version that the driver knows, for the device.",
               "PTX manual, release notes")
CUSHIM_FEATURE_SLOT(PTX, LinkCreate_v2)
CUSHIM_FEATURE_SLOT(PTX, ModuleLoadDataEx_v1)
CUSHIM_FEATURE_PROPERTY(PTX, PTX_VERSION, ANY, 0)

CUSHIM_FEATURE(LIBRARY_LOADING, "library-loading", "Loads code without a context, for all devices.",
               "CUDA manual, cuLibraryLoadData")
CUSHIM_FEATURE_SLOT(LIBRARY_LOADING, LibraryLoadData_v1)
CUSHIM_FEATURE_SLOT(LIBRARY_LOADING, LibraryGetKernel_v1)

CUSHIM_FEATURE(LAZY_LOADING, "lazy-loading", "Loads a kernel when it is first used.",
               "CUDA manual, cuModuleGetLoadingMode; CUDA programming guide, lazy loading")
CUSHIM_FEATURE_SLOT(LAZY_LOADING, ModuleGetLoadingMode_v1)
CUSHIM_FEATURE_PROPERTY(LAZY_LOADING, LOADING_MODE, AT_LEAST, 2)

CUSHIM_FEATURE(COOPERATIVE_LAUNCH, "cooperative-launch", "The blocks of a kernel synchronise with each other.",
               "CUDA manual, cuLaunchCooperativeKernel")
CUSHIM_FEATURE_SLOT(COOPERATIVE_LAUNCH, LaunchCooperativeKernel_v1)
CUSHIM_FEATURE_DEVICE(COOPERATIVE_LAUNCH, COOPERATIVE_LAUNCH, AT_LEAST, 1)
CUSHIM_FEATURE_DEVICE(COOPERATIVE_LAUNCH, MULTIPROCESSOR_COUNT, ANY, 0)

CUSHIM_FEATURE(EXTENDED_LAUNCH, "extended-launch", "Launches a kernel with attributes.",
               "CUDA manual, cuLaunchKernelEx")
CUSHIM_FEATURE_SLOT(EXTENDED_LAUNCH, LaunchKernelEx_v1)

CUSHIM_FEATURE(CLUSTERS, "clusters", "Launches blocks in clusters that share their shared memory.",
               "CUDA manual, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION")
CUSHIM_FEATURE_SINCE(CLUSTERS, 11080)
CUSHIM_FEATURE_SLOT(CLUSTERS, OccupancyMaxActiveClusters_v1)
CUSHIM_FEATURE_SLOT(CLUSTERS, LaunchKernelEx_v1)
CUSHIM_FEATURE_DEVICE(CLUSTERS, CLUSTER_LAUNCH, AT_LEAST, 1)

CUSHIM_FEATURE(PROGRAMMATIC_LAUNCH, "programmatic-launch",
               "A kernel starts before the previous kernel has ended.",
               "CUDA programming guide, programmatic dependent launch")
CUSHIM_FEATURE_SINCE(PROGRAMMATIC_LAUNCH, 11080)
CUSHIM_FEATURE_SLOT(PROGRAMMATIC_LAUNCH, LaunchKernelEx_v1)
CUSHIM_FEATURE_DEVICE(PROGRAMMATIC_LAUNCH, COMPUTE_CAPABILITY_MAJOR, AT_LEAST, 9)

CUSHIM_FEATURE(TENSOR_MAPS, "tensor-maps", "Kernels copy parts of tensors with the tensor memory accelerator (TMA).",
               "CUDA manual, cuTensorMapEncodeTiled")
CUSHIM_FEATURE_SLOT(TENSOR_MAPS, TensorMapEncodeTiled_v1)
CUSHIM_FEATURE_DEVICE(TENSOR_MAPS, TENSOR_MAP_ACCESS_SUPPORTED, AT_LEAST, 1)

/* ---- Processes and machines ---- */

CUSHIM_FEATURE(GREEN_CONTEXTS, "green-contexts", "Gives a context a part of the multiprocessors.",
               "CUDA manual, cuGreenCtxCreate")
CUSHIM_FEATURE_SLOT(GREEN_CONTEXTS, GreenCtxCreate_v1)
CUSHIM_FEATURE_SLOT(GREEN_CONTEXTS, DevSmResourceSplitByCount_v1)
CUSHIM_FEATURE_DEVICE(GREEN_CONTEXTS, MULTIPROCESSOR_COUNT, ANY, 0)

CUSHIM_FEATURE(ERROR_LOG, "error-log", "The driver explains its errors in sentences.",
               "CUDA manual, cuLogsRegisterCallback")
CUSHIM_FEATURE_SLOT(ERROR_LOG, LogsRegisterCallback_v1)

CUSHIM_FEATURE(CHECKPOINTS, "checkpoints", "Saves and restores the GPU state of a process.",
               "CUDA manual, cuCheckpointProcessCheckpoint")
CUSHIM_FEATURE_SLOT(CHECKPOINTS, CheckpointProcessCheckpoint_v1)
CUSHIM_FEATURE_SLOT(CHECKPOINTS, CheckpointProcessRestore_v1)
CUSHIM_FEATURE_NOT_ON(CHECKPOINTS, WINDOWS)

CUSHIM_FEATURE(MPS, "mps", "This process is a client of the Multi-Process Service (MPS).",
               "CUDA manual, cuDeviceGetAttribute; not seen on hardware")
CUSHIM_FEATURE_SINCE(MPS, 12030)
CUSHIM_FEATURE_DEVICE(MPS, MPS_ENABLED, AT_LEAST, 1)

CUSHIM_FEATURE(MIG, "mig", "This device is a part of a GPU (Multi-Instance GPU).",
               "CUDA manual, cuDeviceGetUuid_v2; not seen on hardware")
CUSHIM_FEATURE_SLOT(MIG, DeviceGetUuid_v2)
CUSHIM_FEATURE_PROPERTY(MIG, GPU_IS_PARTED, AT_LEAST, 1)

CUSHIM_FEATURE(CONFIDENTIAL_COMPUTING, "confidential-computing",
               "The memory and the traffic of this device are protected.",
               "NVML manual, nvmlSystemGetConfComputeState: no function of the driver reports it; not seen on hardware")
CUSHIM_FEATURE_PROPERTY(CONFIDENTIAL_COMPUTING, CONFIDENTIAL, AT_LEAST, 1)

/* clang-format on */

#undef CUSHIM_FEATURE
#undef CUSHIM_FEATURE_SLOT
#undef CUSHIM_FEATURE_SINCE
#undef CUSHIM_FEATURE_NOT_ON
#undef CUSHIM_FEATURE_DEVICE
#undef CUSHIM_FEATURE_PROPERTY
