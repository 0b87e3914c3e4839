"""Store errors: its place cannot be used, or its content is damaged."""

from __future__ import annotations

from elanite.errors import ElaniteError, UsageError


class StoreError(ElaniteError):
    """A place that cannot be written: the disk is full, fails, or is not ours."""

    def __init__(self, place: object, reason: object) -> None:
        self.cause = f"{place} cannot be written: {reason}"
        """The message without the fate of a campaign's points."""
        super().__init__(
            f"{self.cause}\n  Finished points are kept. Make room, or make the folder writable,"
            " or choose another one with --out. The same command then goes on."
        )


class UnreadableError(ElaniteError):
    """A place that cannot be read: no permission, or the disk or the network fails.

    Its content is unknown.
    """

    def __init__(self, place: object, reason: object) -> None:
        super().__init__(
            f"{place} cannot be read: {reason}\n  Nothing was changed. Make the folder readable, or"
            " choose another one with --out. The same command then goes on."
        )


class NoFolderError(UsageError):
    """A path that names something else than a folder where a folder belongs."""

    def __init__(self, path: object, wanted: object) -> None:
        super().__init__(
            f"{path} is no folder, so that {wanted} cannot be made\n  Name another folder, which"
            " need not exist yet."
        )


class DamagedError(Exception):
    """A folder that is no complete and undamaged point; the text is the reason.

    It stays within the store.
    """
