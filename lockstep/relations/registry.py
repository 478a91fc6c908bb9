"""The relations that can be run, by name, in the order of the spec."""

from lockstep.relations import (
    batch_composition,
    block_size,
    cache_hits,
    chunk_partition,
    co_residents,
    end_of_sequence,
    eviction,
    kernel_equality,
    kv_equality,
    never_fits,
    no_starvation,
    path_equality,
    preemption,
    replay,
    replay_process,
    rng_isolation,
)
from lockstep.relations.relation import Relation

RELATIONS = {
    relation.name: relation
    for relation in (
        Relation("MR1", batch_composition.run),
        Relation("MR2", chunk_partition.run),
        Relation("MR3", preemption.run),
        Relation("MR4", cache_hits.run),
        Relation("MR4b", eviction.run),
        Relation("MR5", co_residents.run),
        Relation("MR6", replay.run),
        Relation("MR6-PROCESS", replay_process.run),
        Relation("MR7", rng_isolation.run),
        Relation("MR8", kv_equality.run),
        Relation("EOS", end_of_sequence.run),
        Relation("PATH-EQ", path_equality.run),
        Relation("BLOCK-SIZE", block_size.run),
        Relation("NEVER-FITS", never_fits.run),
        Relation("NO-STARVATION", no_starvation.run),
        Relation("KERNEL-EQ", kernel_equality.run),
    )
}
"""What the spec declares, each with what runs it."""
