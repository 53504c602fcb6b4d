// The adapter of franz-go: the commands and events of docs/adapter.md, in Go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	timedOut   = 7               // REQUEST_TIMED_OUT
	closing    = 2 * time.Second // for a client that is dropped
	longestRow = 16 << 20
)

type row = map[string]any

// Lacking is what the client has not.
type Lacking struct{ what string }

func (l Lacking) Error() string { return l.what }

// Fields are those of a command; each command reads its own.
type Fields struct {
	Command      string            `json:"command"`
	Client       string            `json:"client"`
	Kind         string            `json:"kind"`
	Config       map[string]string `json:"config"`
	Operation    string            `json:"operation"`
	Topic        string            `json:"topic"`
	Records      []Record          `json:"records"`
	Partitions   []Place           `json:"partitions"`
	Partition    int32             `json:"partition"`
	Offset       int64             `json:"offset"`
	Offsets      []Place           `json:"offsets"`
	On           bool              `json:"on"`
	Topics       json.RawMessage   `json:"topics"`
	ValidateOnly bool              `json:"validate_only"`
	Count        int               `json:"count"`
	At           string            `json:"at"`
	Replicas     []int32           `json:"replicas"`
	Type         string            `json:"type"`
	Name         string            `json:"name"`
	Set          map[string]string `json:"set"`
	Delete       []string          `json:"delete"`
	Group        string            `json:"group"`
	Groups       []string          `json:"groups"`
	Principal    string            `json:"principal"`
}

// Record is one that a producer is to send.
type Record struct {
	Key       *string     `json:"key"`
	Value     *string     `json:"value"`
	Partition *int32      `json:"partition"`
	Headers   [][2]string `json:"headers"`
	Timestamp *int64      `json:"timestamp"`
}

// Place is a partition, and perhaps an offset in it.
type Place struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

var output sync.Mutex

func say(name string, fields row) {
	told := row{"name": name, "timestamp": time.Now().UnixMilli()}
	for key, value := range fields {
		told[key] = value
	}
	line, err := json.Marshal(told)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

// described gives the fields of an error; a timeout of the client's own has Kafka's number.
func described(err error) row {
	found := row{"exception": fmt.Sprintf("%T", err), "message": clipped(err.Error()), "code": nil}
	var ofKafka *kerr.Error
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, kgo.ErrRecordTimeout) ||
		errors.Is(err, kgo.ErrRecordRetries)
	if errors.As(err, &ofKafka) {
		found["exception"], found["code"] = ofKafka.Message, ofKafka.Code
	} else if late {
		found["code"] = timedOut
	}
	return found
}

func clipped(text string) string {
	if len(text) > 500 {
		return text[:500]
	}
	return text
}

// Core is one client of any kind.
type Core interface {
	act(given Fields) error
	tick()
	close()
}

// Client runs a core in a goroutine of its own.
type Client struct {
	name     string
	commands chan Fields
	dropped  atomic.Bool
	ended    chan struct{}
}

func (c *Client) say(name string, fields row) {
	if !c.dropped.Load() {
		fields["client"] = c.name
		say(name, fields)
	}
}

func (c *Client) done(command string) { c.say("command_done", row{"command": command}) }

func (c *Client) failed(operation string, err error) {
	var lacking Lacking
	if errors.As(err, &lacking) {
		c.say("not_supported", row{"what": lacking.what})
		return
	}
	told := described(err)
	told["operation"] = operation
	c.say("client_error", told)
}

func (c *Client) run(kind string, config map[string]string) {
	defer close(c.ended)
	core, err := kinds[kind](c, config)
	if err != nil {
		c.failed("open", err)
		return
	}
	c.say("startup_complete", row{})
	for !c.dropped.Load() {
		select {
		case given := <-c.commands:
			if given.Command == "close" {
				core.close()
				c.say("shutdown_complete", row{})
				return
			}
			if err := core.act(given); err != nil {
				c.failed(operationOf(given), err)
			}
		default:
			core.tick()
		}
	}
	core.close()
}

func operationOf(given Fields) string {
	if given.Operation != "" {
		return given.Operation
	}
	return given.Command
}

var kinds = map[string]func(*Client, map[string]string) (Core, error){
	"producer": newProducer,
	"consumer": newConsumer,
	"admin":    newAdmin,
}

func version() string {
	about, _ := debug.ReadBuildInfo()
	for _, one := range about.Deps {
		if one.Path == "github.com/twmb/franz-go" {
			return one.Version
		}
	}
	return "unknown"
}

func reset(clients map[string]*Client) {
	for _, one := range clients {
		one.dropped.Store(true)
	}
	late := time.After(closing)
	for _, one := range clients {
		select {
		case <-one.ended:
		case <-late:
			late = time.After(0)
		}
	}
	clear(clients)
	say("reset_complete", row{})
}

func main() {
	say("adapter_ready", row{"adapter": "franz-go", "version": version()})
	clients := map[string]*Client{}
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, longestRow)
	for input.Scan() {
		var given Fields
		if err := json.Unmarshal(input.Bytes(), &given); err != nil {
			say("not_supported", row{"client": given.Client, "what": err.Error()})
			continue
		}
		client := clients[given.Client]
		_, known := kinds[given.Kind]
		switch {
		case given.Command == "reset":
			reset(clients)
		case given.Command == "open" && known:
			client = &Client{name: given.Client, commands: make(chan Fields, 1000), ended: make(chan struct{})}
			clients[given.Client] = client
			go client.run(given.Kind, given.Config)
		case given.Command == "open":
			say("not_supported", row{"client": given.Client, "what": "a client of kind " + given.Kind})
		case client != nil:
			client.commands <- given
		default:
			say("not_supported", row{"client": given.Client, "what": "the command " + given.Command})
		}
	}
}
