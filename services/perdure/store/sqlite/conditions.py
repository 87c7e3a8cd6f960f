"""A ``Filter`` as SQL on the table ``memory m``."""

from __future__ import annotations

from typing import Any

from perdure.domain.memory import Filter, Status
from perdure.store.sqlite.rows import micros, to_list

Condition = tuple[str, list[Any]]
"""SQL that begins with a term (no WHERE), and its parameters."""


def conditions(filter_: Filter, namespace: int) -> Condition:
    """Terms joined by AND, the namespace always among them."""
    terms = ["m.namespace = ?"]
    values: list[Any] = [namespace]

    def among(column: str, wanted: tuple[str, ...], *, negated: bool = False) -> None:
        if not wanted:
            return
        if len(wanted) == 1:
            terms.append(f"{column} {'<>' if negated else '='} ?")
            values.append(wanted[0])
        else:
            terms.append(f"{column} {'NOT ' if negated else ''}IN (SELECT value FROM json_each(?))")
            values.append(to_list(wanted))

    among("m.status", filter_.statuses)
    among("m.project", filter_.projects)
    among("m.project", filter_.not_projects, negated=True)
    among('m."key"', filter_.keys)
    among("m.type", filter_.types)
    among("m.tier", filter_.tiers)
    if filter_.created_from is not None:
        terms.append("m.created_at >= ?")
        values.append(micros(filter_.created_from))
    if filter_.created_to is not None:
        terms.append("m.created_at < ?")
        values.append(micros(filter_.created_to))
    if filter_.as_of is not None:
        terms.append("(m.expires_at IS NULL OR m.expires_at > ?)")
        values.append(micros(filter_.as_of))
    for kind, value in wanted_labels(filter_):
        terms.append(
            'EXISTS (SELECT 1 FROM label l WHERE l.namespace = ? AND l.kind = ? AND l.value = ? AND l.memory = m."row")'
        )
        values += [namespace, kind, value]
    return " AND ".join(terms), values


def wanted_labels(filter_: Filter) -> tuple[tuple[str, str], ...]:
    """Kind and case-folded value of every label the filter asks for."""
    return tuple(
        (kind, value.casefold())
        for kind, wanted in (("tag", filter_.tags), ("concept", filter_.concepts), ("file", filter_.files))
        for value in wanted
    )


def is_wide(filter_: Filter) -> bool:
    """Whether the filter usually lets nearly all through: active ones, perhaps unexpired, and nothing else."""
    return filter_.statuses == (Status.ACTIVE,) and filter_ == Filter(as_of=filter_.as_of)
