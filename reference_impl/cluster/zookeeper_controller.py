"""The controller of a ZooKeeper release is one of the brokers, elected, and sweeps as Kafka's did.

Two state machines say which moves are legal; the moves do the work. A leader that dies makes its
partitions Offline, then every partition that is Offline or New is elected, then the dead broker's
replicas leave the ISRs they are still in. Each of these writes raises the leader epoch, so the
order and the number of steps can be seen from outside; a reassignment shows the most (CTL-22).

When the controller itself dies the next one takes over: it counts one controller epoch more, finds
out what is online, and (2.8) takes dead brokers out of every ISR, leaderless partitions too.

Sources: CTL-03..25; KafkaController.onBrokerFailure, onBrokerStartup, onControllerFailover,
doControlledShutdown, onPartitionReassignment and ReplicaStateMachine.doHandleStateChanges@2.8.2,
the same @1.0.2, 2.2.1; observed on three nodes of the three, znodes read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from touchstone.reference_impl.cluster import zookeeper_election as election
from touchstone.reference_impl.cluster.announcements import ISR_CHANGES, LOG_DIR_EVENTS
from touchstone.reference_impl.cluster.controller import (
    PREFERRED,
    Controller,
    ControlRules,
    ElectionResult,
    TopicPartition,
)
from touchstone.reference_impl.cluster.state_machines import PARTITION_MOVES, PartitionState
from touchstone.reference_impl.cluster.topic_deletion import Deletions
from touchstone.reference_impl.cluster.topology import (
    NO_LEADER,
    Cluster,
    Partition,
    PartitionDeletion,
)
from touchstone.reference_impl.cluster.znodes import (
    log_dir_event,
    read_isr_change,
    read_log_dir_event,
)


class ZooKeeperController(Controller):
    def __init__(self, cluster: Cluster, rules: ControlRules | None = None) -> None:
        super().__init__(cluster, rules)
        self.deletions = Deletions()
        self.silent = False  # the controller's broker is gone, and its session is not over yet
        self._offline: set[TopicPartition] = set()  # their leader died, none was elected since
        self.most_imbalance = 10  # per cent, leader.imbalance.per.broker.percentage

    # --- brokers ----------------------------------------------------------------------------

    def joined(self, broker: int, *, clean: bool = True) -> None:
        node = self.cluster.brokers[broker]
        node.alive, node.stopping = True, False
        self.cluster.broker_changed(broker)
        if not self.alive(self.cluster.controller_id):
            self._take_over(broker)
            return
        if self.silent:
            return
        self._elect_offline()
        for partition in self.reassigning():
            if broker in partition.replicas:
                self._resume(partition)
        self._resume_deletions()

    def left(self, broker: int) -> None:
        node = self.cluster.brokers[broker]
        node.alive = node.stopping = False
        self.cluster.broker_changed(broker)
        if broker == self.cluster.controller_id:
            alive = self.cluster.alive
            self._take_over(alive[0].id if alive else NO_LEADER)
        elif not self.silent:
            self._elect_offline()
            self._out_of_isrs(broker)

    def set_reachable(self, reachable: bool) -> None:
        """The broker that is controller froze or died; or it thawed and catches up."""
        self.silent = not reachable
        if reachable:
            dead = [b for b in sorted(self.cluster.brokers) if not self.alive(b)]
            self._elect_offline()
            for broker in dead:
                self._out_of_isrs(broker)
            self._resume_deletions()
            self.announced()

    def _take_over(self, broker: int) -> None:
        """A broker was elected controller (CTL-03, CTL-05); NO_LEADER means there is none left."""
        cluster = self.cluster
        self.silent = False
        if broker == NO_LEADER:
            cluster.controlled_by(broker)
            return
        cluster.controller_epoch += 1
        cluster.controlled_by(broker)
        self._offline.clear()
        cluster.announcements.take(LOG_DIR_EVENTS)
        if self.rules.takeover_drops_isr_changes:
            cluster.announcements.take(ISR_CHANGES)
        if self.rules.takeover_shrinks_isr:
            for node in sorted(cluster.brokers):
                if not self.alive(node):
                    self._out_of_isrs(node)
        self._elect_offline()
        for partition in self.reassigning():
            self._resume(partition)
        self._resume_deletions()
        for node, places in list(cluster.without_directory.items()):
            self.replicas_lost(node, places)

    # --- what brokers leave for it ----------------------------------------------------------

    def announced(self) -> None:
        """All that stands there is one event; nobody reads it while the controller is away."""
        if self.silent or self.cluster.controller_id == NO_LEADER:
            return
        announcements = self.cluster.announcements
        for text in announcements.take(ISR_CHANGES):
            self.cluster.announce(read_isr_change(text))
        for text in announcements.take(LOG_DIR_EVENTS):
            broker = read_log_dir_event(text)
            self.replicas_lost(broker, self.cluster.without_directory.get(broker, ()))

    def directory_lost(self, broker: int) -> None:
        self.cluster.announcements.leave(LOG_DIR_EVENTS, log_dir_event(broker))
        self.announced()

    def replicas_lost(self, broker: int, places: Iterable[TopicPartition]) -> None:
        """The broker refused them with KAFKA_STORAGE_ERROR; its leaders move, its ISRs shrink."""
        places = list(places)
        self.cluster.announce(places)
        found = [self.cluster.partition(*place) for place in places]
        rows = [partition for partition in found if partition is not None]
        self._offline |= {(p.topic, p.index) for p in rows if p.leader == broker}
        self._elect_offline()
        for partition in rows:
            if broker in partition.isr:
                self._out_of_isr(partition, broker)

    def resign(self) -> None:
        """The node /controller was removed: the first broker to see it takes over (CTL-07)."""
        alive = self.cluster.alive
        if alive:
            self._take_over(alive[0].id)

    def shutdown(self, broker: int) -> list[TopicPartition]:
        self.cluster.brokers[broker].stopping = True
        self.cluster.broker_changed(broker)
        stopping = {node.id for node in self.cluster.brokers.values() if node.stopping}
        rows = [p for p in self.cluster.all_partitions() if len(p.replicas) > 1]
        rows = [p for p in rows if broker in p.replicas]
        led = [p for p in rows if p.leader == broker]
        for partition in led:
            choice = election.controlled_shutdown(
                partition.replicas, partition.isr, self._live(), stopping
            )
            self._write(partition, choice)
        for partition in rows:
            if partition not in led:
                self._out_of_isr(partition, broker)
        return [(p.topic, p.index) for p in led if p.leader == broker]

    # --- elections and ISRs -----------------------------------------------------------------

    def state(self, partition: Partition) -> PartitionState:
        if partition.leader == NO_LEADER and not partition.isr:
            return PartitionState.NEW
        offline = (partition.topic, partition.index) in self._offline
        return PartitionState.OFFLINE if offline else PartitionState.ONLINE

    def _note_dead_leaders(self) -> None:
        for partition in self.cluster.all_partitions():
            state = self.state(partition)
            if state is PartitionState.ONLINE and not self.alive(partition.leader):
                assert PARTITION_MOVES[state, PartitionState.OFFLINE] is PartitionState.OFFLINE
                self._offline.add((partition.topic, partition.index))

    def _live(self) -> set[int]:
        return {node.id for node in self.cluster.alive}

    def _elect_offline(self) -> None:
        """Every partition without a leader is tried again, not only those that lost it now."""
        self._note_dead_leaders()
        for partition in list(self.cluster.all_partitions()):
            state = self.state(partition)
            if state is PartitionState.ONLINE:
                continue
            live = self._live() - self.cluster.lost_replicas(partition)
            if PARTITION_MOVES[state, PartitionState.ONLINE] is not PartitionState.ONLINE:
                continue
            if state is PartitionState.NEW:
                choice = election.first(partition.replicas, live)
                if choice:  # the state znode is made only now: its epochs begin
                    partition.leader_epoch = partition.partition_epoch = -1
            else:
                choice = election.offline(
                    partition.replicas, partition.isr, live, unclean=self.unclean(partition)
                )
            self._write(partition, choice)

    def configs_changed(self) -> None:
        if self.rules.elects_on_config and not self.silent:
            self._elect_offline()

    def _write(self, partition: Partition, choice: election.Choice) -> bool:
        if choice is None:
            return False
        leader, isr = choice
        if self.alive(leader):
            self._offline.discard((partition.topic, partition.index))
        self.cluster.write(
            partition,
            leader=leader,
            isr=isr,
            leader_epoch=partition.leader_epoch + 1,
            controller_epoch=self.cluster.controller_epoch,
        )
        return True

    def _out_of_isrs(self, broker: int) -> None:
        for partition in list(self.cluster.all_partitions()):
            if broker in partition.replicas:
                self._out_of_isr(partition, broker)

    def _out_of_isr(self, partition: Partition, broker: int) -> None:
        """The last member stays in, so that it is known who may lead again (CTL-16). The state is
        read anew, so all hear of it also where the leader had taken the broker out already.
        """
        if broker not in partition.isr:
            self.cluster.announce([(partition.topic, partition.index)])
            return
        leader = NO_LEADER if partition.leader == broker else partition.leader
        isr = [r for r in partition.isr if r != broker] or list(partition.isr)
        self._write(partition, (leader, isr))

    def isr_changed(self, partition: Partition, isr: Sequence[int]) -> None:
        """The leader epoch stays: it is the leader's own word. A reassignment may be done now."""
        self.cluster.write(partition, isr=list(isr))
        if partition.adding or partition.removing:
            self._advance(partition)

    def isr_written(self, partition: Partition, isr: Sequence[int]) -> None:
        """A reassignment watches the state znode; all else waits for the announcement."""
        self.cluster.write_unpublished(partition, isr=list(isr))
        if partition.adding or partition.removing:
            self._advance(partition)

    # --- elections somebody asks for --------------------------------------------------------

    def stuck(self, places: Iterable[TopicPartition]) -> bool:
        """Kafka's election dies, and nobody hears of it, on one that has not had a leader yet."""
        staying = [place for place in places if place[0] not in self.deletions]
        found = [self.cluster.partition(*place) for place in staying]
        return any(p is not None and self.state(p) is PartitionState.NEW for p in found)

    def elect(self, kind: int, places: Iterable[TopicPartition] | None) -> list[ElectionResult]:
        """All of them are those that brokers were told of, so none that has not had a leader."""
        everything = places is None
        if places is None:
            rows = self.cluster.all_partitions()
            places = [(p.topic, p.index) for p in rows if self.state(p) is not PartitionState.NEW]
        results = [self._elected(kind, *place) for place in places]
        skipped = everything and self.rules.elections_skip_needless
        return [r for r in results if not skipped or r.outcome != "needless"]

    def _elected(self, kind: int, topic: str, index: int) -> ElectionResult:
        if topic in self.deletions:
            return ElectionResult(topic, index, "deleting")
        partition = self.cluster.partition(topic, index)
        if partition is None:
            return ElectionResult(topic, index, "unknown-partition")
        if self.state(partition) is PartitionState.NEW:
            return ElectionResult(topic, index, "unavailable")
        live = self._live()
        if kind == PREFERRED:
            if partition.leader == partition.replicas[0]:
                return ElectionResult(topic, index, "needless")
            choice = election.preferred(partition.replicas, partition.isr, live)
        else:
            if partition.leader in live:
                return ElectionResult(topic, index, "needless")
            choice = election.offline(partition.replicas, partition.isr, live, unclean=True)
        done = self._write(partition, choice)
        return ElectionResult(topic, index, "done" if done else "unavailable")

    def balance(self) -> None:
        """A broker that lacks more than leader.imbalance.per.broker.percentage gets all back.

        One partition without replicas, which a manual assignment can make, ends Kafka's sweep.
        """
        if any(not partition.replicas for partition in self.cluster.all_partitions()):
            return
        live = self._live()
        for broker, (others, total) in sorted(self.imbalanced().items()):
            if broker in live and len(others) * 100 > self.most_imbalance * total:
                for partition in others:
                    if not (partition.adding or partition.removing):
                        choice = election.preferred(partition.replicas, partition.isr, live)
                        self._write(partition, choice)

    # --- reassignment -----------------------------------------------------------------------

    def reassign(self, partition: Partition, replicas: Sequence[int]) -> None:
        before = [r for r in partition.replicas if r not in partition.adding]
        removing = tuple(r for r in before if r not in replicas)
        adding = tuple(r for r in replicas if r not in before)
        given_up = [r for r in partition.adding if r not in replicas]
        self._reassign(partition, list(replicas), adding, removing, given_up)

    def cancel(self, partition: Partition) -> bool:
        if not partition.adding and not partition.removing:
            return False
        before = [r for r in partition.replicas if r not in partition.adding]
        self._reassign(partition, before, (), (), list(partition.adding))
        return True

    def _reassign(
        self,
        partition: Partition,
        target: list[int],
        adding: tuple[int, ...],
        removing: tuple[int, ...],
        given_up: Sequence[int],
    ) -> None:
        partition.replicas = [*target, *removing]
        partition.adding, partition.removing = adding, removing
        for replica in given_up:
            if replica in partition.isr:
                self._out_of_isr(partition, replica)
        self._resume(partition)

    def _resume(self, partition: Partition) -> None:
        """Phase A where replicas are missing: all are told under a new leader epoch."""
        target = [r for r in partition.replicas if r not in partition.removing]
        if not set(target) <= set(partition.isr):
            self._bump(partition)
        self._advance(partition)

    def _advance(self, partition: Partition) -> None:
        """Finish a reassignment whose target is in sync (phase B of onPartitionReassignment)."""
        target = [r for r in partition.replicas if r not in partition.removing]
        if not set(target) <= set(partition.isr):
            return
        leaving = partition.removing
        partition.replicas, partition.adding, partition.removing = target, (), ()
        live = self._live()
        if partition.leader not in target or partition.leader not in live:
            self._write(partition, election.reassigned(target, partition.isr, live))
        else:
            self._bump(partition)
        for replica in leaving:
            if replica in partition.isr:
                self._out_of_isr(partition, replica)

    def _bump(self, partition: Partition) -> None:
        """Brokers are told of new replicas under a new leader epoch."""
        self._write(partition, (partition.leader, partition.isr))

    # --- deletion ---------------------------------------------------------------------------

    def delete(self, name: str) -> None:
        """Delete it for clients at once; the name is free when every replica has been told."""
        self.deletions.begin(self.cluster.topics[name], self._live())
        self.cluster.delete(name)

    def _resume_deletions(self) -> None:
        """Replicas on brokers that came back are told now."""
        for name, (index, broker) in self.deletions.resume(self._live()):
            self.cluster.unpublished[PartitionDeletion(name, index, (broker,))] = False

    def being_deleted(self, name: str) -> bool:
        return name in self.deletions
