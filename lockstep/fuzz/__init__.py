"""Schedules drawn from seeds, run and judged: deterministic simulation of one engine."""
