// franz-go in a client campaign: the lines of session.py, in Go.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	lock               sync.Mutex
	acknowledged, read bool
	errors             atomic.Int64
	stopped            atomic.Bool
)

func say(line string) {
	line = strings.Join(strings.Fields(line), " ")
	if len(line) > 400 {
		line = line[:400]
	}
	lock.Lock()
	defer lock.Unlock()
	fmt.Println(line)
}

func note(wasAcknowledged, wasRead bool) {
	lock.Lock()
	acknowledged = acknowledged || wasAcknowledged
	read = read || wasRead
	both := acknowledged && read
	if both {
		acknowledged, read = false, false
	}
	lock.Unlock()
	if both {
		say("progress")
	}
}

func report(err error) {
	if errors.Add(1) <= 200 {
		say("error " + err.Error())
	}
}

func once(bootstrap, topic, group string) {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(6*time.Second), kgo.RequestTimeoutOverhead(3*time.Second),
		kgo.RecordDeliveryTimeout(4*time.Second), kgo.FetchMaxWait(100*time.Millisecond),
		kgo.RetryTimeout(4*time.Second), kgo.MetadataMaxAge(2*time.Second),
		kgo.MetadataMinAge(100*time.Millisecond), kgo.AutoCommitInterval(200*time.Millisecond))
	if err != nil {
		report(err)
		return
	}
	defer client.Close()
	for !stopped.Load() {
		client.Produce(context.Background(), &kgo.Record{Topic: topic, Value: []byte("a record")},
			func(_ *kgo.Record, err error) {
				if err == nil {
					note(true, false)
				} else {
					report(err)
				}
			})
		waiting, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		fetches := client.PollFetches(waiting)
		cancel()
		for _, one := range fetches.Errors() {
			if one.Err != context.DeadlineExceeded {
				report(one.Err)
			}
		}
		if fetches.NumRecords() > 0 {
			note(false, true)
		}
	}
}

func main() {
	lines := make(chan []string, 10)
	go func() {
		input := bufio.NewScanner(os.Stdin)
		for input.Scan() {
			if strings.HasPrefix(input.Text(), "stop") {
				stopped.Store(true)
			} else {
				lines <- strings.Fields(input.Text())
			}
		}
		os.Exit(0)
	}()
	say("ready")
	for words := range lines {
		stopped.Store(false)
		errors.Store(0)
		for !stopped.Load() {
			once(words[1], words[2], words[3])
			time.Sleep(100 * time.Millisecond)
		}
		say("closed")
	}
}
