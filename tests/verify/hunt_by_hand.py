"""A third reading of spec/layout.md and spec/hunt.md, by enumeration: slow, and sharing nothing.

Loaded by the fixture `by_hand`. Every element of every layout is placed one by one, by the table
of coordinates, into dictionaries; predicates are put together from that and from words, tokens and
differences that a test gives.
"""

from __future__ import annotations

import hashlib
import json
import re
from itertools import product
from math import gcd, prod
from pathlib import Path
from typing import Any

SPEC = Path(__file__).resolve().parents[2] / "spec"
DATA = json.loads((SPEC / "hunt.json").read_text("utf-8"))
LEMMAS = json.loads((SPEC / "lemmas.json").read_text("utf-8"))
DECLARED = ["attention", "block", "kv_heads", "quantisation", "rank_axis", "ranks", "tensors"]
Json = dict[str, Any]


def lcj(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def geometry(**changes: Any) -> Json:
    return {
        "tokens": 5,
        "layers": 3,
        "kv_heads": 2,
        "head_dim": 8,
        "latent_dim": 0,
        "rope_dim": 0,
        "dtype": "float16",
        **changes,
    }


def tensor(name: str, components: str, axes: str, bits: int | list[int] = 16, **other: int) -> Json:
    names = components.split(" ")
    widths = bits if isinstance(bits, list) else [bits] * len(names)
    pieces = re.findall(r"\([^)]*\)|[^ ]+", axes)
    return {
        "name": name,
        "components": [{"name": n, "bits": b} for n, b in zip(names, widths, strict=True)],
        "axes": pieces,
        "x": 0,
        "pad_tokens": 0,
        "pad_head_dim": 0,
        "reserve": 0,
        **other,
    }


def declaration(name: str, *tensors: Json, **changes: Any) -> Json:
    return {
        "name": name,
        "engine": name,
        "attention": "gqa",
        "kv_heads": 0,
        "ranks": 1,
        "rank_axis": "none",
        "block": 0,
        "quantisation": "none",
        "tensors": list(tensors),
        "citation": {"repository": "a/b", "path": "c.py", "commit": "0123abcd", "note": ""},
        "source": {
            "path": f"layouts/{name}.toml",
            "sha256": hashlib.sha256(name.encode()).hexdigest(),
        },
        **changes,
    }


def dims(shape: Json) -> dict[str, int]:
    return {
        "K": shape["head_dim"],
        "V": shape["head_dim"],
        "latent": shape["latent_dim"],
        "scale": shape["latent_dim"] // 128,
        "rope": shape["rope_dim"],
    }


def tokens_of(axes: list[str]) -> list[str]:
    return [token for axis in axes for token in re.findall(r"[A-Za-z0-9]+", axis)]


def place(layout: Json, shape: Json) -> Json | None:
    """Put each element into its slots by the table of [LAY-7]; None where not realisable."""
    names = [c["name"] for t in layout["tensors"] for c in t["components"]]
    heads_here = shape["kv_heads"] if "K" in names else 1
    if "K" in names and layout["kv_heads"] not in (0, shape["kv_heads"]):
        return None
    ranks, sort = layout["ranks"], layout["rank_axis"]
    if (sort == "sharded" and heads_here % ranks) or (sort == "replicated" and ranks % heads_here):
        return None
    if "scale" in names and shape["latent_dim"] % 128:
        return None
    extent_of = dims(shape)
    for t in layout["tensors"]:
        own = [extent_of[c["name"]] for c in t["components"]]
        if 0 in own or (t["x"] and any(d % t["x"] for d in own)):
            return None
        if "KV" in tokens_of(t["axes"]) and len(set(own)) > 1:
            return None
    copies = ranks // heads_here if sort == "replicated" else 1
    where: dict[tuple[str, int, int, int], list[int]] = {}
    taken: list[int] = []
    shapes: list[Json] = []
    before = total_bytes = 0
    for t in layout["tensors"]:
        slot = gcd(*(c["bits"] for c in t["components"]))
        widths = [c["bits"] // slot for c in t["components"]]
        own = [extent_of[c["name"]] for c in t["components"]]
        up = lambda n, unit: n if not unit else (n + unit - 1) // unit * unit  # noqa: E731
        extents = {
            "1": 1,
            "L": shape["layers"],
            "KV": len(own),
            "C": sum(d * w for d, w in zip(own, widths, strict=True)),
            "T": t["reserve"] + up(shape["tokens"], t["pad_tokens"]),
            "Tb": t["reserve"] + -(-shape["tokens"] // max(layout["block"], 1)),
            "Ti": layout["block"],
            "R": ranks,
            "H": heads_here // ranks if sort == "sharded" else 1 if ranks > 1 else heads_here,
            "D": up(own[0], t["pad_head_dim"]),
            "Dg": own[0] // t["x"] if t["x"] else 0,
            "Dx": t["x"],
        }
        opened = [token for token in tokens_of(t["axes"]) if token != "L"]
        size = prod(extents[token] for token in opened)
        for i, component in enumerate(t["components"]):
            name = component["name"]
            for tok, h, d, copy in product(
                range(shape["tokens"]), range(heads_here), range(own[i]), range(copies)
            ):
                rank, local = 0, h
                if sort == "sharded":
                    rank, local = divmod(h, heads_here // ranks)
                elif sort == "replicated":
                    rank, local = h * copies + copy, 0
                coordinate = {
                    "1": 0,
                    "KV": i,
                    "C": sum(a * b for a, b in zip(own[:i], widths, strict=False)) + d * widths[i],
                    "T": t["reserve"] + tok,
                    "Tb": t["reserve"] + tok // max(layout["block"], 1),
                    "Ti": tok % max(layout["block"], 1),
                    "R": rank,
                    "H": local,
                    "D": d,
                    "Dg": d // max(t["x"], 1),
                    "Dx": d % max(t["x"], 1),
                }
                first = slots = 0
                for part in range(widths[i]):
                    slots = 0
                    for token in opened:
                        digit = coordinate[token] + (part if token == "C" else 0)
                        assert 0 <= digit < extents[token], (token, digit)
                        slots = slots * extents[token] + digit
                    taken.append(before + slots)
                    first = first if part else slots
                where.setdefault((name, tok, h, d), []).append(before + first)
        shapes.append(
            {
                "tensor": t["name"],
                "extents": [prod(extents[x] for x in tokens_of([a])) for a in t["axes"]],
            }
        )
        total_bytes += (size * slot + 7) // 8
        before += size
    order = ["K", "V", "latent", "scale", "rope"]
    keys = sorted(where, key=lambda key: (order.index(key[0]), *key[1:]))
    firsts = [sorted(where[key]) for key in keys]
    limit = DATA["limits"]["image_elements"] // copies
    shown = firsts if len(firsts) <= limit else firsts[: limit // 2] + firsts[-(limit // 2) :]
    image = b"".join(p.to_bytes(8, "little") for element in shown for p in element)
    return {
        "firsts": firsts,
        "covered": len(taken),
        "names": sorted(names),
        "derived": {
            "realisable": True,
            "native_shapes": shapes,
            "positions": before,
            "padding_positions": before - len(taken),
            "replicas": copies,
            "native_bytes": total_bytes,
            "bijective": len(set(taken)) == len(taken),
            "identity": firsts == [[i] for i in range(len(firsts))],
            "image_sha256": hashlib.sha256(image).hexdigest(),
        },
    }


ABSENT = {
    "realisable": False,
    "native_shapes": [],
    "positions": None,
    "padding_positions": None,
    "replicas": None,
    "native_bytes": None,
    "bijective": None,
    "identity": None,
    "image_sha256": None,
}


def own_lemmas(layout: Json) -> list[str]:
    """Look up the lemmas of a declaration [HUNT-18]."""
    key = hashlib.sha256(lcj({name: layout[name] for name in DECLARED})).hexdigest()
    return list(LEMMAS["layouts"].get(key, []))


def lemmas(src: Json, dst: Json) -> list[Json]:
    """List the lemmas of a row with a proof [HUNT-18]."""
    names = LEMMAS["rows"] + own_lemmas(src)
    if own_lemmas(src) != own_lemmas(dst):
        names += own_lemmas(dst)
    digests = {lemma["name"]: lemma["statement_sha256"] for lemma in LEMMAS["lemmas"]}
    return [{"name": name, "statement_sha256": digests[name]} for name in names]


def statement(
    shape: Json,
    layouts: list[Json],
    groups: list[Json],
    rows: dict[str, tuple[str | None, list[str]]],
    layers: list[int],
    foils: list[tuple[str, str]],
    spec_digest: str,
) -> Json:
    """Build a statement; `rows` gives frontier code and words by pair_id."""
    placed = {layout["name"]: place(layout, shape) for layout in layouts}
    named = {layout["name"]: layout for layout in layouts}
    tokens, wrong = [7, 3, 7, 1], [7, 3, 9, 9]
    table, decoded = [], []
    for pair_id in sorted(rows):
        frontier, words = rows[pair_id]
        src, dst = pair_id.split("->")
        row: Json = {
            "pair_id": pair_id,
            "src": src,
            "dst": dst,
            "frontier_code": frontier,
            "verdict": "REFUSED",
            "transformations": sorted(words),
            "observations": dict.fromkeys(DATA["observations"]),
            "proof": None,
            "native_bytes": None,
        }
        if frontier is None:
            a, b = placed[src]["derived"], placed[dst]["derived"]  # type: ignore[index]
            lossy_src = named[src]["quantisation"] != "none"
            lossy_dst = named[dst]["quantisation"] != "none"
            unread = len(layers) * a["padding_positions"]
            byte = not lossy_dst and a["padding_positions"] == 0
            lossy = lossy_src or lossy_dst
            row["verdict"] = "NOT_EXACT" if lossy else "EXACT_BYTE" if byte else "EXACT_TOKEN"
            seen = [not lossy_src, byte, not lossy_dst, not lossy]
            row["observations"] = dict(zip(DATA["observations"], seen, strict=True))
            row["proof"] = {
                "kind": "index-permutation-exhaustive",
                "positions_checked": b["positions"],
                "positions_total": b["positions"],
                "source_positions_checked": a["positions"],
                "source_positions_total": a["positions"],
                "dest_padding_positions": b["padding_positions"],
                "source_padding_positions": a["padding_positions"],
                "unread_padding_positions": unread,
                "dest_bijective": True,
                "source_bijective": True,
                "gather_agrees": True,
                "lemmas": lemmas(named[src], named[dst]),
            }
            row["native_bytes"] = {"src": a["native_bytes"], "dst": b["native_bytes"]}
            decoded.append(
                {
                    "pair_id": pair_id,
                    "roundtrip_diff_positions": unread + 11 if lossy_dst else unread,
                    "decoded_tokens": wrong if lossy else tokens,
                }
            )
        table.append(row)
    anchors = list(dict.fromkeys(group["anchor"] for group in groups))
    realisable = {name: held for name, held in placed.items() if held}
    exact = [row for row in table if row["verdict"].startswith("EXACT")]
    lossless = [
        name
        for name in named
        if any(name in group["members"] for group in groups)
        and any(name in (row["src"], row["dst"]) for row in exact)
    ]
    proved = [row for row in table if row["proof"]]
    images = {
        name: (held["derived"]["positions"], held["names"], held["firsts"])
        for name, held in realisable.items()
    }
    distinct = {repr(image): image[0] for image in images.values()}
    verdicts = [row["verdict"] for row in table]
    outcomes = {}
    if not all(own_lemmas(named[name]) for name in lossless):
        outcomes["lossless_layouts_have_lemmas"] = "not_made"
    if any(layout["citation"]["commit"] is None for layout in layouts):
        outcomes["layouts_carry_pinned_citations"] = "not_made"
    if not {"EXACT_BYTE", "EXACT_TOKEN"} <= set(verdicts):
        outcomes["both_exactness_classes_occur"] = "vacuous"
    if "EXACT_TOKEN" not in verdicts:
        outcomes["token_rows_differ_on_padding_only"] = "vacuous"
    predicate: Json = {
        "issued_at": "2026-05-01T00:00:00Z",
        "critical": [],
        "producer": dict.fromkeys(
            ("name", "version", "python", "numpy", "machine", "command"), "by hand"
        ),
        "set": "by-hand",
        "geometry": shape,
        "layouts": [
            {**layout, "derived": held["derived"] if (held := placed[layout["name"]]) else ABSENT}
            for layout in layouts
        ],
        "groups": groups,
        "rows": table,
        "transfer": {
            "layers": layers,
            "gather_payloads": 6,
            "payload_seed": 1,
            "weights_seed": 2,
            "steps": len(tokens),
            "references": [{"anchor": anchor, "tokens": tokens} for anchor in anchors],
            "rows": decoded,
        },
        "coverage": {
            "layouts_enumerated": len(realisable),
            "positions_enumerated": sum(image[0] for image in images.values()),
            "layers_enumerated": 1,
            "rows_composed": len(proved),
            "rows_decoded": len(decoded),
            "layers_decoded": len(layers),
        },
        "counts": {
            "layouts": len(layouts),
            "rows": len(table),
            **{verdict.lower(): verdicts.count(verdict) for verdict in DATA["verdicts"]},
            "positions_checked": sum(row["proof"]["positions_total"] for row in proved),
            "source_positions_checked": sum(
                row["proof"]["source_positions_total"] for row in proved
            ),
            "distinct_images": len({repr(images[name]) for name in lossless}),
            "distinct_positions": sum(distinct.values()),
            "lemmas": len({one["name"] for row in proved for one in row["proof"]["lemmas"]}),
            "lossless_layouts": lossless,
            "identity_layouts": [
                name for name in lossless if realisable[name]["derived"]["identity"]
            ],
            "frontier_codes": sorted({code for code, _ in rows.values() if code}),
            "vocabulary": sorted({word for _, words in rows.values() for word in words}),
        },
        "checks": [
            {"name": check["name"], "outcome": outcomes.get(check["name"], "passed")}
            for check in DATA["checks"]
        ],
        "known_limits": [{"name": name, "holds": True} for name in DATA["known_limits"]],
        "falsifications": [
            {"name": name, "expected": code, "actual": code} for name, code in foils
        ],
    }
    sources = {layout["source"]["path"]: layout["source"]["sha256"] for layout in layouts}
    digests = {"spec": spec_digest, "layouts": hashlib.sha256(lcj(sources)).hexdigest()}
    built: Json = json.loads(
        lcj(
            {
                "_type": "https://in-toto.io/Statement/v1",
                "subject": [
                    {"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()
                ],
                "predicateType": "urn:lockstep:certificate:hunt:v1",
                "predicate": predicate,
            }
        )
    )
    return built


def four(foils: list[tuple[str, str]], spec_digest: str) -> Json:
    """Four layouts of 5 tokens, one of which refuses: 160 elements, 8 rows."""
    layouts = [
        declaration("paged", tensor("kv", "K V", "KV Tb Ti H D"), block=4),
        declaration("flat", tensor("k", "K", "T H D"), tensor("v", "V", "T H D")),
        declaration("heads", tensor("k", "K", "H T D"), tensor("v", "V", "H D T")),
        declaration("half", tensor("kv", "K V", "KV Tb Ti H D"), block=4, kv_heads=1),
    ]
    transposes = {"head_order_transpose", "v_dim_transpose"}
    rows: dict[str, tuple[str | None, list[str]]] = {
        "paged->flat": (None, ["kv_split", "reblock"]),
        "flat->paged": (None, ["kv_merge", "reblock"]),
        "paged->heads": (None, ["kv_split", "reblock", *transposes]),
        "heads->paged": (None, ["kv_merge", "reblock", *transposes]),
        "flat->heads": (None, [*transposes]),
        "heads->flat": (None, [*transposes]),
        "half->paged": ("X2_HEAD_GATHER", []),
        "paged->half": ("X2_HEAD_GATHER", []),
    }
    group = {"anchor": "paged", "members": ["paged", "flat", "heads", "half"]}
    return statement(geometry(), layouts, [group], rows, [0, 1, 2], foils, spec_digest)


def published(document: Json, foils: list[tuple[str, str]], spec_digest: str) -> Json:
    """The twelve layouts of the published document, with its own rows' words and codes."""
    layouts = []
    for engine in document["engines"]:
        k, v = " ".join(engine["k_axes"]), " ".join(engine["v_axes"])
        bits = 16 if engine["quant"] == "none" else 8
        if engine["kv"] == "interleaved":
            tensors = [tensor("kv", "K V", k, bits)]
        else:
            tensors = [
                tensor("k", "K", k, bits, x=engine["k_x"]),
                tensor("v", "V", v, bits, x=engine["v_x"]),
            ]
        layouts.append(
            declaration(
                engine["engine"],
                *tensors,
                attention=engine["attention"],
                block=engine["block"],
                kv_heads=engine["n_kv_heads"],
                quantisation="none" if engine["quant"] == "none" else "fp8_e4m3",
            )
        )
    rows = {
        row["pair_id"]: (row["frontier_code"], row["transformations"]) for row in document["rows"]
    }
    group = {"anchor": "vllm-fa", "members": [layout["name"] for layout in layouts]}
    shape = geometry(tokens=40)
    return statement(shape, layouts, [group], rows, [0, 1, 2], foils, spec_digest)
