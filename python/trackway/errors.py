"""What can go wrong, as exceptions that say where and what to do."""

from __future__ import annotations


class TrackwayError(Exception):
    """Something could not be done; the message is complete, the attributes are its parts.

    Attributes:
        file: the file that the error is about, if it is about one.
        offset: where in that file, in bytes from its start; None if nowhere in particular.
        remedy: what to do, or what can be used all the same; None if only the system knows what is wrong.
    """

    def __init__(
        self, message: str, *, file: str | None = None, offset: int | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(message)
        self.file = file
        self.offset = offset
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), str(self), self.file, self.offset, self.remedy)


class TraceError(TrackwayError):
    """A trace, or a part of it, can't be read."""


class QuestionError(TrackwayError, ValueError):
    """An analysis doesn't know an option or its value, or this trace doesn't hold what it needs."""


def _again(
    kind: type[TrackwayError], message: str, file: str | None, offset: int | None, remedy: str | None
) -> TrackwayError:
    """The same error in another process."""
    return kind(message, file=file, offset=offset, remedy=remedy)
