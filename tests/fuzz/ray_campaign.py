"""A campaign on a Ray cluster of two nodes on this machine, for a test to start."""

from __future__ import annotations

import sys
from pathlib import Path

from lockstep.fuzz.campaign import run_campaign
from lockstep.fuzz.ray_executor import cluster
from lockstep.fuzz.store import Store
from lockstep.fuzz.worker import Subject


def main(path: str, seeds: int) -> None:
    import ray
    from ray.cluster_utils import Cluster

    memory = 80 << 20
    head = {"num_cpus": 1, "object_store_memory": memory, "include_dashboard": False}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    try:
        nodes.add_node(num_cpus=1, object_store_memory=memory)
        with Store(Path(path), {}) as store, cluster(Subject(), nodes.address) as run:
            print(sum(node["Alive"] for node in ray.nodes()))
            run_campaign(store, run, {"swarm": seeds, "eviction": seeds})
    finally:
        nodes.shutdown()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
