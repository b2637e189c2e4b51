"""How much time went where."""
from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import date
from typing import NamedTuple

from .entries import Entry

MINUTES_PER_DAY = 24 * 60


class Piece(NamedTuple):
    """Some minutes of one day that are left to one entry."""

    entry: Entry
    day: date
    minutes: int


Grouping = Callable[[Piece], Iterable[str]]


def build(entries: list[Entry], arguments: argparse.Namespace) -> tuple[list[tuple[str, int]], int]:
    """The groups in order, and the total."""
    selected = [entry for entry in entries if is_selected(entry, arguments)]
    pieces = [piece for piece in pieces_of(selected) if is_kept(piece, arguments)]
    groups = sum_up(pieces, grouping(arguments), arguments.round)
    total = sum_up(pieces, lambda piece: [""], arguments.round).get("", 0)
    if arguments.by == "day":
        ordered = sorted(groups.items())
    else:
        ordered = sorted(groups.items(), key=lambda item: (-item[1], item[0]))
    return ordered, total


def pieces_of(entries: list[Entry]) -> list[Piece]:
    """Cut time at every start, end and midnight; give each slice to the entry that owns it."""
    spans = [span(entry) for entry in entries]
    cuts = {cut for start, end in spans for cut in (start, end, end // MINUTES_PER_DAY * MINUTES_PER_DAY) if start <= cut}
    ordered = sorted(cuts)
    position = {cut: index for index, cut in enumerate(ordered)}
    owner: list[Entry | None] = [None] * len(ordered)
    # paint in the order of starting: what starts later covers what it interrupts
    for index in sorted(range(len(entries)), key=lambda index: spans[index][0]):
        start, end = spans[index]
        for slot in range(position[start], position[end]):
            owner[slot] = entries[index]
    return [
        Piece(entry, date.fromordinal(start // MINUTES_PER_DAY), end - start)
        for entry, start, end in zip(owner, ordered, ordered[1:])
        if entry is not None
    ]


def span(entry: Entry) -> tuple[int, int]:
    """Start and end in minutes of one long time line."""
    midnight = entry.day.toordinal() * MINUTES_PER_DAY
    end = entry.end if entry.end > entry.start else entry.end + MINUTES_PER_DAY
    return midnight + entry.start, midnight + end


def is_selected(entry: Entry, arguments: argparse.Namespace) -> bool:
    project = entry.project
    return not arguments.only or any(project == only or project.startswith(only + "/") for only in arguments.only)


def is_kept(piece: Piece, arguments: argparse.Namespace) -> bool:
    if arguments.first is not None and piece.day < arguments.first:
        return False
    return arguments.last is None or piece.day <= arguments.last


def grouping(arguments: argparse.Namespace) -> Grouping:
    if arguments.by == "day":
        return lambda piece: [piece.day.isoformat()]
    if arguments.by == "tag":
        return lambda piece: set(piece.entry.tags) or {"(none)"}
    depth = arguments.depth
    return lambda piece: ["/".join(piece.entry.project.split("/")[:depth])]


def sum_up(pieces: Iterable[Piece], names: Grouping, step: int) -> dict[str, int]:
    by_day: dict[tuple[str, date], int] = defaultdict(int)
    for piece in pieces:
        for name in names(piece):
            by_day[name, piece.day] += piece.minutes
    groups: dict[str, int] = defaultdict(int)
    for (name, _day), minutes in by_day.items():
        groups[name] += -(-minutes // step) * step
    return dict(groups)


def render(groups: list[tuple[str, int]], total: int, *, as_json: bool) -> str:
    if as_json:
        listed = [{"name": name, "minutes": minutes} for name, minutes in groups]
        return json.dumps({"groups": listed, "total": total}) + "\n"
    return "".join(f"{name}\t{minutes // 60}:{minutes % 60:02}\n" for name, minutes in [*groups, ("TOTAL", total)])
