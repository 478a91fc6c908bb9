"""Workloads and schedules as data, and the policies that make schedules (spec/schedule.md)."""
