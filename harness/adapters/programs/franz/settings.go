package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Setting makes franz-go's options of the value of a setting of Kafka's; nil: it has none.
type Setting func(value string) []kgo.Opt

func one(option kgo.Opt) []kgo.Opt { return []kgo.Opt{option} }

func number(text string) int {
	found, err := strconv.Atoi(text)
	if err != nil {
		panic(Lacking{"the value " + text})
	}
	return found
}

func ms(text string) time.Duration { return time.Duration(number(text)) * time.Millisecond }

func unless(text string, option kgo.Opt) []kgo.Opt {
	if text == "true" {
		return []kgo.Opt{}
	}
	return one(option)
}

var everyClient = map[string]Setting{
	"bootstrap.servers": func(v string) []kgo.Opt { return one(kgo.SeedBrokers(strings.Split(v, ",")...)) },
	"client.id":         func(v string) []kgo.Opt { return one(kgo.ClientID(v)) },
	"request.timeout.ms": func(v string) []kgo.Opt { // it kills a connection after no less than 100 ms
		return one(kgo.RequestTimeoutOverhead(max(ms(v), 100*time.Millisecond)))
	},
	"retry.backoff.ms": func(v string) []kgo.Opt {
		return one(kgo.RetryBackoffFn(func(int) time.Duration { return ms(v) }))
	},
	"metadata.max.age.ms": func(v string) []kgo.Opt { return one(kgo.MetadataMaxAge(ms(v))) },
	"security.protocol": func(v string) []kgo.Opt {
		if v != "PLAINTEXT" && v != "SASL_PLAINTEXT" {
			return nil
		}
		return []kgo.Opt{}
	},
	// These two are said together, by `login`.
	"sasl.mechanism":   func(string) []kgo.Opt { return []kgo.Opt{} },
	"sasl.jaas.config": func(string) []kgo.Opt { return []kgo.Opt{} },
}

var producers = map[string]Setting{
	"request.timeout.ms": func(v string) []kgo.Opt { // of a request with a field for it, and beyond it
		return append(everyClient["request.timeout.ms"](v), kgo.ProduceRequestTimeout(ms(v)))
	},
	"acks": func(v string) []kgo.Opt {
		return one(kgo.RequiredAcks(map[string]kgo.Acks{
			"0": kgo.NoAck(), "1": kgo.LeaderAck(), "all": kgo.AllISRAcks(), "-1": kgo.AllISRAcks(),
		}[v]))
	},
	"enable.idempotence": func(v string) []kgo.Opt { return unless(v, kgo.DisableIdempotentWrite()) },
	"linger.ms":          func(v string) []kgo.Opt { return one(kgo.ProducerLinger(ms(v))) },
	"batch.size":         func(v string) []kgo.Opt { return one(kgo.ProducerBatchMaxBytes(int32(number(v)))) },
	"compression.type": func(v string) []kgo.Opt {
		codec, known := map[string]kgo.CompressionCodec{
			"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
			"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
		}[v]
		if !known {
			return nil
		}
		return one(kgo.ProducerBatchCompression(codec))
	},
	"delivery.timeout.ms":    func(v string) []kgo.Opt { return one(kgo.RecordDeliveryTimeout(ms(v))) },
	"retries":                func(v string) []kgo.Opt { return one(kgo.RecordRetries(number(v))) },
	"buffer.memory":          func(v string) []kgo.Opt { return one(kgo.MaxBufferedBytes(number(v))) },
	"transactional.id":       func(v string) []kgo.Opt { return one(kgo.TransactionalID(v)) },
	"transaction.timeout.ms": func(v string) []kgo.Opt { return one(kgo.TransactionTimeout(ms(v))) },
}

var consumers = map[string]Setting{
	"auto.offset.reset": func(v string) []kgo.Opt {
		return one(kgo.ConsumeResetOffset(map[string]kgo.Offset{
			"earliest": kgo.NewOffset().AtStart(), "latest": kgo.NewOffset().AtEnd(), "none": kgo.NoResetOffset(),
		}[v]))
	},
	"isolation.level": func(v string) []kgo.Opt {
		if v == "read_committed" {
			return one(kgo.FetchIsolationLevel(kgo.ReadCommitted()))
		}
		return one(kgo.FetchIsolationLevel(kgo.ReadUncommitted()))
	},
	"fetch.max.wait.ms":         func(v string) []kgo.Opt { return one(kgo.FetchMaxWait(ms(v))) },
	"fetch.min.bytes":           func(v string) []kgo.Opt { return one(kgo.FetchMinBytes(int32(number(v)))) },
	"fetch.max.bytes":           func(v string) []kgo.Opt { return one(kgo.FetchMaxBytes(int32(number(v)))) },
	"max.partition.fetch.bytes": func(v string) []kgo.Opt { return one(kgo.FetchMaxPartitionBytes(int32(number(v)))) },
	"check.crcs":                func(v string) []kgo.Opt { return unless(v, kgo.DisableFetchCRCValidation()) },
	"group.id":                  func(v string) []kgo.Opt { return one(kgo.ConsumerGroup(v)) },
	"group.instance.id":         func(v string) []kgo.Opt { return one(kgo.InstanceID(v)) },
	"session.timeout.ms":        func(v string) []kgo.Opt { return one(kgo.SessionTimeout(ms(v))) },
	"heartbeat.interval.ms":     func(v string) []kgo.Opt { return one(kgo.HeartbeatInterval(ms(v))) },
	"enable.auto.commit":        func(v string) []kgo.Opt { return unless(v, kgo.DisableAutoCommit()) },
	"auto.commit.interval.ms":   func(v string) []kgo.Opt { return one(kgo.AutoCommitInterval(ms(v))) },
	"client.rack":               func(v string) []kgo.Opt { return one(kgo.Rack(v)) },
	"partition.assignment.strategy": func(v string) []kgo.Opt {
		balancer, known := map[string]kgo.GroupBalancer{
			"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(),
			"sticky": kgo.StickyBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer(),
		}[v]
		if !known {
			return nil
		}
		return one(kgo.Balancers(balancer))
	},
}

var account = regexp.MustCompile(`(username|password)="([^"]*)"`)

// login is the mechanism by which a client says who it is; nil: it has none of this name.
func login(mechanism, jaas string) []kgo.Opt {
	said := map[string]string{}
	for _, found := range account.FindAllStringSubmatch(jaas, -1) {
		said[found[1]] = found[2]
	}
	user, password := said["username"], said["password"]
	switch mechanism {
	case "PLAIN":
		return one(kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	case "SCRAM-SHA-256":
		return one(kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha256Mechanism()))
	case "SCRAM-SHA-512":
		return one(kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha512Mechanism()))
	}
	return nil
}

// options of a config, over those of Kafka's defaults that franz-go has not.
func options(config map[string]string, known map[string]Setting) (found []kgo.Opt, err error) {
	defer func() {
		if lacking, ok := recover().(Lacking); ok {
			err = lacking
		}
	}()
	// Java looks again after retry.backoff.ms, franz-go after seconds.
	found = []kgo.Opt{kgo.MetadataMinAge(100 * time.Millisecond)}
	for name, value := range config {
		setting := known[name]
		if setting == nil {
			setting = everyClient[name]
		}
		if setting == nil {
			return nil, Lacking{"the setting " + name}
		}
		more := setting(value)
		if more == nil {
			return nil, Lacking{"the setting " + name + "=" + value}
		}
		found = append(found, more...)
	}
	if mechanism := config["sasl.mechanism"]; mechanism != "" {
		more := login(mechanism, config["sasl.jaas.config"])
		if more == nil {
			return nil, Lacking{"the setting sasl.mechanism=" + mechanism}
		}
		found = append(found, more...)
	}
	if err := kgo.ValidateOpts(found...); err != nil {
		return nil, Lacking{"these settings: " + err.Error()}
	}
	return found, nil
}
