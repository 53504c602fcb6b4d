package main

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Producer sends records; a record's own partition goes before franz-go's partitioner.
type Producer struct {
	*Client
	core    *kgo.Client
	waiting sync.WaitGroup // for the events of what was sent
}

func newProducer(client *Client, config map[string]string) (Core, error) {
	defaults := map[string]string{"compression.type": "none", "linger.ms": "0"} // as Kafka's
	maps.Copy(defaults, config)
	if defaults["acks"] == "0" || defaults["acks"] == "1" {
		if defaults["enable.idempotence"] == "true" {
			return nil, Lacking{"idempotence without acks=all"}
		}
		defaults["enable.idempotence"] = "false"
	}
	found, err := options(defaults, producers)
	if err != nil {
		return nil, err
	}
	chosen := kgo.UniformBytesPartitioner(64<<10, true, true, nil)
	found = append(found, kgo.AllowAutoTopicCreation(), kgo.RecordPartitioner(placed{chosen}))
	core, err := kgo.NewClient(found...)
	return &Producer{Client: client, core: core}, err
}

func (p *Producer) act(given Fields) error {
	switch given.Command {
	case "send":
		for _, each := range given.Records {
			p.send(given.Topic, each)
		}
	case "flush":
		if err := p.core.Flush(context.Background()); err != nil {
			return err
		}
		p.waiting.Wait()
		p.say("flush_complete", row{})
	case "transaction":
		if err := p.transaction(given.Operation); err != nil {
			return err
		}
		p.say("transaction_complete", row{"operation": given.Operation})
	case "send_offsets":
		return Lacking{"send_offsets outside of its GroupTransactSession"}
	default:
		return Lacking{"the command " + given.Command}
	}
	return nil
}

func (p *Producer) send(topic string, given Record) {
	record := &kgo.Record{Topic: topic, Key: data(given.Key), Value: data(given.Value)}
	for _, each := range given.Headers {
		record.Headers = append(record.Headers, kgo.RecordHeader{Key: each[0], Value: []byte(each[1])})
	}
	if given.Timestamp != nil {
		record.Timestamp = time.UnixMilli(*given.Timestamp)
	}
	if given.Partition != nil {
		record.Context = context.WithValue(context.Background(), wanted{}, *given.Partition)
	}
	about := row{"topic": topic, "key": given.Key, "value": given.Value}
	p.waiting.Add(1)
	p.core.Produce(record.Context, record, func(sent *kgo.Record, err error) {
		defer p.waiting.Done()
		if err != nil {
			maps.Copy(about, described(err))
			p.say("producer_send_error", about)
			return
		}
		about["partition"], about["offset"] = sent.Partition, max(sent.Offset, -1)
		p.say("producer_send_success", about)
	})
}

func (p *Producer) transaction(operation string) error {
	ctx := context.Background()
	switch operation {
	case "init":
		_, _, err := p.core.ProducerID(ctx)
		return err
	case "begin":
		return p.core.BeginTransaction()
	case "commit":
		if err := p.core.Flush(ctx); err != nil {
			return err
		}
		return p.core.EndTransaction(ctx, kgo.TryCommit)
	case "abort":
		if err := p.core.AbortBufferedRecords(ctx); err != nil {
			return err
		}
		return p.core.EndTransaction(ctx, kgo.TryAbort)
	}
	return Lacking{"the operation " + operation}
}

func (p *Producer) tick() { time.Sleep(5 * time.Millisecond) }

func (p *Producer) close() {
	if !p.dropped.Load() {
		late, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = p.core.Flush(late) // what is not sent by then fails in Close
	}
	p.core.Close()
	p.waiting.Wait()
}

func data(text *string) []byte {
	if text == nil {
		return nil
	}
	return []byte(*text)
}

// placed lets a record's context name its partition.
type placed struct{ kgo.Partitioner }

type wanted struct{}

func (p placed) ForTopic(topic string) kgo.TopicPartitioner {
	return placedTopic{p.Partitioner.ForTopic(topic).(kgo.TopicBackupPartitioner)}
}

type placedTopic struct{ kgo.TopicBackupPartitioner }

func (p placedTopic) RequiresConsistency(record *kgo.Record) bool {
	_, said := partitionOf(record)
	return said || p.TopicBackupPartitioner.RequiresConsistency(record)
}

func (p placedTopic) Partition(record *kgo.Record, count int) int {
	if partition, said := partitionOf(record); said {
		return partition
	}
	return p.TopicBackupPartitioner.Partition(record, count)
}

func (p placedTopic) PartitionByBackup(record *kgo.Record, count int, backup kgo.TopicBackupIter) int {
	if partition, said := partitionOf(record); said {
		return partition
	}
	return p.TopicBackupPartitioner.PartitionByBackup(record, count, backup)
}

func partitionOf(record *kgo.Record) (int, bool) {
	if record.Context == nil {
		return 0, false
	}
	found, said := record.Context.Value(wanted{}).(int32)
	return int(found), said
}
