"""What recording must reach, and whether it does."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A figure with its target: at most `limit`, or with `at_least` no less."""

    name: str
    value: float
    limit: float
    at_least: bool = False

    def verdict(self):
        share = self.value / self.limit
        if self.at_least:
            return "met" if share >= 1 else f"missed by {100 * (1 - share):.0f} %"
        return "met" if share <= 1 else f"missed by {100 * (share - 1):.0f} %"


def print_verdicts(figures):
    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        bound = "at least" if figure.at_least else "at most"
        print(f"{figure.name.ljust(width)}  {figure.value:8.2f}  target {bound} {figure.limit:6.2f}  {figure.verdict()}")


def as_json(figures):
    return [{"name": f.name, "value": f.value, "limit": f.limit, "at_least": f.at_least, "verdict": f.verdict()} for f in figures]
