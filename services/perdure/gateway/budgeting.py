"""Answers of REST within a number of tokens: texts are cut, then whole items left out, the best kept longest."""

from __future__ import annotations

from perdure.domain.recall.budget import estimate_tokens
from perdure.domain.text import cut
from perdure.gateway.present import Json

TEXTS = ("content", "problem", "solution")
SHORTEST_CHARS = 80
"""A text cut below this says nothing; its item is left out instead."""


def within_tokens(found: Json, max_tokens: int) -> None:
    """Shortens a search answer in place so that its texts take ``max_tokens`` tokens at most; says ``truncated``.

    Args:
        found: As made by ``present.search``.
        max_tokens: >= 1. Summaries count too; the best items keep their text longest.
    """
    left = max_tokens
    for part in ("recall", "associations", "recognition", *(["procedures"] if "procedures" in found else [])):
        kept: list[Json] = []
        for item in found[part]:
            texts = item.get("memory", item)
            names = TEXTS if "memory" in item else ("text",) if part == "procedures" else ("summary",)
            cost = sum(estimate_tokens(texts[name]) for name in names if texts.get(name))
            if cost > left:
                found["truncated"] = True
                # about four characters a token, so a cut text never overruns by much; then measured again
                texts = _shortened(texts, names, left)
                cost = sum(estimate_tokens(texts[name]) for name in names if texts.get(name))
                if cost > left:
                    break
                kept.append({**item, "memory": texts} if "memory" in item else {**item, **texts})
                left -= cost
                break
            kept.append(item)
            left -= cost
        if len(kept) < len(found[part]):
            found["truncated"] = True
        found[part] = kept


def _shortened(texts: Json, names: tuple[str, ...], tokens: int) -> Json:
    """The texts cut to ``tokens`` tokens together, the first longest; too much where nothing sensible fits."""
    out = dict(texts)
    for name in names:
        text = out.get(name)
        if not text:
            continue
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if estimate_tokens(cut(text, middle)) <= tokens:
                low = middle
            else:
                high = middle - 1
        if low < len(text) and low < SHORTEST_CHARS and name == names[0]:
            return texts
        out[name] = cut(text, low)
        tokens -= estimate_tokens(out[name])
    return out
