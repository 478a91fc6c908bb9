"""`transformers serve`: texts alone; no token ids, no log-probabilities, no metrics.

With `--continuous-batching` the sampling of the first request holds for all that follow, and a
seed sets the generator of the whole process: so it has no seed of a request's own.
"""

from __future__ import annotations

import json
from typing import Any

from lockstep.certify.adapters.openai import Completion, OpenAI
from lockstep.certify.ask import Ask


class Transformers(OpenAI):
    """A server of transformers 5, by /v1/completions: the prompt is sent as it is."""

    name = "transformers"
    declared = ("stream", "cancel")
    form = "text"
    distributions = ("transformers", "torch", "numpy")

    def call(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Give the path and the body that ask for it.

        It refuses fields that it does not know. Its own configuration of the generation is sent
        whole, so that none of the checkpoint's holds; without ends of sequence in it, none ends
        an answer.
        """
        text = ask.prompt if isinstance(ask.prompt, str) else " ".join(map(str, ask.prompt))
        drawn = ask.temperature != "0"
        settings: dict[str, Any] = {
            "do_sample": drawn,
            "max_new_tokens": ask.max_new,
            "num_beams": 1,
            "repetition_penalty": 1.0,
        }
        if drawn:
            settings |= ask.numbers()
            settings["top_k"] = ask.top_k or 0
        return "/v1/completions", {
            "model": self.model,
            "prompt": text,
            "max_tokens": ask.max_new,
            "frequency_penalty": 0,
            "stream": ask.stream,
            **ask.numbers(),
            "generation_config": json.dumps(settings),
        }

    def reading(self, ask: Ask) -> Completion:
        """Give what reads the answer."""
        return Completion(ask, self.cached)
