"""Keys as recorders write them: "Enter", "{DEL}", "Ctrl+Enter", "Strg+S", "h", "hello".

Knows names of keys; knows nothing of what pressing them does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES: dict[str, str] = {}
for _key, _spellings in {
    "enter": "enter return cr newline numpadenter numenter kpenter kp_enter eingabe eingabetaste entrée intro invio",
    "delete": "delete del forwarddelete entf suppr supr canc kpdelete kp_delete numpaddelete deleteforward",
    "backspace": "backspace back bksp bs rücktaste retroceso",
    "space": "space spacebar leertaste espace espacio",
    "tab": "tab tabulator",
    "escape": "escape esc échap",
    "insert": "insert ins einfg",
    "home": "home pos1 inicio",
    "end": "end ende fin",
    "pageup": "pageup pgup page_up prior bildauf",
    "pagedown": "pagedown pgdn pgdown page_down next bildab",
    "up": "up arrowup uparrow",
    "down": "down arrowdown downarrow",
    "left": "left arrowleft leftarrow",
    "right": "right arrowright rightarrow",
    "lock": "capslock numlock scrolllock caps",
    "menu": "menu apps contextmenu printscreen prtsc pause",
}.items():
    _NAMES.update(dict.fromkeys(_spellings.split(), _key))
_NAMES.update({f"f{number}": f"f{number}" for number in range(1, 25)})

_MODIFIERS = {
    "ctrl": "ctrl",
    "control": "ctrl",
    "ctl": "ctrl",
    "strg": "ctrl",
    "shift": "shift",
    "umschalt": "shift",
    "maj": "shift",
    "alt": "alt",
    "altgr": "alt",
    "option": "alt",
    "opt": "alt",
    "win": "meta",
    "windows": "meta",
    "super": "meta",
    "meta": "meta",
    "cmd": "meta",
    "command": "meta",
}
_COMMANDING = frozenset({"ctrl", "alt", "meta"})
_SIDE = re.compile(r"^(?:left|right|l|r)(?=ctrl|control|shift|alt|win|meta|cmd|super)|(?:left|right)$")


@dataclass(frozen=True, slots=True)
class Chord:
    """A key pressed with modifiers (``ctrl shift alt meta``); ``key`` is a name or one character in lower case."""

    key: str
    modifiers: frozenset[str] = frozenset()

    @property
    def types(self) -> bool:
        """True where it puts a character into a field."""
        return (len(self.key) == 1 or self.key == "space") and self.modifiers.isdisjoint(_COMMANDING)


def chords(keys: str) -> tuple[Chord, ...]:
    """The chords that ``keys`` stand for; none where they are text."""
    one = _chord(keys)
    if one is not None:
        return (one,)
    several = [_chord(part) for part in re.split(r"[,\s]+|(?<=\})(?=\{)", keys.strip()) if part]
    found = tuple(chord for chord in several if chord is not None and not chord.types)
    return found if several and len(found) == len(several) else ()


def typed(keys: str) -> str | None:
    """The text that ``keys`` type; None where they type none."""
    found = chords(keys)
    if not found:
        return keys
    if len(found) > 1 or not found[0].types:
        return None
    if len(keys) == 1:
        return keys
    chord = found[0]
    if chord.key == "space":
        return " "
    return chord.key.upper() if "shift" in chord.modifiers else chord.key


def _chord(text: str) -> Chord | None:
    if len(text) == 1:
        return Chord("space" if text == " " else text.lower())
    bare = text.strip().lower()
    while len(bare) > 2 and (bare[0], bare[-1]) in (("{", "}"), ("<", ">"), ("[", "]")):
        bare = bare[1:-1]
    parts = [part.strip().removeprefix("vk_").removeprefix("key.") for part in re.split(r"(?<=.)[+](?=.)", bare)]
    if len(parts) == 1 and "-" in bare[1:-1]:
        dashed = bare.split("-")
        parts = dashed if all(_modifier(part) for part in dashed[:-1]) else parts
    modifiers = [_modifier(part) for part in parts[:-1]]
    if not all(modifiers):
        return None
    held = frozenset(name for name in modifiers if name)
    last = parts[-1]
    if last in _NAMES:
        return Chord(_NAMES[last], held)
    if len(last) == 1 and held:
        return Chord(last, held)
    alone = _modifier(last)
    return Chord("modifier", held | {alone}) if alone else None


def _modifier(part: str) -> str:
    return _MODIFIERS.get(_SIDE.sub("", part.strip()), "")
