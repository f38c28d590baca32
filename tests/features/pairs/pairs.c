/* SPDX-License-Identifier: MIT */
/*
 * Uses a feature between two devices, or between two processes on one device:
 *
 *   pairs NAME OWNER OTHER     the ordinals of the device that owns the memory or the event, and of the other one
 *   pairs --list               the names
 *
 * Prints "usable" or the obstacle, a tab, and the result of the use. Exit status 1: a usable feature could not be used,
 * or one with an obstacle could; 77: there is no GPU.
 */
#include "../use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PASSED = 0, FAILED = 1, NO_GPU = 77, SECONDS = 60 };

int use_other_process;

/* What the owner sends to the other process, beside a file descriptor. */
struct message {
    CUresult result;
    union {
        CUipcEventHandle event;
        CUipcMemHandle memory;
        CUmemFabricHandle fabric;
    } handle;
    CUmemPoolPtrExportData pointer;
};

static CUdevice owner, other;

/* ---- Two processes: give() runs in that of the owner, take() in the other one ---- */

static CUresult give_ipc_event(struct message *out_message, int *out_descriptor)
{
    CUevent event;
    (void)out_descriptor;
    TRY(cu->EventCreate_v1(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    TRY(cu->EventRecord_v1(event, use_stream));
    return cu->IpcGetEventHandle_v1(&out_message->handle.event, event);
}

static CUresult take_ipc_event(const struct message *message, int descriptor)
{
    CUevent event;
    (void)descriptor;
    TRY(cu->IpcOpenEventHandle_v1(&event, message->handle.event));
    TRY(cu->StreamWaitEvent_v1(use_stream, event, 0));
    return cu->StreamSynchronize_v1(use_stream);
}

static CUresult give_ipc_memory(struct message *out_message, int *out_descriptor)
{
    CUdeviceptr address = 0;
    (void)out_descriptor;
    TRY(cu->MemAlloc_v2(&address, USE_SIZE));
    TRY(use_fill(address, USE_SIZE));
    return cu->IpcGetMemHandle_v1(&out_message->handle.memory, address);
}

static CUresult take_ipc_memory(const struct message *message, int descriptor)
{
    CUdeviceptr address = 0;
    (void)descriptor;
    TRY(cu->IpcOpenMemHandle_v2(&address, message->handle.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    return use_compare(address, USE_SIZE);
}

static CUresult give_memory_descriptor(struct message *out_message, int *out_descriptor)
{
    CUmemGenericAllocationHandle handle;
    (void)out_message;
    TRY(use_virtual(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0, &handle));
    return cu->MemExportToShareableHandle_v1(out_descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

static CUresult take_memory(const void *shared, CUmemAllocationHandleType type)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address = 0;
    size_t size = 0;
    TRY(cu->MemImportFromShareableHandle_v1(&handle, (void *)(size_t)shared, type));
    TRY(use_map(handle, &address, &size));
    return use_compare(address, size);
}

static CUresult take_memory_descriptor(const struct message *message, int descriptor)
{
    (void)message;
    return take_memory((const void *)(size_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

static CUresult give_memory_fabric(struct message *out_message, int *out_descriptor)
{
    CUmemGenericAllocationHandle handle;
    (void)out_descriptor;
    TRY(use_virtual(CU_MEM_HANDLE_TYPE_FABRIC, 0, &handle));
    return cu->MemExportToShareableHandle_v1(&out_message->handle.fabric, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0);
}

static CUresult take_memory_fabric(const struct message *message, int descriptor)
{
    (void)descriptor;
    return take_memory(&message->handle.fabric, CU_MEM_HANDLE_TYPE_FABRIC);
}

static CUresult give_pool(CUmemAllocationHandleType type, void *shared, struct message *out_message)
{
    CUmemoryPool pool;
    CUdeviceptr address = 0;
    TRY(use_pool(type, &pool));
    TRY(cu->MemAllocFromPoolAsync_v1(&address, USE_SIZE, pool, use_stream));
    TRY(use_fill(address, USE_SIZE));
    TRY(cu->MemPoolExportToShareableHandle_v1(shared, pool, type, 0));
    return cu->MemPoolExportPointer_v1(&out_message->pointer, address);
}

/* The pool belongs to the owner; the other device gets access to it. */
static CUresult take_pool(const void *shared, CUmemAllocationHandleType type, const struct message *message)
{
    CUmemoryPool pool;
    CUdeviceptr address = 0;
    CUmemPoolPtrExportData pointer = message->pointer;
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = use_device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    TRY(cu->MemPoolImportFromShareableHandle_v1(&pool, (void *)(size_t)shared, type, 0));
    TRY(cu->MemPoolSetAccess_v1(pool, &access, 1));
    TRY(cu->MemPoolImportPointer_v1(&address, pool, &pointer));
    return use_compare(address, USE_SIZE);
}

static CUresult give_pool_descriptor(struct message *out_message, int *out_descriptor)
{
    return give_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, out_descriptor, out_message);
}

static CUresult take_pool_descriptor(const struct message *message, int descriptor)
{
    return take_pool((const void *)(size_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, message);
}

static CUresult give_pool_fabric(struct message *out_message, int *out_descriptor)
{
    (void)out_descriptor;
    return give_pool(CU_MEM_HANDLE_TYPE_FABRIC, &out_message->handle.fabric, out_message);
}

static CUresult take_pool_fabric(const struct message *message, int descriptor)
{
    (void)descriptor;
    return take_pool(&message->handle.fabric, CU_MEM_HANDLE_TYPE_FABRIC, message);
}

/* ---- One process with both devices: the current context is that of the owner ---- */

/* Memory of the other device, whose context is not current afterwards. */
static struct {
    CUcontext context;
    CUdeviceptr memory;
} foreign;

static CUresult foreign_create(void)
{
    CUresult result = use_enter(other, &foreign.context);
    if (result == CUDA_SUCCESS)
        result = cu->MemAlloc_v2(&foreign.memory, USE_SIZE);
    (void)cu->CtxSetCurrent_v1(use_context);
    return result;
}

/* The owner writes to memory of the other device, and reads it. */
static CUresult pair_peer_access(void)
{
    TRY(cu->CtxEnablePeerAccess_v1(foreign.context, 0));
    return use_fill(foreign.memory, USE_SIZE);
}

static CUresult pair_peer_copy(void)
{
    CUdeviceptr own = 0;
    TRY(cu->MemAlloc_v2(&own, USE_SIZE));
    TRY(use_fill(own, USE_SIZE));
    TRY(cu->MemcpyPeerAsync_v1(foreign.memory, foreign.context, own, use_context, USE_SIZE, use_stream));
    TRY(cu->StreamSynchronize_v1(use_stream));
    TRY(cu->CtxSetCurrent_v1(foreign.context));
    return use_compare(foreign.memory, USE_SIZE);
}

/* ---- The list ---- */

#define NOT_A_FEATURE CUSHIM_FEATURE_COUNT

static const struct pair {
    const char *name;
    enum cushim_feature feature;
    bool needs_peer; /* the other device must be able to access the memory of the owner */
    CUresult (*alone)(void);
    CUresult (*give)(struct message *out_message, int *out_descriptor);
    CUresult (*take)(const struct message *message, int descriptor);
} pairs[] = {
    {"peer-access", CUSHIM_FEATURE_PEER_ACCESS, true, pair_peer_access, NULL, NULL},
    {"peer-copy", NOT_A_FEATURE, false, pair_peer_copy, NULL, NULL},
    {"multicast", CUSHIM_FEATURE_MULTICAST, false, use_MULTICAST, NULL, NULL},
    {"ipc-events", CUSHIM_FEATURE_IPC_EVENTS, false, NULL, give_ipc_event, take_ipc_event},
    {"ipc-memory", CUSHIM_FEATURE_IPC_MEMORY, true, NULL, give_ipc_memory, take_ipc_memory},
    {"memory-descriptors", CUSHIM_FEATURE_MEMORY_DESCRIPTORS, true, NULL, give_memory_descriptor,
     take_memory_descriptor},
    {"memory-fabric-handles", CUSHIM_FEATURE_MEMORY_FABRIC_HANDLES, true, NULL, give_memory_fabric, take_memory_fabric},
    {"pool-descriptors", CUSHIM_FEATURE_POOL_DESCRIPTORS, true, NULL, give_pool_descriptor, take_pool_descriptor},
    {"pool-fabric-handles", CUSHIM_FEATURE_POOL_FABRIC_HANDLES, true, NULL, give_pool_fabric, take_pool_fabric},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static void message_send(int connection, const struct message *message, int descriptor)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof descriptor)];
    } control;
    struct iovec part = {(void *)(size_t)message, sizeof *message};
    struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        memset(&control, 0, sizeof control);
        whole.msg_control = &control;
        whole.msg_controllen = sizeof control;
        struct cmsghdr *head = CMSG_FIRSTHDR(&whole);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    }
    if (sendmsg(connection, &whole, MSG_NOSIGNAL) != (ssize_t)sizeof *message)
        exit(FAILED);
}

/* Returns the descriptor, or -1. */
static int message_receive(int connection, struct message *out_message)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {out_message, sizeof *out_message};
    struct msghdr whole = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int descriptor = -1;
    if (recvmsg(connection, &whole, MSG_WAITALL) != (ssize_t)sizeof *out_message)
        exit(FAILED);
    struct cmsghdr *head = CMSG_FIRSTHDR(&whole);
    if (head != NULL && head->cmsg_type == SCM_RIGHTS)
        memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
    return descriptor;
}

/* The other process: takes what the owner gives, and sends the result. */
static void other_run(const struct pair *pair, int connection)
{
    struct message message;
    alarm(SECONDS);
    int descriptor = message_receive(connection, &message);
    if (message.result == CUDA_SUCCESS)
        message.result = use_start(other);
    if (message.result == CUDA_SUCCESS)
        message.result = pair->take(&message, descriptor);
    message_send(connection, &message, -1);
    _exit(0);
}

static CUresult pair_use_in_two(const struct pair *pair, int connection)
{
    struct message message;
    int descriptor = -1;
    memset(&message, 0, sizeof message);
    message.result = pair->give(&message, &descriptor);
    message_send(connection, &message, descriptor);
    (void)message_receive(connection, &message);
    return message.result;
}

/* The obstacle between the two devices, "" if there is none. */
static const char *pair_obstacle(const struct pair *pair)
{
    struct cushim_feature_info info = {.is_usable = true};
    int can_access = 1;
    if (pair->feature == NOT_A_FEATURE)
        return "";
    if (cushim_feature_get_info(pair->feature, owner, &info) != CUDA_SUCCESS)
        return "error";
    if (!info.is_usable)
        return cushim_obstacle_name(info.obstacle);
    if (pair->needs_peer && owner != other && pair->alone != NULL)
        (void)cu->DeviceCanAccessPeer_v1(&can_access, owner, other);
    else if (pair->needs_peer && owner != other)
        (void)cu->DeviceCanAccessPeer_v1(&can_access, other, owner);
    return can_access ? "" : "no-peer-access";
}

static int pair_run(const struct pair *pair)
{
    int connection[2] = {-1, -1};
    const char *name = "CUDA_SUCCESS";
    alarm(SECONDS);
    if (pair->take != NULL && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, connection) != 0)
        return FAILED;
    use_other_process = pair->take != NULL ? fork() : 0;
    if (pair->take != NULL && use_other_process == 0)
        other_run(pair, connection[1]);
    CUresult result = use_start(owner);
    if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_FILE_NOT_FOUND)
        return NO_GPU;
    if (result == CUDA_SUCCESS && pair->alone != NULL && owner != other)
        result = foreign_create();
    if (result != CUDA_SUCCESS) {
        printf("cannot start: %s\n", cushim_error_last()->message);
        return FAILED;
    }
    const char *obstacle = pair_obstacle(pair);
    printf("%s\t", pair->feature == NOT_A_FEATURE ? "-" : obstacle[0] == '\0' ? "usable" : obstacle);
    fflush(stdout);
    if (!use_is_permitted(pair->feature)) {
        puts(USE_NOT_PERMITTED);
        return PASSED;
    }
    result = pair->take != NULL ? pair_use_in_two(pair, connection[0]) : pair->alone();
    (void)cu->GetErrorName_v1(result, &name);
    puts(name);
    return pair->feature == NOT_A_FEATURE || (obstacle[0] == '\0') == (result == CUDA_SUCCESS) ? PASSED : FAILED;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < PAIRS && argc == 2; i++)
        printf("%s %s\n", pairs[i].name, pairs[i].take != NULL ? "processes" : "devices");
    for (size_t i = 0; i < PAIRS && argc == 4; i++) {
        owner = atoi(argv[2]);
        other = atoi(argv[3]);
        if (strcmp(pairs[i].name, argv[1]) == 0)
            return pair_run(&pairs[i]);
    }
    return argc == 2 ? PASSED : FAILED;
}
