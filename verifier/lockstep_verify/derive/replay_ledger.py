"""An execution without its model: what workload, schedule and emitted tokens decide (RPL-7).

The machine of `lifecycle_machine` says what is legal; the order of eviction, the written slots and
the prefix index are kept here [ENG-4] to [ENG-10].
"""

import hashlib
from typing import Any, NamedTuple

from lockstep_verify.derive.lifecycle_machine import Machine, Step
from lockstep_verify.errors import Refusal

NAMING = ("cache_hit", "chunk", "decode", "evict")
"""Events whose blocks an action may name [SCHED-10]."""


def number(value: int) -> bytes:
    """Encode u64 [ENG-2]."""
    return value.to_bytes(8, "big")


def numbers(values: "list[int] | tuple[int, ...]") -> bytes:
    """Encode numbers one after the other."""
    return b"".join(value.to_bytes(8, "big") for value in values)


def framed(tag: str, *fields: bytes) -> bytes:
    """Give H(tag, fields) [ENG-2]."""
    held = hashlib.sha256()
    for field in (tag.encode("ascii"), *fields):
        held.update(number(len(field)))
        held.update(field)
    return held.digest()


class Row(NamedTuple):
    """A packed row: request, position, token, slot, and whether logits are wanted."""

    request: int
    position: int
    token: int
    slot: int
    output: int


class Sequence:
    """A request's known tokens and the hashes of its whole blocks [ENG-8]."""

    def __init__(self, request: dict[str, Any], output: dict[str, Any], root: bytes) -> None:
        self.id: str = request["id"]
        self.max_new: int = request["max_new"]
        self.heeds_eos: bool = not request["ignore_eos"]
        self.tokens: list[int] = list(request["prompt"])
        self.prompt = len(self.tokens)
        self.output: list[int] = output["tokens"]
        self.stopped = False
        self.hashes = [root]

    @property
    def emitted(self) -> int:
        """The number of tokens emitted so far."""
        return len(self.tokens) - self.prompt

    def hash(self, block: int, size: int) -> bytes:
        """Give the hash of a whole block of known tokens."""
        while len(self.hashes) <= block + 1:
            first = (len(self.hashes) - 1) * size
            content = numbers(self.tokens[first : first + size])
            self.hashes.append(framed("lockstep/prefix-block/1", self.hashes[-1], content))
        return self.hashes[block + 1]


class Ledger:
    """Requests, blocks and prefix index, taken action by action.

    Args:
        blocks: of the pool.
        size: token slots of a block.
        model: M of [ENG-8].
        stop_tokens: of the model.
    """

    def __init__(self, blocks: int, size: int, model: bytes, stop_tokens: list[int]) -> None:
        self.machine = Machine(blocks, size, "")
        self.size = size
        self.model = model
        self.stop_tokens = frozenset(stop_tokens)
        self.sequences: list[Sequence] = []
        self.evictable: list[int] = []
        self.written = [0] * blocks
        self.index: dict[bytes, int] = {}
        self.held: dict[int, bytes] = {}
        self.rows: list[Row] = []
        self.computing: list[int] = []
        self.emitting: list[int] = []
        self.publishing: dict[bytes, int] = {}
        self._pending: dict[bytes, int] = {}

    def submit(self, request: dict[str, Any], output: dict[str, Any]) -> None:
        """Take in a request that fits, which was seen to before."""
        root = framed(
            "lockstep/prefix-root/1", self.model, number(self.size), request["salt"].encode("utf-8")
        )
        self.machine.submit(len(request["prompt"]), request["max_new"])
        self.sequences.append(Sequence(request, output, root))

    def longest_run(self, who: int) -> list[int]:
        """Give the blocks that a lookup finds [ENG-9]."""
        sequence, run = self.sequences[who], list[int]()
        for place in range((len(sequence.tokens) - 1) // self.size):
            block = self.index.get(sequence.hash(place, self.size))
            if block is None:
                break
            run.append(block)
        return run

    def act(self, who: int, action: dict[str, Any], at: str) -> Step:
        """Take an action, and give the event that it is.

        Raises:
            Refusal: STEP_ORDER, REQUEST_ENDED, REQUEST_NOT_ENDED, PREFIX_NOT_HELD,
                EVENT_NOT_ALLOWED, at the action.
        """
        event, life, sequence = action["event"], self.machine.requests[who], self.sequences[who]
        if who in self.computing:
            raise Refusal("STEP_ORDER", at, "no action of a request after its rows", event)
        ended = sequence.stopped or life.outputs >= life.max_new
        if ended and life.active and event != "finish":
            raise Refusal("REQUEST_ENDED", at, "finish", event)
        if not ended and life.state == "DECODING" and event == "finish":
            raise Refusal("REQUEST_NOT_ENDED", at, "an end of sequence or max_new", event)
        step = self._step(who, action, at)
        table = [*life.table, *step["blocks"]]
        first, old = life.computed, list(life.table)
        if not (self.machine.writes_alone(step) and self.machine.take(step)):
            raise Refusal("EVENT_NOT_ALLOWED", at, "a legal event", f"{event} of {sequence.id}")
        self._move(step, old)
        if event in ("chunk", "decode"):
            self._compute(who, step, first, table)
        return step

    def _step(self, who: int, action: dict[str, Any], at: str) -> Step:
        """Choose what an action leaves open [SCHED-14]."""
        event, blocks = action["event"], list(action.get("blocks", ()))
        tokens = action.get("tokens", 0)
        step: Step = {
            "request": who, "event": event, "tokens": tokens, "blocks": blocks, "published": [],
        }  # fmt: skip
        life, self._pending = self.machine.requests[who], {}
        if event == "cache_hit":
            run = self.longest_run(who)
            if blocks != run[: len(blocks)]:
                raise Refusal("PREFIX_NOT_HELD", at, run, blocks)
            step["blocks"] = blocks or run
        elif event == "evict":
            step["blocks"] = blocks or self.evictable[:1]
        elif event in ("chunk", "decode"):
            until = life.computed + tokens if event == "chunk" else life.known
            if not blocks:
                wanted = self.machine.owed(life)
                if event == "chunk":
                    wanted = max(0, self.machine.blocks_of(until) - len(life.table))
                free = (b for b in range(len(self.written)) if self.machine.free(b))
                step["blocks"] = [block for block, _ in zip(free, range(wanted), strict=False)]
            if until <= life.known:
                step["published"] = self._publishable(who, step["blocks"], until)
        return step

    def _publishable(self, who: int, blocks: list[int], until: int) -> list[int]:
        """Give the whole blocks whose content is not offered, and note them [ENG-7]."""
        table = self.machine.requests[who].table + blocks
        found: list[int] = []
        for place in range(min(until // self.size, len(table))):
            block = table[place]
            if not self.machine.cached[block]:
                digest = self.sequences[who].hash(place, self.size)
                if digest not in self.index and digest not in self.publishing:
                    self._pending[digest] = block
                    found.append(block)
        return found

    def _move(self, step: Step, table: list[int]) -> None:
        """Let an event take effect on the order of eviction and the index [ENG-5]."""
        event = step["event"]
        if event == "cache_hit":
            self.evictable = [block for block in self.evictable if block not in step["blocks"]]
        elif event == "evict":
            for block in step["blocks"]:
                self.evictable.remove(block)
                del self.index[self.held.pop(block)]
        elif event in ("preempt_rc", "finish"):
            for block in reversed(table):
                if self.machine.references[block] == 0 and self.machine.cached[block]:
                    self.evictable.append(block)

    def _compute(self, who: int, step: Step, first: int, table: list[int]) -> None:
        """Note the rows of a chunk or decode, and what it publishes [ENG-10]."""
        sequence, life = self.sequences[who], self.machine.requests[who]
        for block in step["blocks"]:
            self.written[block] = 0
        last = life.computed - 1
        for position in range(first, last + 1):
            block, offset = table[position // self.size], position % self.size
            output = int(step["event"] == "decode" and position == last)
            slot = block * self.size + offset
            self.rows.append(Row(who, position, sequence.tokens[position], slot, output))
        self.computing.append(who)
        if step["event"] == "decode":
            self.emitting.append(who)
        self.publishing |= self._pending

    def end_step(self) -> list[int]:
        """End the step: rows are written, tokens emitted, blocks offered; give who emitted.

        Each who emits has a token left in its output.
        """
        for row in self.rows:
            self.written[row.slot // self.size] = row.slot % self.size + 1
        for who in self.emitting:
            sequence = self.sequences[who]
            sequence.tokens.append(sequence.output[sequence.emitted])
            sequence.stopped = sequence.heeds_eos and sequence.tokens[-1] in self.stop_tokens
        for digest, block in self.publishing.items():
            self.index[digest] = block
            self.held[block] = digest
        emitted, self.publishing = self.emitting, {}
        self.computing, self.emitting = [], []
        return emitted

    def state_numbers(self, states: list[str]) -> list[int]:
        """Give the numbers A of [ENG-16]."""
        machine = self.machine
        held = [len(self.written)]
        for facts in zip(machine.references, machine.cached, self.written, strict=True):
            held += map(int, facts)
        held += [len(self.evictable), *self.evictable, len(self.sequences)]
        for life, sequence in zip(machine.requests, self.sequences, strict=True):
            held += [states.index(life.state), life.computed, life.outputs, int(sequence.stopped)]
            held += [len(life.table), *life.table]
        return [*held, len(machine.queue), *machine.queue]
