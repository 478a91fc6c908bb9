"""`transformers serve`: OpenAI's chat alone; no log-probabilities, no metrics."""

from __future__ import annotations

import json
from typing import Any

from lockstep.certify.adapters.openai import Completion, OpenAI
from lockstep.certify.ask import Ask


class Transformers(OpenAI):
    """A server of transformers. A prompt is the message of a user, in the model's template."""

    name = "transformers"
    declared = ("stream", "seed", "cancel")
    form = "text"
    distributions = ("transformers", "torch", "numpy")

    def call(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Give the path and the body that ask for it."""
        text = ask.prompt if isinstance(ask.prompt, str) else " ".join(map(str, ask.prompt))
        drawn = ask.temperature != "0"
        settings: dict[str, Any] = {
            "do_sample": drawn,
            "max_new_tokens": ask.max_new,
            "min_new_tokens": ask.max_new,
            "num_beams": 1,
            "repetition_penalty": 1.0,
        }
        if drawn:
            settings |= ask.numbers()
            settings["top_k"] = ask.top_k or 0
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": ask.max_new,
            "frequency_penalty": 0,
            "stream": ask.stream,
            **ask.numbers(),
            "generation_config": json.dumps(settings),
        }
        if ask.seed is not None:
            body["seed"] = ask.seed
        return "/v1/chat/completions", body

    def reading(self, ask: Ask) -> Completion:
        """Give what reads the answer."""
        return Completion(ask, self.cached)
