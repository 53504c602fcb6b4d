"""A member of a share group (KIP-932): a heartbeat that says its topics and is told what to read.

The same dance as `kip848_member.py`, without giving up first: others read the same partitions, so
an assignment is simply taken and nothing owned is reported.

Source: ShareHeartbeatRequestManager, ShareMembershipManager at 4.3.1.
"""

from __future__ import annotations

from touchstone.reference_impl.wire.schema import Struct

from .kip848_member import Kip848Member


class ShareMember(Kip848Member):
    api = "ShareGroupHeartbeat"

    def _state(self) -> Struct:
        return {"rack_id": self.rack, "subscribed_topic_names": sorted(self.topics)}

    def _body(self, changed: Struct, epoch: int) -> Struct:
        own = {"group_id": self.coordinator.key, "member_id": self.id, "member_epoch": epoch}
        return own | changed
