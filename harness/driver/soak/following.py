"""The reader of the whole log: every partition from offset 0, alone, without a group."""

from __future__ import annotations

from touchstone.harness.checkers.soaks.log_ledger import Place
from touchstone.harness.driver.soak.role import Role
from touchstone.harness.driver.soak.sending import read_value
from touchstone.reference_impl.client.consumer import CorruptFetch, LogTruncated, NoPosition

POLL_MS = 500


class Following(Role):
    """A position that is lost is a finding: nothing that may be read is ever cut off."""

    def begin(self) -> None:
        self.client = self.shared.client(self.name)
        self.consumer = self.client.consumer(self.plan.places, reset="none")
        for place in self.plan.places:
            self.consumer.seek(place, 0)

    def turn(self) -> None:
        try:
            records = self.consumer.poll(POLL_MS)
        except (CorruptFetch, LogTruncated, NoPosition) as error:
            with self.shared.lock:
                self.shared.findings.append(f"{self.name}: {type(error).__name__}: {error}")
            raise
        with self.shared.lock:
            for each in records:
                who, number = read_value(each.value or b"")
                self.shared.log.read(who, (each.topic, each.partition), number, each.offset)

    def end(self) -> None:
        self.consumer.close()
        self.client.close()

    def ends(self) -> dict[Place, int]:
        """Where each partition ends now, asked with a client of its own."""
        with self.shared.client() as client:
            return client.consumer(self.plan.places).end_offsets(self.plan.places)
