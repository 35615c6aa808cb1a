#!/usr/bin/env python3
"""Times training steps on several ranks, and compares them with PyTorch's DistributedDataParallel with gloo.

usage: python3 bench/scaling.py BUILD_DIR [--rounds N] [--rows NAME ...] [--ranks 1,2,4] [--steps N]
                                [--mpirun COMMAND] [--json FILE]
       python3 bench/scaling.py --from FILE

Each rank has one thread. The reference is one process with one thread for each core. `strong` keeps the batch of all
ranks together, and `weak` keeps the batch of each rank. heed and PyTorch run in turn, each in processes of their own,
round by round; a run has N steps (5) after two that are not timed. The table has medians over the steps of all rounds
(3). The table marks a row with more ranks than cores: ranks share a core there, and its figures say nothing about a
cluster.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys

import table

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = ["gpt/small/dropout0", "gpt/124m/dropout0"]
WARM_UP = 2
MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 40), "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
          "MALLOC_TOP_PAD_": str(1 << 28)}


# ------------------------------------------------------------------------- PyTorch's side


def torch_rank(row, batch, steps):
    """One rank of PyTorch. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are in the environment."""
    import resource
    import time

    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch.nn.parallel import DistributedDataParallel

    import torch_work
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    torch.manual_seed(123)
    ranks = int(os.environ["WORLD_SIZE"])
    row["batch"] = batch
    model = torch_work.GPTModel(row, True)
    optim = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = torch.randint(0, row["vocab"], (batch, row["context"]))
    target = torch.randint(0, row["vocab"], (batch, row["context"]))
    if ranks > 1:
        dist.init_process_group("gloo")
        model = DistributedDataParallel(model)
    times = []
    for i in range(WARM_UP + steps):
        begin = time.perf_counter_ns()
        loss = F.cross_entropy(model(x).flatten(0, 1), target.flatten())
        optim.zero_grad()
        loss.backward()
        optim.step()
        times.append(time.perf_counter_ns() - begin)
    if os.environ["RANK"] == "0":
        print(json.dumps({"ranks": ranks, "ns": times[WARM_UP:],
                          "rss": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
    if ranks > 1:
        dist.barrier()
        dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run_torch(row, ranks, threads, batch, steps):
    port = str(free_port())
    children = []
    for rank in range(ranks):
        env = {**os.environ, **MALLOC, "RANK": str(rank), "WORLD_SIZE": str(ranks),
               "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": str(threads)}
        command = [sys.executable, os.path.abspath(__file__), "--torch-rank", json.dumps(row),
                   str(batch), str(steps)]
        children.append(subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE))
    outputs = [child.communicate()[0] for child in children]
    if any(child.returncode for child in children):
        sys.exit("scaling.py: PyTorch has failed")
    return json.loads(outputs[0])


# ------------------------------------------------------------------------- heed's side


def run_heed(args, row, ranks, threads, batch, steps, how):
    program = os.path.join(args.build, "bench", "heed-scaling")
    env = {**os.environ, "HEED_THREADS": str(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1",
           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    command = [program, row["name"], str(batch), str(steps), how]
    if ranks > 1:
        command = [*args.mpirun.split(), "-n", str(ranks), *command]
    out = subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE, check=False)
    if out.returncode:
        sys.exit(f"scaling.py: {' '.join(command)} has failed")
    return json.loads(out.stdout)


# ------------------------------------------------------------------------- measuring


def settings(row, ranks, cores):
    """(kind, side, how, ranks, threads, batch of a rank)"""
    batch = int(row["batch"])
    for side in ("heed", "torch"):
        yield "reference", side, "", 1, cores, batch
    for n in ranks:
        for kind, each in (("strong", batch // n if batch % n == 0 else 0), ("weak", batch)):
            if each == 0 or (kind == "weak" and n == 1):
                continue
            for side, how in (("heed", ""), ("torch", ""), ("heed", "shard")):
                if how == "" or (n > 1 and kind == "strong"):
                    yield kind, side, how, n, 1, each


def measure(args):
    program = os.path.join(args.build, "bench", "heed-bench")
    listed = subprocess.run([program, "--list", *args.rows], capture_output=True, text=True,
                            check=True).stdout
    cores = len(os.sched_getaffinity(0))
    import compare
    args.level = "best"
    out = {"machine": compare.machine(args), "mpi": mpi_version(args), "rows": []}
    ranks = [int(n) for n in args.ranks.split(",")]
    for row in map(json.loads, listed.splitlines()):
        runs = {}
        for _ in range(args.rounds):
            for key in settings(row, ranks, cores):
                kind, side, how, n, threads, batch = key
                result = (run_heed(args, row, n, threads, batch, args.steps, how) if side == "heed"
                          else run_torch(row, n, threads, batch, args.steps))
                runs.setdefault(key, []).append(result)
                print(row["name"], *key, [round(t / 1e6) for t in result["ns"]], flush=True)
        out["rows"] += [{"name": row["name"], "whole_batch": row["batch"], "cores": cores,
                         **dict(zip(("kind", "side", "how", "ranks", "threads", "batch"), key)),
                         **figures_of(results)} for key, results in runs.items()]
    return out


def figures_of(results):
    """The results of all rounds of a run: times of a step in ns, bytes and waiting of a mean step."""
    times = [ns for r in results for ns in r["ns"]]
    figures = {"median": statistics.median(times), "min": min(times), "rss": max(r["rss"] for r in results)}
    for key in ("bytes", "early", "hidden", "moved", "exposed_ns"):
        if key in results[0]:
            figures[key] = round(statistics.mean(r[key] / len(r["ns"]) for r in results))
    return figures


def mpi_version(args):
    text = subprocess.run([args.mpirun.split()[0], "--version"], text=True, check=False,
                          stdout=subprocess.PIPE).stdout
    return " ".join(text.split("\n")[0:2]).strip()


# ------------------------------------------------------------------------- the table


def seconds(ns):
    return f"{ns / 1e9:.2f} s" if ns >= 1e9 else f"{ns / 1e6:.0f} ms"


def both_text(run):
    return f"{seconds(run['median'])}, {seconds(run['min'])}"


def print_row(name, rows):
    """The table of all runs of a row."""
    runs = {(r["kind"], r["side"], r["how"], r["ranks"]): r for r in rows}
    reference = runs["reference", "heed", "", 1]
    print(f"\n{name}, batch {reference['whole_batch']}; gradients of "
          f"{max(r.get('bytes', 0) for r in rows) / 1e6:.0f} MB\n")
    print("| ranks x threads | batch of a rank | heed: median, least | PyTorch: median, least | ratio | "
          "to 1 rank | sent before the end, hidden | waited | moved | memory |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for run in rows:
        if run["side"] != "heed":
            continue
        other = runs.get((run["kind"], "torch", "", run["ranks"]))
        moved = run["moved"]
        rest = (f"{100 * run['early'] / run['bytes']:.0f}%, {100 * run['hidden'] / run['bytes']:.0f}% | "
                f"{seconds(run['exposed_ns'])} | {moved / 1e6:.0f} MB" if moved else " | | ")
        note = " (ranks share cores)" if run["ranks"] * run["threads"] > run["cores"] else ""
        how = {"": "", "shard": ", averages dealt"}[run["how"]]
        print(f"| {run['ranks']} x {run['threads']}, {run['kind']}{how}{note} | {run['batch']} | "
              f"{both_text(run)} | "
              + (f"{both_text(other)} | {other['median'] / run['median']:.2f} | " if other else "| | ")
              + f"{run['median'] / reference['median']:.2f} | {rest} | {run['rss'] / 1e9:.2f} GB |")


def print_all(out):
    m = out["machine"]
    print(f"{m['cpu']}, {m['cores']} cores, PyTorch {m['torch']}, {out['mpi']}, {m['date']}, "
          f"commit {m['commit']}")
    for name in dict.fromkeys(r["name"] for r in out["rows"]):
        print_row(name, [r for r in out["rows"] if r["name"] == name])


def main():
    if sys.argv[1:2] == ["--torch-rank"]:
        torch_rank(json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", nargs="+", default=ROWS)
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--mpirun", default="mpirun --bind-to none")
    parser.add_argument("--json")
    parser.add_argument("--from", dest="file")
    args = parser.parse_args()
    if args.file:
        with open(args.file, encoding="utf-8") as f:
            out = json.load(f)
    elif args.build:
        out = measure(args)
        if args.json:
            table.write(args.json, out)
    else:
        parser.error("expected the build directory, or --from FILE")
    print_all(out)


if __name__ == "__main__":
    main()
