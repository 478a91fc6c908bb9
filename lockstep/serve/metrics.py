"""Figures in the text form of Prometheus, under names of Lockstep's own and, if asked, vLLM's."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from lockstep.serve.figures import BATCH_BOUNDS, Figures

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
COMPATIBLE = ("vllm",)
"""Engines whose names may be given besides."""

Metric = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


class Metrics(Collector):
    """What is told at /metrics.

    Args:
        figures: what the engine counts.
        blocks: blocks of the pool.
        compatible: an engine of `COMPATIBLE` whose names are given besides; None for none.
        labels: mode, fault and model, as one sample of value 1.
    """

    def __init__(
        self, figures: Figures, blocks: int, compatible: str | None, labels: dict[str, str]
    ) -> None:
        self._figures = figures
        self._blocks = blocks
        self._compatible = compatible
        self._labels = labels
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def text(self) -> bytes:
        """Give the figures as they are now."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Give each metric."""
        figures = self._figures
        yield from self._gauges()
        for name, what, value in (
            ("steps", "Steps that have ended, each counted once.", figures.steps),
            ("cached_tokens", "Prompt tokens that lookups granted.", figures.cached_tokens),
            ("prompt_tokens", "Prompt tokens of requests that began.", figures.prompt_tokens),
            ("generated_tokens", "Tokens emitted.", figures.generated_tokens),
            ("preemptions", "Requests preempted by recompute.", figures.preemptions),
            ("evictions", "Cached blocks evicted.", figures.evictions),
            (
                "executions",
                "Executions begun; each begins with an empty cache.",
                figures.executions,
            ),
            ("execution_failures", "Executions that a fault ended.", figures.failures),
        ):
            yield CounterMetricFamily(f"lockstep_{name}", what, value=value)
        ended = CounterMetricFamily("lockstep_requests", "Requests that ended.", labels=["outcome"])
        for outcome, count in sorted(figures.outcomes.copy().items()):
            ended.add_metric([outcome], count)
        yield ended
        yield self._batches()
        if self._compatible == "vllm":
            yield from self._as_vllm()

    def _gauges(self) -> Iterator[GaugeMetricFamily]:
        figures = self._figures
        told = GaugeMetricFamily("lockstep_server", "What serves.", labels=list(self._labels))
        told.add_metric(list(self._labels.values()), 1)
        yield told
        for name, what, value in (
            ("requests_running", "Requests that hold a reservation.", figures.running),
            ("requests_waiting", "Requests that wait for one.", figures.waiting),
            ("kv_blocks", "Blocks of the pool.", self._blocks),
            ("kv_blocks_used", "Blocks that requests hold.", figures.blocks_used),
            ("kv_blocks_cached", "Blocks nobody holds, still offered.", figures.blocks_cached),
        ):
            yield GaugeMetricFamily(f"lockstep_{name}", what, value=value)

    def _batches(self) -> HistogramMetricFamily:
        """Give the requests of each batch: a witness that misses none, as a polled gauge may."""
        counts = self._figures.batches.copy()
        total, buckets = 0, []
        for bound in BATCH_BOUNDS:
            total += counts[bound]
            buckets.append((str(float(bound)), total))
        buckets.append(("+Inf", counts.total()))
        what = "Requests of each batch."
        histogram = HistogramMetricFamily("lockstep_batch_requests", what)
        histogram.add_metric([], buckets, self._figures.batch_requests)
        return histogram

    def _as_vllm(self) -> Iterator[Metric]:
        figures, labels = self._figures, ["model_name", "engine"]
        values = [self._labels["model"], "0"]
        used = figures.blocks_used / self._blocks
        for name, gauge in (
            ("num_requests_running", figures.running),
            ("num_requests_waiting", figures.waiting),
            ("kv_cache_usage_perc", used),
        ):
            metric = GaugeMetricFamily(f"vllm:{name}", "As vLLM names it.", labels=labels)
            metric.add_metric(values, gauge)
            yield metric
        for name, count in (
            ("num_preemptions", figures.preemptions),
            ("prefix_cache_queries", figures.prompt_tokens),
            ("prefix_cache_hits", figures.cached_tokens),
            ("prompt_tokens", figures.prompt_tokens),
            ("generation_tokens", figures.generated_tokens),
        ):
            counter = CounterMetricFamily(f"vllm:{name}", "As vLLM names it.", labels=labels)
            counter.add_metric(values, count)
            yield counter
