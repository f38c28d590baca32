# SPDX-License-Identifier: MIT
"""An all-reduce of NCCL on two GPUs with PyTorch, for `cushim trace`. Prints what each rank has afterwards.

    allreduce.py processes     a process for each rank
    allreduce.py threads       one process with a thread for each rank
"""
import sys
import threading

import torch
import torch.distributed as dist
import torch.multiprocessing

RANKS = 2


def reduce(rank, store, out):
    """All-reduces 1, 2, …, times the number of the rank plus one, on the device of the rank."""
    torch.cuda.set_device(rank)
    group = dist.ProcessGroupNCCL(store, rank, RANKS)
    tensor = torch.arange(1, 1025, device=f'cuda:{rank}', dtype=torch.float64) * (rank + 1)
    group.allreduce([tensor]).wait()
    torch.cuda.synchronize(rank)
    out[rank] = f'rank {rank}: {tensor.sum().item():.0f}'


def reduce_in_process(rank, port):
    out = {}
    reduce(rank, dist.TCPStore('127.0.0.1', port, RANKS, rank == 0), out)
    print(out[rank], flush=True)


def reduce_in_threads():
    store, out = dist.HashStore(), {}
    threads = [threading.Thread(target=reduce, args=(rank, store, out)) for rank in range(RANKS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print('\n'.join(out[rank] for rank in sorted(out)))


def free_port():
    store = dist.TCPStore('127.0.0.1', 0, 1, True)
    return store.port


def main(mode):
    if torch.cuda.device_count() < RANKS:
        print('PyTorch finds fewer than two GPUs')
        return 77
    if mode == 'threads':
        reduce_in_threads()
    else:
        torch.multiprocessing.spawn(reduce_in_process, args=(free_port(),), nprocs=RANKS)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
