package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const asking = 60 * time.Second // default.api.timeout.ms

// Admin is kadm, the package for administrators over franz-go.
type Admin struct {
	*Client
	core *kadm.Client
}

// Items are an operation's parts, each with an error or none.
type Items map[string]error

func newAdmin(client *Client, config map[string]string) (Core, error) {
	found, err := options(config, nil)
	if err != nil {
		return nil, err
	}
	core, err := kgo.NewClient(found...)
	if err != nil {
		return nil, err
	}
	return &Admin{Client: client, core: kadm.NewClient(core)}, nil
}

func (a *Admin) act(given Fields) error {
	operation, known := operations[given.Operation]
	if given.Command != "admin" {
		return Lacking{"the command " + given.Command}
	}
	if !known {
		return Lacking{"the admin operation " + given.Operation}
	}
	late, cancel := context.WithTimeout(context.Background(), asking)
	defer cancel()
	result, items, err := operation(late, a.core, given)
	told := row{"operation": given.Operation, "result": result}
	if items != nil {
		rows := []row{}
		for _, name := range slices.Sorted(maps.Keys(items)) {
			if items[name] == nil {
				rows = append(rows, row{"item": name, "code": nil})
				continue
			}
			rows = append(rows, row{"item": name, "code": described(items[name])["code"]})
			if err == nil {
				err = items[name]
			}
		}
		told["items"] = rows
	}
	if err != nil {
		told["result"] = nil
		maps.Copy(told, described(err))
	}
	a.say("admin_result", told)
	return nil
}

func (a *Admin) tick()  { time.Sleep(10 * time.Millisecond) }
func (a *Admin) close() { a.core.Close() }

func names(given json.RawMessage) (found []string, err error) {
	return found, json.Unmarshal(given, &found)
}

func item(topic string, partition int32) string { return fmt.Sprintf("%s-%d", topic, partition) }

func partition(given Fields) kadm.TopicsSet {
	found := kadm.TopicsSet{}
	found.Add(given.Topic, given.Partition)
	return found
}

type operation func(context.Context, *kadm.Client, Fields) (any, Items, error)

var operations = map[string]operation{
	"create_topics":     createTopics,
	"delete_topics":     deleteTopics,
	"create_partitions": createPartitions,
	"list_topics":       listTopics,
	"describe_topics":   describeTopics,
	"describe_cluster":  describeCluster,
	"delete_records":    deleteRecords,
	"list_offsets":      listOffsets,
	"elect_leaders":     electLeaders,
	"reassign":          reassign,
	"describe_configs":  describeConfigs,
	"alter_configs":     alterConfigs,
	"list_groups":       listGroups,
	"describe_group":    describeGroup,
	"delete_groups":     deleteGroups,
	"alter_offsets":     alterOffsets,
	"group_offsets":     groupOffsets,
	"delete_offsets":    deleteOffsets,
	"create_acl":        createACL,
	"describe_acls":     describeACLs,
	"delete_acls":       deleteACLs,
}

func createTopics(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	var topics []struct {
		Name        string             `json:"name"`
		Partitions  *int32             `json:"partitions"`
		Replication *int16             `json:"replication"`
		Configs     map[string]*string `json:"configs"`
	}
	if err := json.Unmarshal(given.Topics, &topics); err != nil {
		return nil, nil, err
	}
	create := core.CreateTopics
	if given.ValidateOnly {
		create = core.ValidateCreateTopics
	}
	items := Items{}
	for _, each := range topics { // it makes topics of one kind at a time
		partitions, replication := int32(1), int16(1)
		if each.Partitions != nil {
			partitions = *each.Partitions
		}
		if each.Replication != nil {
			replication = *each.Replication
		}
		found, err := create(ctx, partitions, replication, each.Configs, each.Name)
		if err != nil {
			return nil, nil, err
		}
		for name, one := range found {
			items[name] = one.Err
		}
	}
	return nil, items, nil
}

func deleteTopics(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	topics, err := names(given.Topics)
	if err != nil {
		return nil, nil, err
	}
	found, err := core.DeleteTopics(ctx, topics...)
	items := Items{}
	for name, one := range found {
		items[name] = one.Err
	}
	return nil, items, err
}

func createPartitions(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	found, err := core.UpdatePartitions(ctx, given.Count, given.Topic)
	items := Items{}
	for name, one := range found {
		items[name] = one.Err
	}
	return nil, items, err
}

func listTopics(ctx context.Context, core *kadm.Client, _ Fields) (any, Items, error) {
	found, err := core.ListTopics(ctx)
	return slices.Sorted(maps.Keys(found)), nil, err
}

func describeTopics(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	topics, err := names(given.Topics)
	if err != nil {
		return nil, nil, err
	}
	found, err := core.ListTopics(ctx, topics...)
	if err != nil {
		return nil, nil, err
	}
	rows := []row{}
	for _, each := range found.Sorted() {
		if each.Err != nil {
			return nil, nil, each.Err
		}
		partitions := []row{}
		for _, one := range each.Partitions.Sorted() {
			partitions = append(partitions, row{
				"partition": one.Partition, "leader": one.Leader, "replicas": one.Replicas,
			})
		}
		rows = append(rows, row{"name": each.Topic, "partitions": partitions})
	}
	return rows, nil, nil
}

func describeCluster(ctx context.Context, core *kadm.Client, _ Fields) (any, Items, error) {
	found, err := core.BrokerMetadata(ctx)
	ids := found.Brokers.NodeIDs()
	slices.Sort(ids)
	return row{"brokers": ids}, nil, err
}

func deleteRecords(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	wanted := kadm.Offsets{}
	wanted.AddOffset(given.Topic, given.Partition, given.Offset, -1)
	found, err := core.DeleteRecords(ctx, wanted)
	items := Items{}
	for topic, parts := range found {
		for number, one := range parts {
			items[item(topic, number)] = one.Err
		}
	}
	return nil, items, err
}

func listOffsets(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	list := core.ListStartOffsets
	if given.At == "latest" {
		list = core.ListEndOffsets
	}
	found, err := list(ctx, given.Topic)
	if err != nil {
		return nil, nil, err
	}
	one, there := found.Lookup(given.Topic, given.Partition)
	if !there {
		return nil, nil, kerr.UnknownTopicOrPartition
	}
	return one.Offset, nil, one.Err
}

func electLeaders(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	found, err := core.ElectLeaders(ctx, kadm.ElectPreferredReplica, partition(given))
	if err != nil {
		return nil, nil, err
	}
	return nil, nil, found[given.Topic][given.Partition].Err
}

func reassign(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	var wanted kadm.AlterPartitionAssignmentsReq
	if given.Replicas == nil {
		wanted.CancelAssign(given.Topic, given.Partition)
	} else {
		wanted.Assign(given.Topic, given.Partition, given.Replicas)
	}
	found, err := core.AlterPartitionAssignments(ctx, wanted)
	items := Items{}
	for topic, parts := range found {
		for number, one := range parts {
			items[item(topic, number)] = one.Err
		}
	}
	return nil, items, err
}

func broker(given Fields) (int32, error) {
	found, err := strconv.ParseInt(given.Name, 10, 32)
	return int32(found), err
}

func describeConfigs(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	var found kadm.ResourceConfigs
	var err error
	if given.Type == "topic" {
		found, err = core.DescribeTopicConfigs(ctx, given.Name)
	} else if id, wrong := broker(given); wrong != nil {
		return nil, nil, wrong
	} else {
		found, err = core.DescribeBrokerConfigs(ctx, id)
	}
	if err != nil {
		return nil, nil, err
	}
	values := row{}
	for _, each := range found {
		if each.Err != nil {
			return nil, nil, each.Err
		}
		for _, one := range each.Configs {
			values[one.Key] = one.Value
		}
	}
	return values, nil, nil
}

func alterConfigs(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	changes := []kadm.AlterConfig{}
	for name, value := range given.Set {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value})
	}
	for _, name := range given.Delete {
		changes = append(changes, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: name})
	}
	var found kadm.AlterConfigsResponses
	var err error
	if given.Type == "topic" {
		found, err = core.AlterTopicConfigs(ctx, changes, given.Name)
	} else if id, wrong := broker(given); wrong != nil {
		return nil, nil, wrong
	} else {
		found, err = core.AlterBrokerConfigs(ctx, changes, id)
	}
	items := Items{}
	for _, each := range found {
		items[each.Name] = each.Err
	}
	return nil, items, err
}

func listGroups(ctx context.Context, core *kadm.Client, _ Fields) (any, Items, error) {
	found, err := core.ListGroups(ctx)
	return slices.Sorted(maps.Keys(found)), nil, err
}

func describeGroup(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	found, err := core.DescribeGroups(ctx, given.Group)
	if err != nil {
		return nil, nil, err
	}
	about := found[given.Group]
	return row{"state": about.State, "members": len(about.Members)}, nil, about.Err
}

func deleteGroups(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	found, err := core.DeleteGroups(ctx, given.Groups...)
	items := Items{}
	for name, one := range found {
		items[name] = one.Err
	}
	return nil, items, err
}

func alterOffsets(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	wanted := kadm.Offsets{}
	for _, each := range given.Offsets {
		wanted.AddOffset(each.Topic, each.Partition, each.Offset, -1)
	}
	return nil, nil, core.CommitAllOffsets(ctx, given.Group, wanted)
}

func groupOffsets(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	found, err := core.FetchOffsets(ctx, given.Group)
	rows := []Place{}
	for _, each := range found.Sorted() {
		rows = append(rows, Place{Topic: each.Topic, Partition: each.Partition, Offset: each.At})
	}
	return rows, nil, err
}

func deleteOffsets(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	found, err := core.DeleteOffsets(ctx, given.Group, partition(given))
	if err != nil {
		return nil, nil, err
	}
	one, _ := found.Lookup(given.Topic, given.Partition)
	return nil, nil, one
}

func createACL(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	wanted := kadm.NewACLs().Topics(given.Topic).ResourcePatternType(kadm.ACLPatternLiteral).
		Allow(given.Principal).AllowHosts("*").Operations(kadm.OpRead)
	found, err := core.CreateACLs(ctx, wanted)
	for _, each := range found {
		if err == nil {
			err = each.Err
		}
	}
	return nil, nil, err
}

func ofTopic(given Fields) *kadm.ACLBuilder {
	return kadm.NewACLs().Topics(given.Topic).ResourcePatternType(kadm.ACLPatternLiteral).
		Allow().AllowHosts().Deny().DenyHosts().Operations(kadm.OpAny)
}

func describeACLs(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	found, err := core.DescribeACLs(ctx, ofTopic(given))
	rows, seen := []row{}, map[string]bool{} // it asks for those that allow and those that deny apart
	for _, each := range found {
		if err == nil {
			err = each.Err
		}
		for _, one := range each.Described {
			if name := fmt.Sprint(one); !seen[name] {
				seen[name] = true
				rows = append(rows, acl(one.Name, one.Principal, one.Operation, one.Permission.String()))
			}
		}
	}
	return rows, nil, err
}

func deleteACLs(ctx context.Context, core *kadm.Client, given Fields) (any, Items, error) {
	found, err := core.DeleteACLs(ctx, ofTopic(given))
	rows := []row{}
	for _, each := range found {
		if err == nil {
			err = each.Err
		}
		for _, one := range each.Deleted {
			rows = append(rows, acl(one.Name, one.Principal, one.Operation, one.Permission.String()))
		}
	}
	return rows, nil, err
}

func acl(topic, principal string, operation kmsg.ACLOperation, permission string) row {
	return row{
		"topic": topic, "principal": principal, "operation": strings.ToLower(operation.String()),
		"permission": strings.ToLower(permission),
	}
}
