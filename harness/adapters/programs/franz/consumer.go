package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	polling    = 50 * time.Millisecond
	ofDefault  = 500 // max.poll.records
	committing = 30 * time.Second
)

// Consumer is made when it is told what to read: franz-go wants to know that first.
type Consumer struct {
	*Client
	config    map[string]string
	settings  []kgo.Opt
	core      *kgo.Client
	most      int
	rests     bool
	positions map[string]map[int32]kgo.EpochOffset // behind what was handed out
}

func newConsumer(client *Client, config map[string]string) (Core, error) {
	most, own := ofDefault, map[string]string{"auto.offset.reset": "latest"} // as Kafka's
	maps.Copy(own, config)
	if text, said := own["max.poll.records"]; said {
		found, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		most = found
		delete(own, "max.poll.records")
	}
	_, grouped := own["group.id"]
	if !grouped {
		delete(own, "enable.auto.commit")
	}
	found, err := options(own, consumers)
	if err != nil {
		return nil, err
	}
	return &Consumer{
		Client: client, config: own, settings: found, most: most,
		positions: map[string]map[int32]kgo.EpochOffset{},
	}, nil
}

func (c *Consumer) begin(more ...kgo.Opt) (err error) {
	c.core, err = kgo.NewClient(append(c.settings, more...)...)
	return err
}

func (c *Consumer) act(given Fields) error {
	if c.core == nil && given.Command != "subscribe" && given.Command != "assign" && given.Command != "poll" {
		return Lacking{given.Command + " before it is told what to read"}
	}
	switch given.Command {
	case "subscribe":
		return c.subscribe(given)
	case "assign":
		return c.assign(given)
	case "unsubscribe": // of itself it would stay in the group
		c.close()
		c.core = nil
	case "seek":
		c.core.SetOffsets(map[string]map[int32]kgo.EpochOffset{
			given.Topic: {given.Partition: {Epoch: -1, Offset: given.Offset}},
		})
	case "pause":
		c.core.PauseFetchPartitions(byTopic(given.Partitions))
	case "resume":
		c.core.ResumeFetchPartitions(byTopic(given.Partitions))
	case "poll":
		c.rests = !given.On
	case "commit":
		return c.commit(given.Offsets)
	default:
		return Lacking{"the command " + given.Command}
	}
	c.done(given.Command)
	return nil
}

func (c *Consumer) subscribe(given Fields) error {
	topics, err := names(given.Topics)
	if err != nil {
		return err
	}
	if c.core != nil {
		return Lacking{"a second subscription"}
	}
	c.done(given.Command)
	if c.config["group.id"] == "" {
		return c.begin(kgo.ConsumeTopics(topics...))
	}
	moved := func(name string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(ctx context.Context, core *kgo.Client, found map[string][]int32) {
			if name == "partitions_revoked" && c.commits() { // as its own callback would
				_ = core.CommitUncommittedOffsets(ctx)
			}
			if len(found) > 0 || name == "partitions_assigned" {
				c.say(name, row{"partitions": places(found)})
			}
		}
	}
	return c.begin(
		kgo.ConsumeTopics(topics...),
		kgo.OnPartitionsAssigned(moved("partitions_assigned")),
		kgo.OnPartitionsRevoked(moved("partitions_revoked")),
		kgo.OnPartitionsLost(moved("partitions_lost")),
	)
}

func (c *Consumer) assign(given Fields) error {
	if c.config["group.id"] != "" {
		return Lacking{"a group whose partitions are assigned by hand"}
	}
	first := map[string]kgo.Offset{
		"earliest": kgo.NewOffset().AtStart(), "latest": kgo.NewOffset().AtEnd(),
	}
	start, said := first[c.config["auto.offset.reset"]]
	if !said {
		return Lacking{"an assignment without a place to begin"}
	}
	wanted := map[string]map[int32]kgo.Offset{}
	for _, each := range given.Partitions {
		if wanted[each.Topic] == nil {
			wanted[each.Topic] = map[int32]kgo.Offset{}
		}
		wanted[each.Topic][each.Partition] = start
	}
	if c.core != nil {
		return Lacking{"a second assignment"}
	}
	err := c.begin(kgo.ConsumePartitions(wanted))
	if err == nil {
		c.done(given.Command)
	}
	return err
}

func (c *Consumer) commit(given []Place) error {
	offsets := c.positions
	if given != nil {
		offsets = map[string]map[int32]kgo.EpochOffset{}
		for _, each := range given {
			put(offsets, each.Topic, each.Partition, kgo.EpochOffset{Epoch: -1, Offset: each.Offset})
		}
	}
	rows := []row{}
	for topic, parts := range offsets {
		for partition, at := range parts {
			rows = append(rows, row{"topic": topic, "partition": partition, "offset": at.Offset})
		}
	}
	late, cancel := context.WithTimeout(context.Background(), committing)
	defer cancel()
	told := row{"offsets": rows, "success": true}
	c.core.CommitOffsetsSync(late, offsets, func(
		_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error,
	) {
		for _, topic := range answer.Topics {
			for _, one := range topic.Partitions {
				err = cmp.Or(err, kerr.ErrorForCode(one.ErrorCode))
			}
		}
		if err != nil {
			told["success"] = false
			maps.Copy(told, described(err))
		}
	})
	c.say("offsets_committed", told)
	return nil
}

func (c *Consumer) tick() {
	if c.core == nil || c.rests {
		time.Sleep(10 * time.Millisecond)
		return
	}
	late, cancel := context.WithTimeout(context.Background(), polling)
	defer cancel()
	found := c.core.PollRecords(late, c.most)
	c.tell(found.Records())
	for _, each := range found.Errors() {
		if !errors.Is(each.Err, context.DeadlineExceeded) && !errors.Is(each.Err, kgo.ErrClientClosed) {
			c.say("consumer_error", described(each.Err))
		}
	}
}

func (c *Consumer) tell(records []*kgo.Record) {
	if len(records) == 0 {
		return
	}
	rows, spans := []row{}, map[string]map[int32][]int64{}
	for _, each := range records {
		rows = append(rows, row{
			"topic": each.Topic, "partition": each.Partition, "offset": each.Offset,
			"key": text(each.Key), "value": text(each.Value),
		})
		put(spans, each.Topic, each.Partition, append(spans[each.Topic][each.Partition], each.Offset))
		next := kgo.EpochOffset{Epoch: each.LeaderEpoch, Offset: each.Offset + 1}
		put(c.positions, each.Topic, each.Partition, next)
	}
	partitions := []row{}
	for topic, parts := range spans {
		for partition, offsets := range parts {
			partitions = append(partitions, row{
				"topic": topic, "partition": partition, "count": len(offsets),
				"minOffset": slices.Min(offsets), "maxOffset": slices.Max(offsets),
			})
		}
	}
	c.say("records_consumed", row{"count": len(rows), "partitions": partitions, "records": rows})
}

func (c *Consumer) close() {
	if c.core == nil {
		return
	}
	if c.commits() && !c.dropped.Load() {
		late, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		_ = c.core.CommitUncommittedOffsets(late) // a close says nothing of it, as Java's
	}
	c.core.Close()
}

// commits tells whether it commits by itself.
func (c *Consumer) commits() bool {
	_, grouped := c.config["group.id"]
	return grouped && c.config["enable.auto.commit"] != "false"
}

func put[T any](found map[string]map[int32]T, topic string, partition int32, value T) {
	if found[topic] == nil {
		found[topic] = map[int32]T{}
	}
	found[topic][partition] = value
}

func byTopic(given []Place) map[string][]int32 {
	found := map[string][]int32{}
	for _, each := range given {
		found[each.Topic] = append(found[each.Topic], each.Partition)
	}
	return found
}

func places(given map[string][]int32) []Place {
	found := []Place{}
	for topic, partitions := range given {
		for _, partition := range partitions {
			found = append(found, Place{Topic: topic, Partition: partition})
		}
	}
	slices.SortFunc(found, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return found
}

func text(data []byte) *string {
	if data == nil {
		return nil
	}
	found := string(data)
	return &found
}
