"""An ``experience.json`` as Builderforce Memory writes it: its names, its extras, no field of Perdure's."""

from __future__ import annotations

from typing import Any

AT = 1_764_500_000_000
"""Milliseconds since 1970: when the first demonstration began."""


def element(name: str, **fields: Any) -> dict[str, Any]:
    """An element as the recorder describes it."""
    return {
        "name": name,
        "automationId": f"{name.lower()}Box",
        "controlType": "Edit",
        "className": "TextBox",
        "windowTitle": "Invoices",
        "processName": "invoices",
        "relX": 120,
        "relY": 88.5,
        **fields,
    }


def snapshot(**changed: Any) -> dict[str, Any]:
    """The whole file, its members replaced by ``changed``."""
    whole: dict[str, Any] = {
        "schema": "evermind.experience/1",
        "episodes": [
            {
                "id": "a1b2c3d4e5f60718",
                "name": "Bill a customer",
                "program": "C:\\Program Files\\Invoices\\invoices.exe",
                "args": ["--profile", "Büro"],
                "startedAt": AT,
                "endedAt": AT + 61_000,
                "recorder": {"build": "2.4.1", "screen": [2560, 1440]},
                "steps": [
                    {
                        "id": "s1",
                        "atMs": 900,
                        "action": {"kind": "setValue", "target": element("Amount"), "value": "125.00"},
                        "screenshot": "s1.png",
                        "confidence": 0.97,
                    },
                    {
                        "id": "s2",
                        "atMs": 1800,
                        "action": {"kind": "setValue", "target": element("Code"), "value": "", "secret": True},
                    },
                    {"id": "s3", "atMs": 2400, "action": {"kind": "keys", "keys": "Tab", "target": element("Amount")}},
                    {"id": "s4", "atMs": 2500, "action": {"kind": "keys", "keys": "Ctrl+S"}},
                    {
                        "id": "s5",
                        "atMs": 3600,
                        "action": {"kind": "click", "target": element("发送", controlType="Button", role="primary")},
                        "screenshot": "s5.png",
                    },
                ],
            },
            {
                "id": "ffeeddccbbaa9988",
                "name": "Open the ledger",
                "program": "ledger",
                "args": [],
                "startedAt": AT + 100_000,
                "endedAt": None,
                "steps": [
                    {"id": "x", "atMs": 5, "action": {"kind": "click", "target": {"name": "Ledger"}}},
                ],
            },
        ],
        "skills": [
            {
                "id": "0011223344556677",
                "name": "Bill a customer",
                "program": "C:\\Program Files\\Invoices\\invoices.exe",
                "args": ["--profile", "Büro"],
                "params": [
                    {"name": "amount", "label": "Amount", "default": "125.00", "secret": False},
                    {"name": "code", "label": "Code", "default": None, "secret": True},
                ],
                "steps": [
                    {
                        "id": "s1",
                        "action": {
                            "kind": "setValue",
                            "target": element("Amount"),
                            "value": {"from": "param", "name": "amount"},
                        },
                        "requiresApproval": False,
                        "screenshot": "s1.png",
                    },
                    {
                        "id": "s2",
                        "action": {
                            "kind": "setValue",
                            "target": element("Code"),
                            "value": {"from": "param", "name": "code"},
                        },
                        "requiresApproval": False,
                    },
                    {
                        "id": "s3",
                        "action": {
                            "kind": "setValue",
                            "target": element("Currency"),
                            "value": {"from": "literal", "text": "EUR"},
                        },
                        "requiresApproval": False,
                    },
                    {"id": "s4", "action": {"kind": "keys", "keys": "Ctrl+S"}, "requiresApproval": False},
                    {
                        "id": "s5",
                        "action": {"kind": "click", "target": element("发送", controlType="Button")},
                        "requiresApproval": True,
                        "screenshot": "s5.png",
                    },
                ],
                "sourceEpisode": "a1b2c3d4e5f60718",
                "createdAt": AT + 200_000,
                "routine": {
                    "schedule": {"every": "day", "hour": 7, "minute": 30},
                    "values": {"amount": "99.00"},
                    "enabled": True,
                    "lastRunAt": AT + 300_000,
                },
            },
            {
                "id": "8899aabbccddeeff",
                "name": "Back up",
                "program": "backup.exe",
                "args": [],
                "params": [],
                "steps": [
                    {"id": "b1", "action": {"kind": "click", "target": {"name": "Start"}}, "requiresApproval": False}
                ],
                "sourceEpisode": "gone0000gone0000",
                "createdAt": AT + 250_000,
                "pinned": True,
                "routine": {
                    "schedule": {"every": "minutes", "minutes": 90},
                    "values": {},
                    "enabled": False,
                    "lastRunAt": None,
                },
            },
        ],
        "runs": [
            {
                "id": "run0000000000001",
                "skillId": "0011223344556677",
                "skillName": "Bill a customer",
                "trigger": "manual",
                "status": "succeeded",
                "startedAt": AT + 260_000,
                "endedAt": AT + 290_000,
                "error": None,
                "steps": [
                    {"idx": 0, "stepId": "s1", "outcome": "ok", "detail": None, "at": AT + 261_000},
                    {"idx": 1, "stepId": "s2", "outcome": "fallback", "detail": "by position", "at": AT + 262_000},
                    {"idx": 4, "stepId": "s5", "outcome": "approved", "detail": None, "at": AT + 270_000},
                    {"idx": 4, "stepId": "s5", "outcome": "ok", "detail": "sent", "at": AT + 271_000},
                ],
            },
            {
                "id": "run0000000000002",
                "skillId": "0011223344556677",
                "skillName": "Bill a customer",
                "trigger": "routine",
                "status": "failed",
                "startedAt": AT + 300_000,
                "endedAt": AT + 305_000,
                "error": "The window did not open.",
                "steps": [{"idx": 0, "stepId": "s1", "outcome": "failed", "detail": "no window", "at": AT + 301_000}],
            },
            {
                "id": "run0000000000003",
                "skillId": "deletedskill0000",
                "skillName": "An older one",
                "trigger": "manual",
                "status": "denied",
                "startedAt": AT + 310_000,
                "endedAt": AT + 320_000,
                "error": None,
                "steps": [{"idx": 2, "stepId": "z", "outcome": "denied", "detail": None, "at": AT + 315_000}],
            },
        ],
        "learned": {"0011223344556677": 1, "ffeeddccbbaa9988": 2},
        "adaptations": [
            {
                "index": 1,
                "version": "7+exp1",
                "learned": ["0011223344556677"],
                "passes": 1,
                "loss": 4.1875,
                "at": AT + 400_000,
            },
            {
                "index": 2,
                "version": "7+exp2",
                "learned": ["ffeeddccbbaa9988"],
                "passes": 3,
                "loss": 3.5,
                "at": AT + 500_000,
            },
        ],
    }
    return {**whole, **changed}
