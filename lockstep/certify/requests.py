"""The requests of a case, from the parameters of a plan [CERT-1, CERT-2]."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from lockstep import spec

FILE = "certification.json"
DOMAIN = "lockstep/certification/1"
_WORDS = 8
"""Units that one digest gives."""

Plan = Mapping[str, Any]
"""Parameters of a plan, as the certificate has them [CERT-3]."""


@dataclass(frozen=True)
class Varying:
    """A field of a neighbour that changes from round to round.

    Attributes:
        field: `seed`, `top_k` or `top`.
        values: one after the other; None where the field is not sent.
    """

    field: str
    values: tuple[int | None, ...]


@dataclass(frozen=True)
class Request:
    """One request of a cell.

    Attributes:
        role: `probe`, `neighbour`, `cancelled` or `filler`.
        wave: in which it is sent.
        prompt: units; empty where it rescores.
        rescores: place of the request whose prompt and output are its prompt; else None.
        max_new: the most tokens to answer with.
        sampling: name of an entry of `sampling` of the data, all fields of which are sent.
        seed: None where the sampling is not seeded.
        top: likeliest tokens asked for at each position; None where no log-probabilities are.
        echo: whether log-probabilities of the prompt are asked for.
        varying: what changes from round to round.
    """

    role: str
    wave: int
    prompt: tuple[int, ...]
    rescores: int | None
    max_new: int
    sampling: str
    seed: int | None
    top: int | None
    echo: bool
    varying: Varying | None

    def document(self) -> dict[str, Any]:
        """Give the LCJ form."""
        told = asdict(self)
        varying = self.varying
        told["prompt"] = list(self.prompt)
        told["varying"] = varying and {"field": varying.field, "values": list(varying.values)}
        return told

    def like(self, number: int) -> Any:
        """Give what is equal for requests that are alike, in whatever cell [CERT-14].

        Returns:
            None where it is like none: its client leaves, or it is drawn without a seed.
        """
        sent = self.fields(number)
        if self.role == "cancelled" or (self.seed is not None and sent["seed"] is None):
            return None
        varying = self.varying and (self.varying.field, sent[self.varying.field])
        return replace(self, wave=0, varying=None), varying

    def fields(self, number: int) -> dict[str, Any]:
        """Give what is sent in a round beside prompt and echo: every sampling field.

        Returns:
            max_new, temperature and top_p (texts of numbers), top_k (0: not limited), seed, top.
            A value of None is a field that is not sent.
        """
        chosen = next(one for one in spec.load(FILE)["sampling"] if one["name"] == self.sampling)
        sent = {
            "max_new": self.max_new,
            "temperature": chosen["temperature"],
            "top_p": chosen["top_p"],
            "top_k": chosen["top_k"],
            "seed": self.seed,
            "top": self.top,
        }
        if self.varying is not None:
            values = self.varying.values
            sent[self.varying.field] = values[number % len(values)]
        return sent


def top(plan: Plan) -> int | None:
    """Give how many likeliest tokens are asked for; None where no log-probabilities are."""
    return int(plan["top"]) if plan["observable"] == "logprobs" else None


def units(plan: Plan, case: str, stream: str, count: int) -> tuple[int, ...]:
    """Give the first units of a stream of a case [CERT-1]."""
    return tuple(_units(plan, case, stream, count))[:count]


def _units(plan: Plan, case: str, stream: str, count: int) -> Iterator[int]:
    for block in range(-(-count // _WORDS)):
        text = f"{DOMAIN}/{plan['seed']}/{case}/{stream}/{block}"
        digest = hashlib.sha256(text.encode("ascii")).digest()
        for at in range(0, 4 * _WORDS, 4):
            word = int.from_bytes(digest[at : at + 4], "big")
            yield plan["low"] + word % plan["span"]


def text_of(prompt: Sequence[int]) -> str:
    """Give the prompt of a plan whose form is `text`: words, joined by single spaces."""
    words = spec.load(FILE)["words"]
    return " ".join(words[unit] for unit in prompt)


def case_requests(plan: Plan, case: Mapping[str, Any]) -> tuple[Request, ...]:
    """Give the requests of a case, by place [CERT-2]."""
    groups = [group for group in case["requests"] for _ in range(group["count"])]
    return tuple(_request(plan, case["name"], place, one) for place, one in enumerate(groups))


def fillers(plan: Plan, case: str, wave: int, count: int) -> tuple[Request, ...]:
    """Give the first fillers of a case [CERT-5]."""
    size = spec.load(FILE)["filler_units"]
    return tuple(
        Request(
            role="filler",
            wave=wave,
            prompt=units(plan, case, f"filler/{at}", size),
            rescores=None,
            max_new=plan["max_new"],
            sampling="greedy",
            seed=None,
            top=top(plan),
            echo=False,
            varying=None,
        )
        for at in range(count)
    )


def altered(plan: Plan, request: Request) -> Request:
    """Give a request whose last unit is another one [CERT-5]."""
    *head, last = request.prompt
    other = plan["low"] + (last - plan["low"] + 1) % plan["span"]
    return replace(request, prompt=(*head, other))


def _request(plan: Plan, case: str, place: int, group: Mapping[str, Any]) -> Request:
    data = spec.load(FILE)
    sampling = next(one for one in data["sampling"] if one["name"] == group["sampling"])
    prompt: list[int] = []
    for piece in group["pieces"]:
        stream = f"own/{place}" if piece["stream"] == "own" else piece["stream"]
        size = piece["blocks"] * plan["block_size"] + piece["chunks"] * plan["chunk"]
        prompt += units(plan, case, stream, size + piece["units"])
    varying = group["varying"]
    rescores = group["rescores"]
    return Request(
        role=group["role"],
        wave=group["wave"],
        prompt=tuple(prompt),
        rescores=rescores,
        max_new=plan["max_new"] if rescores is None else 1,
        sampling=group["sampling"],
        seed=data["seed_base"] + place if sampling["seeded"] else None,
        top=top(plan),
        echo=rescores is not None,
        varying=varying and Varying(varying["field"], tuple(varying["values"])),
    )
