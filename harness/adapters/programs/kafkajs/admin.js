// Operations of an admin client of kafkajs, by name: (client, fields) -> result.
import kafkajs from "kafkajs";

const {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  ConfigResourceTypes,
  ResourcePatternTypes,
} = kafkajs;
const TYPES = { topic: ConfigResourceTypes.TOPIC, broker: ConfigResourceTypes.BROKER };
const READ = AclOperationTypes.READ;
const ALLOW = AclPermissionTypes.ALLOW;

// It tells by false that there was nothing to make.
async function createTopics(core, { topics: rows, validate_only: validateOnly = false }) {
  const topics = rows.map((one) => ({
    topic: one.name,
    numPartitions: one.partitions ?? 1,
    replicationFactor: one.replication ?? 1,
    configEntries: Object.entries(one.configs ?? {}).map(([name, value]) => ({ name, value })),
  }));
  const waitForLeaders = !validateOnly; // there are none of a topic that is not made
  if (!(await core.createTopics({ topics, validateOnly, waitForLeaders })))
    throw Object.assign(new Error("createTopics gave false"), { code: 36 });
}

async function describeTopics(core, { topics }) {
  const found = await core.fetchTopicMetadata({ topics });
  return found.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map((one) => ({
      partition: one.partitionId,
      leader: one.leader,
      replicas: one.replicas,
    })),
  }));
}

async function listOffsets(core, { topic, partition, at }) {
  const rows = await core.fetchTopicOffsets(topic);
  const row = rows.find((one) => one.partition === partition);
  return Number(at === "earliest" ? row.low : row.high);
}

async function describeConfigs(core, { type, name }) {
  const resources = [{ type: TYPES[type], name }];
  const found = await core.describeConfigs({ includeSynonyms: false, resources });
  const entries = found.resources[0].configEntries;
  return Object.fromEntries(entries.map((one) => [one.configName, one.configValue]));
}

async function groupOffsets(core, { group: groupId }) {
  const found = await core.fetchOffsets({ groupId });
  return found.flatMap(({ topic, partitions }) =>
    partitions.map(({ partition, offset }) => ({ topic, partition, offset: Number(offset) })),
  );
}

async function alterOffsets(core, { group: groupId, offsets }) {
  for (const { topic, partition, offset } of offsets)
    await core.setOffsets({ groupId, topic, partitions: [{ partition, offset: String(offset) }] });
}

// ACLs: of a topic by its name, for reading, allowed.
const on = (topic) => ({
  resourceType: AclResourceTypes.TOPIC,
  resourceName: topic,
  resourcePatternType: ResourcePatternTypes.LITERAL,
  operation: AclOperationTypes.ANY,
  permissionType: AclPermissionTypes.ANY,
});

const binding = (topic, one) => ({
  topic,
  principal: one.principal,
  operation: one.operation === READ ? "read" : String(one.operation),
  permission: one.permissionType === ALLOW ? "allow" : String(one.permissionType),
});

async function createAcl(core, { topic, principal }) {
  const kind = { operation: READ, permissionType: ALLOW };
  await core.createAcls({ acl: [{ ...on(topic), ...kind, principal, host: "*" }] });
}

async function describeAcls(core, { topic }) {
  const { resources } = await core.describeAcls(on(topic));
  return resources.flatMap((one) => one.acls.map((acl) => binding(one.resourceName, acl)));
}

async function deleteAcls(core, { topic }) {
  const { filterResponses } = await core.deleteAcls({ filters: [on(topic)] });
  return filterResponses.flatMap((one) =>
    one.matchingAcls.map((acl) => binding(acl.resourceName, acl)),
  );
}

export const operations = {
  create_topics: createTopics,
  delete_topics: (core, { topics }) => core.deleteTopics({ topics }),
  create_partitions: (core, { topic, count }) =>
    core.createPartitions({ topicPartitions: [{ topic, count }] }),
  list_topics: (core) => core.listTopics(),
  describe_topics: describeTopics,
  describe_cluster: async (core) => ({
    brokers: (await core.describeCluster()).brokers.map((one) => one.nodeId).sort(),
  }),
  delete_records: (core, { topic, partition, offset }) =>
    core.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] }),
  list_offsets: listOffsets,
  reassign: (core, { topic, partition, replicas }) =>
    core.alterPartitionReassignments({
      topics: [{ topic, partitionAssignment: [{ partition, replicas }] }],
    }),
  describe_configs: describeConfigs,
  list_groups: async (core) => (await core.listGroups()).groups.map((one) => one.groupId),
  describe_group: async (core, { group }) => {
    const [found] = (await core.describeGroups([group])).groups;
    return { state: found.state, members: found.members.length };
  },
  delete_groups: (core, { groups }) => core.deleteGroups(groups),
  alter_offsets: alterOffsets,
  group_offsets: groupOffsets,
  create_acl: createAcl,
  describe_acls: describeAcls,
  delete_acls: deleteAcls,
};
