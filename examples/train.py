#!/usr/bin/python3
"""A small, real data-parallel training: 1,797 handwritten digits, one process per GPU slot, on any number of nodes.

Run under torchrun. Uses GPUs with NCCL where PyTorch has them, CPUs with Gloo where not. Prints the loss, and the
accuracy on digits that it has never seen; fails if it has not learned anything.
"""
import argparse
import os
import socket
import time

import numpy
import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch.nn.parallel import DistributedDataParallel


def digits():
    data = load_digits()
    order = numpy.random.RandomState(0).permutation(len(data.target))
    x = torch.tensor(data.data[order] / 16.0, dtype=torch.float32)
    y = torch.tensor(data.target[order], dtype=torch.long)
    cut = len(y) * 4 // 5
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


def save(path, epoch, model, optimizer):
    """Written aside and renamed: a job killed while it saves leaves the previous checkpoint whole."""
    torch.save({"epoch": epoch, "model": model.module.state_dict(), "optimizer": optimizer.state_dict()}, path + ".new")
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--checkpoint", default="", help="save there after each epoch, go on from there after a requeue")
    parser.add_argument("--slow", type=float, default=0.0, help="seconds to wait after each epoch")
    args = parser.parse_args()

    gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if gpu else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpu else torch.device("cpu")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print("rank %d of %d on node %s (%s), GPUs given: %s" %
          (rank, world, os.environ.get("SLURMD_NODENAME", socket.gethostname()), device,
           os.environ.get("CUDA_VISIBLE_DEVICES", "none")), flush=True)

    (x, y), (test_x, test_y) = digits()
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).to(device)
    model = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    start = 0
    if args.checkpoint and os.path.exists(args.checkpoint):
        saved = torch.load(args.checkpoint, map_location=device)
        model.module.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        start = saved["epoch"] + 1
        if rank == 0:
            print("going on from epoch %d" % start, flush=True)

    loss_fn = torch.nn.CrossEntropyLoss()
    began = time.time()
    for epoch in range(start, args.epochs):
        # Every rank draws the same permutation and takes its share of it.
        order = torch.randperm(len(y), generator=torch.Generator().manual_seed(epoch))
        mine = order[: len(order) // world * world][rank::world]
        total = torch.zeros(2)
        for part in mine.split(args.batch):
            optimizer.zero_grad()
            loss = loss_fn(model(x[part].to(device)), y[part].to(device))
            loss.backward()
            optimizer.step()
            total += torch.tensor([loss.item() * len(part), len(part)])
        total = total.to(device)
        dist.all_reduce(total)
        if rank == 0:
            print("epoch %2d  loss %.4f  %.1f s" % (epoch, total[0] / total[1], time.time() - began), flush=True)
            if args.checkpoint:
                save(args.checkpoint, epoch, model, optimizer)
        if args.slow:
            time.sleep(args.slow)

    with torch.no_grad():
        right = (model.module(test_x.to(device)).argmax(1).cpu() == test_y).float().mean().item()
    dist.barrier()
    if rank == 0:
        print("accuracy on unseen digits: %.1f %%" % (100 * right), flush=True)
    dist.destroy_process_group()
    if right < 0.8:
        raise SystemExit("the model has not learned: accuracy %.2f" % right)


if __name__ == "__main__":
    main()
