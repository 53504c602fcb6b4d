// Command kfake serves franz-go's fake cluster until it is told to stop: one process, all brokers.
//
//	kfake -ports 9092,9093 -config group.consumer.heartbeat.interval.ms=500 -as-version 3.9
//
// It prints "ready HOST:PORT,..." when it serves. The module's own command is excluded from builds
// and listens on fixed ports; this one takes its ports and its settings from the target file.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"
)

type settings map[string]string

func (s settings) String() string { return "" }

func (s settings) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	if !found {
		return fmt.Errorf("%q is not NAME=VALUE", text)
	}
	s[name] = value
	return nil
}

func main() {
	given := settings{}
	ports := flag.String("ports", "9092", "ports, one for each broker, separated by commas")
	asVersion := flag.String("as-version", "", "the Kafka release whose versions it advertises")
	dataDir := flag.String("data-dir", "", "where to keep the log; else in memory")
	flag.Var(given, "config", "a broker setting, NAME=VALUE; may be repeated")
	flag.Parse()
	options, err := optionsOf(*ports, *asVersion, *dataDir, given)
	if err == nil {
		err = serve(options)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kfake:", err)
		os.Exit(1)
	}
}

func optionsOf(ports, asVersion, dataDir string, given settings) ([]kfake.Opt, error) {
	numbers := []int{}
	for _, word := range strings.Split(ports, ",") {
		number, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%q is not a port", word)
		}
		numbers = append(numbers, number)
	}
	// Kafka creates a topic that Metadata asks for by default; kfake does so when it is told to.
	options := []kfake.Opt{
		kfake.NumBrokers(len(numbers)), kfake.Ports(numbers...), kfake.AllowAutoTopicCreation(),
	}
	if partitions, found := given["num.partitions"]; found {
		number, err := strconv.Atoi(partitions)
		if err != nil {
			return nil, fmt.Errorf("num.partitions: %q is not a number", partitions)
		}
		options = append(options, kfake.DefaultNumPartitions(number))
		delete(given, "num.partitions")
	}
	if asVersion != "" {
		versions := kversion.FromString("v" + asVersion)
		if versions == nil {
			return nil, fmt.Errorf("%q is not a release of Kafka", asVersion)
		}
		options = append(options, kfake.MaxVersions(versions))
	}
	if dataDir != "" {
		options = append(options, kfake.DataDir(dataDir))
	}
	return append(options, kfake.BrokerConfigs(given)), nil
}

func serve(options []kfake.Opt) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		return err
	}
	defer cluster.Close()
	fmt.Println("ready", strings.Join(cluster.ListenAddrs(), ","))
	<-stop
	return nil
}
