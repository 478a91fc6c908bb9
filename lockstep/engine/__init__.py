"""The batch-invariant engine: an execution is a function of model, workload, schedule and seeds."""
