// franz-go on a broker that this program starts: touchstone must be on the PATH.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	broker := exec.Command("touchstone", "broker", "--profile", "test")
	out, err := broker.StdoutPipe()
	check(err)
	check(broker.Start())
	defer broker.Process.Kill()
	ready, err := bufio.NewReader(out).ReadString('\n')
	check(err)
	servers := strings.Split(strings.TrimSpace(strings.TrimPrefix(ready, "ready ")), ",")

	client, err := kgo.NewClient(kgo.SeedBrokers(servers...), kgo.AllowAutoTopicCreation(),
		kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"))
	check(err)
	defer client.Close()
	ctx := context.Background()
	record := &kgo.Record{Topic: "orders", Key: []byte("customer 7"), Value: []byte("order 1")}
	check(client.ProduceSync(ctx, record).FirstErr())
	fetches := client.PollFetches(ctx)
	check(fetches.Err())
	fetches.EachRecord(func(r *kgo.Record) { fmt.Printf("%s: %s\n", r.Key, r.Value) })
}
