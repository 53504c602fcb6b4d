// The adapter of kafkajs: the commands and events of docs/adapter.md, in JavaScript.
import readline from "node:readline";
import kafkajs from "kafkajs";
import { operations } from "./admin.js";

const { Kafka, CompressionTypes, logLevel } = kafkajs;
const clients = new Map();
const ACKS = { all: -1, "-1": -1, 0: 0, 1: 1 };

class Lacking extends Error {}

function say(name, fields) {
  process.stdout.write(JSON.stringify({ timestamp: Date.now(), name, ...fields }) + "\n");
}

function described(problem) {
  const cause = problem.cause ?? problem;
  const late = cause.name === "KafkaJSRequestTimeoutError" ? 7 : null;
  const code = typeof cause.code === "number" && cause.code > 0 ? cause.code : late;
  return { exception: problem.name, message: String(problem.message).slice(0, 500), code };
}

const LOGIN = ["security.protocol", "sasl.mechanism", "sasl.jaas.config"];
const OF_CONNECTIONS = ["bootstrap.servers", "client.id", ...LOGIN];

// Kafka's names of settings that `known` maps; any other is lacking.
function translated(config, known) {
  const found = {};
  for (const [key, value] of Object.entries(config)) {
    if (OF_CONNECTIONS.includes(key)) continue;
    if (!(key in known)) throw new Lacking(`the setting ${key}`);
    const [name, make] = known[key];
    found[name] = make(value);
  }
  return found;
}

function login(config) {
  const protocol = config["security.protocol"] ?? "PLAINTEXT";
  if (protocol === "PLAINTEXT") return {};
  if (protocol !== "SASL_PLAINTEXT") throw new Lacking(`the protocol ${protocol}`);
  const said = config["sasl.jaas.config"].matchAll(/(username|password)="([^"]*)"/g);
  const sasl = Object.fromEntries(Array.from(said, ([, key, value]) => [key, value]));
  return { sasl: { mechanism: config["sasl.mechanism"].toLowerCase(), ...sasl } };
}

function connected(config, more = {}) {
  return new Kafka({
    clientId: config["client.id"],
    brokers: config["bootstrap.servers"].split(","),
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 50, retries: 8 },
    ...login(config),
    ...more,
  });
}

const number = (text) => Number(text);
const flag = (text) => text === "true";
const SENDING = {
  acks: ["acks", (text) => ACKS[text]],
  "enable.idempotence": ["idempotent", flag],
  "compression.type": ["compression", (text) => text],
  "linger.ms": ["linger", number],
  "transactional.id": ["transactionalId", String],
  "transaction.timeout.ms": ["transactionTimeout", number],
  "max.in.flight.requests.per.connection": ["inFlight", number],
  "request.timeout.ms": ["requestTimeout", number],
};

// It has one assignor, which takes everything away first; a claim that wants such a one gets it.
function assigner(text) {
  if (!["range", "roundrobin"].includes(text)) throw new Lacking(`the assignors ${text}`);
  return text;
}

const READING = {
  "group.id": ["groupId", String],
  "auto.offset.reset": ["reset", String],
  "fetch.max.wait.ms": ["maxWaitTimeInMs", number],
  "fetch.min.bytes": ["minBytes", number],
  "fetch.max.bytes": ["maxBytes", number],
  "max.partition.fetch.bytes": ["maxBytesPerPartition", number],
  "session.timeout.ms": ["sessionTimeout", number],
  "heartbeat.interval.ms": ["heartbeatInterval", number],
  "isolation.level": ["readUncommitted", (text) => text === "read_uncommitted"],
  "enable.auto.commit": ["autoCommit", flag],
  "auto.commit.interval.ms": ["autoCommitInterval", number],
  "client.rack": ["rackId", String],
  "partition.assignment.strategy": ["assigner", assigner],
};

class Producer {
  constructor(id, config) {
    this.id = id;
    const own = translated(config, SENDING);
    if (own.linger > 0) throw new Lacking("the setting linger.ms");
    if (own.compression && !["none", "gzip"].includes(own.compression))
      throw new Lacking(`the codec ${own.compression}`);
    this.acks = own.acks ?? -1;
    this.more = own.requestTimeout ? { timeout: own.requestTimeout } : {};
    this.compression = own.compression === "gzip" ? CompressionTypes.GZIP : CompressionTypes.None;
    this.kafka = connected(
      config,
      own.requestTimeout ? { requestTimeout: own.requestTimeout } : {},
    );
    const idempotent = own.transactionalId ? true : (own.idempotent ?? this.acks === -1);
    this.core = this.kafka.producer({
      idempotent,
      maxInFlightRequests: own.inFlight ?? 1,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      ...(own.transactionalId ? { transactionalId: own.transactionalId } : {}),
      ...(own.transactionTimeout ? { transactionTimeout: own.transactionTimeout } : {}),
    });
    this.pending = new Set();
  }

  async open() {
    await this.core.connect();
  }

  send({ topic, records }) {
    const messages = records.map((one) => ({
      key: one.key,
      value: one.value,
      ...(one.partition == null ? {} : { partition: one.partition }),
      ...(one.timestamp == null ? {} : { timestamp: String(one.timestamp) }),
      headers: headersOf(one.headers),
    }));
    const target = this.transaction_ ?? this.core;
    const work = target
      .send({ topic, messages, acks: this.acks, compression: this.compression, ...this.more })
      .then((rows) => this.sent(topic, records, rows))
      .catch((problem) => {
        for (const one of records)
          say("producer_send_error", {
            client: this.id,
            topic,
            key: one.key,
            value: one.value,
            ...described(problem),
          });
      });
    this.pending.add(work);
    work.finally(() => this.pending.delete(work));
  }

  // kafkajs names one offset for a partition: of several it cannot say which record is where.
  sent(topic, records, rows) {
    const next = new Map((rows ?? []).map((row) => [row.partition, Number(row.baseOffset ?? -1)]));
    for (const one of records) {
      const partition = one.partition ?? (next.size === 1 ? [...next.keys()][0] : undefined);
      if (partition === undefined) {
        say("not_supported", {
          client: this.id,
          what: "to which partition each of several records went",
        });
        return;
      }
      const offset = next.get(partition) ?? -1;
      next.set(partition, offset < 0 ? offset : offset + 1);
      say("producer_send_success", {
        client: this.id,
        topic,
        partition,
        offset,
        key: one.key,
        value: one.value,
      });
    }
  }

  async flush() {
    await Promise.all(this.pending);
    say("flush_complete", { client: this.id });
  }

  async transaction({ operation }) {
    if (operation === "begin") this.transaction_ = await this.core.transaction();
    else if (operation !== "init") {
      await this.transaction_[operation]();
      this.transaction_ = undefined;
    }
    say("transaction_complete", { client: this.id, operation });
  }

  async send_offsets({ group, offsets }) {
    const topics = offsets.map((one) => ({
      topic: one.topic,
      partitions: [{ partition: one.partition, offset: String(one.offset) }],
    }));
    await this.transaction_.sendOffsets({ consumerGroupId: group, topics });
    say("transaction_complete", { client: this.id, operation: "send_offsets" });
  }

  async close() {
    await Promise.all(this.pending);
    await this.core.disconnect();
  }
}

function headersOf(pairs) {
  const found = {};
  for (const [name, value] of pairs ?? []) found[name] = [...(found[name] ?? []), value];
  return found;
}

class Consumer {
  constructor(id, config) {
    this.id = id;
    const { reset, autoCommit, autoCommitInterval, assigner: _, ...own } = translated(
      config,
      READING,
    );
    if (!own.groupId) throw new Lacking("a consumer without a group");
    if (reset === "none") throw new Lacking("auto.offset.reset none");
    this.fromBeginning = reset === "earliest";
    this.commits = {
      autoCommit: autoCommit ?? true,
      autoCommitInterval: autoCommitInterval ?? 5000,
    };
    this.core = connected(config).consumer(own);
    this.positions = new Map();
    this.core.on(this.core.events.GROUP_JOIN, ({ payload }) => this.joined(payload));
    this.core.on(this.core.events.REBALANCING, () =>
      this.moved("partitions_revoked", this.owned ?? []),
    );
    this.core.on(this.core.events.CRASH, ({ payload }) =>
      say("consumer_error", { client: id, ...described(payload.error) }),
    );
  }

  joined({ memberAssignment }) {
    this.owned = Object.entries(memberAssignment).flatMap(([topic, rows]) =>
      rows.map((partition) => ({ topic, partition })),
    );
    this.moved("partitions_assigned", this.owned);
  }

  moved(name, partitions) {
    const rows = [...partitions].sort(
      (a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition,
    );
    say(name, { client: this.id, partitions: rows });
  }

  async open() {
    await this.core.connect();
  }

  async subscribe({ topics }) {
    await this.core.subscribe({ topics, fromBeginning: this.fromBeginning });
    await this.core.run({ ...this.commits, eachBatch: (one) => this.read(one) });
    say("command_done", { client: this.id, command: "subscribe" });
  }

  async read({ batch, resolveOffset }) {
    const records = batch.messages.map((one) => ({
      topic: batch.topic,
      partition: batch.partition,
      offset: Number(one.offset),
      key: one.key?.toString() ?? null,
      value: one.value?.toString() ?? null,
    }));
    for (const one of batch.messages) resolveOffset(one.offset);
    if (records.length === 0) return;
    const last = records[records.length - 1].offset;
    this.positions.set(JSON.stringify([batch.topic, batch.partition]), last + 1);
    const place = {
      topic: batch.topic,
      partition: batch.partition,
      count: records.length,
      minOffset: records[0].offset,
      maxOffset: last,
    };
    say("records_consumed", {
      client: this.id,
      count: records.length,
      partitions: [place],
      records,
    });
  }

  async commit({ offsets }) {
    const rows =
      offsets ??
      [...this.positions].map(([place, offset]) => {
        const [topic, partition] = JSON.parse(place);
        return { topic, partition, offset };
      });
    try {
      await this.core.commitOffsets(rows.map((one) => ({ ...one, offset: String(one.offset) })));
      say("offsets_committed", { client: this.id, offsets: rows, success: true });
    } catch (problem) {
      say("offsets_committed", {
        client: this.id,
        offsets: rows,
        success: false,
        ...described(problem),
      });
    }
  }

  seek({ topic, partition, offset }) {
    this.core.seek({ topic, partition, offset: String(offset) });
    say("command_done", { client: this.id, command: "seek" });
  }

  pause({ partitions }) {
    this.core.pause(partitions.map((one) => ({ topic: one.topic, partitions: [one.partition] })));
    say("command_done", { client: this.id, command: "pause" });
  }

  resume({ partitions }) {
    this.core.resume(partitions.map((one) => ({ topic: one.topic, partitions: [one.partition] })));
    say("command_done", { client: this.id, command: "resume" });
  }

  async close() {
    await this.core.disconnect();
  }
}

class Admin {
  constructor(id, config) {
    this.id = id;
    translated(config, {});
    // Fewer tries than a producer's: an error that it tries again is told in two seconds.
    this.core = connected(config, { retry: { initialRetryTime: 50, retries: 4 } }).admin();
  }

  async open() {
    await this.core.connect();
  }

  async admin({ operation, ...fields }) {
    const does = operations[operation];
    if (!does) throw new Lacking(`the admin operation ${operation}`);
    try {
      const result = await does(this.core, fields);
      say("admin_result", { client: this.id, operation, result: result ?? null });
    } catch (problem) {
      const first = problem.errors?.[0] ?? problem.groups?.[0]?.error ?? problem;
      say("admin_result", { client: this.id, operation, result: null, ...described(first) });
    }
  }

  async close() {
    await this.core.disconnect();
  }
}

const KINDS = { producer: Producer, consumer: Consumer, admin: Admin };

async function act(row) {
  const { command, client: id, ...fields } = row;
  try {
    if (command === "open") {
      if (!(row.kind in KINDS)) throw new Lacking(`a client of kind ${row.kind}`);
      const made = new KINDS[row.kind](id, row.config);
      clients.set(id, { made, last: Promise.resolve() });
      await made.open();
      say("startup_complete", { client: id });
      return;
    }
    const client = clients.get(id)?.made;
    if (typeof client?.[command] !== "function") throw new Lacking(`the command ${command}`);
    await client[command](fields);
    if (command === "close") say("shutdown_complete", { client: id });
  } catch (problem) {
    if (problem instanceof Lacking) say("not_supported", { client: id, what: problem.message });
    else
      say("client_error", {
        client: id,
        operation: row.operation ?? command,
        ...described(problem),
      });
  }
}

async function reset() {
  const closing = [...clients.values()].map(({ made }) => made.close().catch(() => {}));
  clients.clear();
  await Promise.race([Promise.all(closing), new Promise((done) => setTimeout(done, 3000))]);
  say("reset_complete", {});
}

process.env.KAFKAJS_NO_PARTITIONER_WARNING = "1";
say("adapter_ready", { adapter: "kafkajs", version: "2.2.4" });
const waiting = new Map(); // client -> the end of what it was told last
readline
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const row = JSON.parse(line);
    if (row.command === "reset") {
      waiting.clear();
      reset();
    } else {
      waiting.set(
        row.client,
        (waiting.get(row.client) ?? Promise.resolve()).then(() => act(row)),
      );
    }
  })
  .on("close", () => process.exit(0));
