#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reads lines "figure ROUND TYPE MTU KIND ROW VALUE" from stdin. Prints a table of medians and ratios, also to
PREFIX.txt; writes every figure to PREFIX.json, and bars relative to rxe to PREFIX.svg."""
import argparse
import json
import math
import statistics
import sys
from dataclasses import dataclass, field

UNITS = {"bw": "MiB/s", "rate": "k msg/s", "lat": "us", "memory": "KiB", "time": "ms", "cost": "ns", "count": "armed", "insns": "insns"}
LOWER_IS_BETTER = {"lat", "memory", "time", "cost", "count", "insns"}
COLOURS = {"sroce": "#2a6f97", "native": "#014f86", "siw": "#a9a9a9", "tcp": "#e09f3e"}


@dataclass
class Row:
    name: str
    kind: str
    mtu: str
    values: dict = field(default_factory=dict)  # by type: a figure per round, None if it failed

    def median(self, kind_of_device):
        good = [v for v in self.values.get(kind_of_device, []) if v is not None]
        return statistics.median(good) if good else None

    def cell(self, kind_of_device):
        """Median, then least and greatest in parentheses, and "!" for each failed round."""
        got = self.values.get(kind_of_device)
        if not got:
            return "-"
        good = [v for v in got if v is not None]
        failed = "!" * (len(got) - len(good))
        if not good:
            return "fails"
        text = short(statistics.median(good))
        return (f"{text} ({short(min(good))}..{short(max(good))})" if len(good) > 1 else text) + failed


def short(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def ratio(a, b):
    return a / b if a and b else None


def better(row, variant):
    """How many times better than this variant a type is: more, or sooner."""
    base, other = row.median(variant.partition("@")[0]), row.median(variant)
    return ratio(other, base) if row.kind in LOWER_IS_BETTER else ratio(base, other)


def read(lines):
    rows = {}
    for line in lines:
        _, _, kind_of_device, mtu, kind, name, value = line.split()
        row = rows.setdefault(name, Row(name, kind, mtu))
        row.values.setdefault(kind_of_device, []).append(None if value == "fails" else float(value))
    return list(rows.values())


def condition(row):
    """Of a row "CONDITION/FIGURE"; others have none."""
    return row.name.rpartition("/")[0]


def tcp_of(rows, row):
    """TCP's median at the same MTU and condition, for bandwidth rows. None under loss, which TCP takes for congestion."""
    if row.kind != "bw" or row.name.startswith("loss_"):
        return None
    peers = [r for r in rows if r.mtu == row.mtu and "tcp" in r.values and condition(r) == condition(row)]
    return peers[0].median("tcp") if peers else None


def undisturbed(rows, row, kind_of_device, base="clean"):
    """For a row "CONDITION/FIGURE": the median of "BASE/FIGURE"."""
    name = f"{base}/" + row.name.partition("/")[2]
    return next((r.median(kind_of_device) for r in rows if r.name == name), None)


def ratio_columns(rows, types):
    """Yields (name, function of a row) for each column of ratios."""
    ours = [t for t in ("sroce", "native") if t in types]
    if "rxe" in types:
        yield from ((f"{t}/rxe", lambda row, t=t: ratio(row.median(t), row.median("rxe"))) for t in ours)
    variants = [t for t in types if "@" in t]
    yield from ((f"over {t}", lambda row, t=t: better(row, t)) for t in variants)
    if "tcp" in types:
        yield from ((f"{t}/TCP", lambda row, t=t: ratio(row.median(t), tcp_of(rows, row))) for t in ours)
    # netem costs time on the guest's only CPU, whatever it does to packets.
    for base in ("clean", "netem"):
        if any(row.name.startswith(f"{base}/") for row in rows):
            yield from ((f"{t}/{base}", lambda row, t=t, base=base: ratio(row.median(t), undisturbed(rows, row, t, base)))
                        for t in types)


def table(rows, types, out):
    columns = [t for t in types if t != "tcp"]
    shown = [r for r in rows if set(r.values) & set(columns)]
    ratios = list(ratio_columns(rows, types))
    head = ["row", "unit"] + columns + [name for name, _ in ratios]
    lines = [head]
    for row in shown:
        values = [make(row) for _, make in ratios]
        lines.append([row.name, UNITS[row.kind]] + [row.cell(t) for t in columns] +
                     ["-" if v is None else f"{v:.2f}" for v in values])
    for row in rows:
        if "tcp" in row.values:
            line = [row.name, UNITS[row.kind], row.cell("tcp")] + [""] * (len(head) - 3)
            for base in ("clean", "netem"):
                share = ratio(row.median("tcp"), undisturbed(rows, row, "tcp", base))
                if share and f"tcp/{base}" in head:
                    line[head.index(f"tcp/{base}")] = f"{share:.2f}"
            lines.append(line)
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))).rstrip(),
              file=out)


def growth(pairs, rows, types, out):
    """Prints, for each pair "MORE/FEWER" of rows and each type, the ratio of their medians."""
    medians = {row.name: row for row in rows}
    for pair in pairs:
        more, fewer = pair.split("/")
        if more in medians and fewer in medians:
            ratios = ((t, ratio(medians[more].median(t), medians[fewer].median(t))) for t in types)
            print(f"{pair}: " + ", ".join(f"{t} {r:.2f}" for t, r in ratios if r), file=out)


def bars(rows, row, types):
    """Yields (type, factor by which it is better than rxe) for each bar of a row."""
    base = row.median("rxe")
    for kind_of_device in types:
        value = tcp_of(rows, row) if kind_of_device == "tcp" else row.median(kind_of_device)
        times = ratio(value, base)
        if times and kind_of_device != "rxe":
            yield kind_of_device, 1 / times if row.kind in LOWER_IS_BETTER else times


def chart(rows, types, title):
    """Horizontal bars on a logarithmic scale; rxe is the line at 1. Omits polling rows, which measure time slices."""
    shown = [(row, list(bars(rows, row, types))) for row in rows if not row.name.endswith("_poll")]
    shown = [(row, drawn) for row, drawn in shown if drawn]
    if not shown:
        return ""
    most = max(t for _, drawn in shown for _, t in drawn)
    least = min(t for _, drawn in shown for _, t in drawn)
    low, high = max(-3, math.floor(min(-1, math.log2(least)))), math.ceil(max(1, math.log2(most)))
    left, width, bar = 190, 560, 11

    def x(times):
        return left + width * (max(math.log2(times), low) - low) / (high - low)

    body, y = [], 66
    for row, drawn in shown:
        body.append(f'<text x="{left - 8}" y="{y + bar * len(drawn) / 2 + 4:.0f}" text-anchor="end">{row.name}</text>')
        for kind_of_device, times in drawn:
            a, b = sorted((x(1), x(times)))
            body.append(f'<rect x="{a:.1f}" y="{y}" width="{max(b - a, 1):.1f}" height="{bar - 2}" '
                        f'fill="{COLOURS.get(kind_of_device, "#888")}"/>'
                        f'<text x="{b + 4:.1f}" y="{y + bar - 3}" font-size="9">{times:.2f}</text>')
            y += bar
        y += 6
    grid = "".join(f'<line x1="{x(2.0**e):.1f}" y1="56" x2="{x(2.0**e):.1f}" y2="{y}" stroke="{"#000" if e == 0 else "#ddd"}"/>'
                   f'<text x="{x(2.0**e):.1f}" y="52" text-anchor="middle" font-size="10">{2.0**e:g}</text>'
                   for e in range(low, high + 1))
    names = "".join(f'<tspan fill="{COLOURS[t]}" dx="8">&#9632; {t}</tspan>' for t in types if t in COLOURS)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{y + 10}" '
            f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
            f'<text x="8" y="16">times better than rdma_rxe{names}</text><text x="8" y="32" fill="#666">{title}</text>'
            f'{grid}{"".join(body)}</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--what", default="", help="machine, kernel, commit, date")
    parser.add_argument("--types", default="rxe siw sroce native tcp")
    parser.add_argument("--growth", default="")
    parser.add_argument("prefix")
    args = parser.parse_args()
    types = args.types.split()
    rows = read(line for line in sys.stdin if line.startswith("figure "))
    with open(args.prefix + ".json", "w", encoding="utf-8") as out:
        json.dump({"what": args.what, "figures": [
            {"row": r.name, "unit": UNITS[r.kind], "mtu": r.mtu, "rounds": r.values,
             "median": {t: r.median(t) for t in r.values}} for r in rows]}, out, indent=1)
    with open(args.prefix + ".svg", "w", encoding="utf-8") as out:
        out.write(chart(rows, types, args.what))
    with open(args.prefix + ".txt", "w", encoding="utf-8") as out:
        for place in (out, sys.stdout):
            print(f"# {args.what}\n# median (least..greatest); ! marks a failed round", file=place)
            table(rows, types, place)
            growth(args.growth.split(), rows, types, place)


main()
