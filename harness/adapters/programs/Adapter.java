// The adapter of Kafka's own clients: the commands and events of docs/adapter.md.
// One file for every release from 2.8 on: run by `java Adapter.java`, with Jackson of Kafka's jars.
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.AppInfoParser;

public class Adapter {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, Client> clients = new ConcurrentHashMap<>();
    static final Map<String, String> ASSIGNORS = Map.of(
        "range", "org.apache.kafka.clients.consumer.RangeAssignor",
        "roundrobin", "org.apache.kafka.clients.consumer.RoundRobinAssignor",
        "sticky", "org.apache.kafka.clients.consumer.StickyAssignor",
        "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");

    static final PrintStream OUT = System.out;  // logs go elsewhere

    static synchronized void say(ObjectNode row) {
        OUT.println(row.toString());
        OUT.flush();
    }

    static ObjectNode event(String name) {
        ObjectNode row = JSON.createObjectNode();
        return row.put("timestamp", System.currentTimeMillis()).put("name", name);
    }

    static void describe(ObjectNode row, Throwable thrown) {
        Throwable problem = thrown instanceof ExecutionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        row.put("exception", problem.getClass().getSimpleName()).put("message", String.valueOf(problem.getMessage()));
        Throwable known = problem;  // of a KafkaException around another error the inner one says more
        while (Errors.forException(known) == Errors.UNKNOWN_SERVER_ERROR && known.getCause() != null) {
            known = known.getCause();
        }
        // The consumer has a class of its own for it, which Errors does not know.
        short code = known instanceof OffsetOutOfRangeException ? Errors.OFFSET_OUT_OF_RANGE.code() : Errors.forException(known).code();
        if (code == Errors.UNKNOWN_SERVER_ERROR.code()) {
            row.putNull("code");
        } else {
            row.put("code", code);
        }
    }

    static byte[] bytes(JsonNode text) {
        return text == null || text.isNull() ? null : text.asText().getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] data) {
        return data == null ? null : new String(data, StandardCharsets.UTF_8);
    }

    static class Lacking extends RuntimeException {
        Lacking(String what) {
            super(what);
        }
    }

    abstract static class Client extends Thread {
        final String id;
        final LinkedBlockingQueue<JsonNode> commands = new LinkedBlockingQueue<>();
        volatile boolean dropped;

        Client(String id) {
            this.id = id;
            setDaemon(true);
        }

        abstract void open(Properties config);

        abstract void act(String command, JsonNode row) throws Exception;

        abstract void tick() throws Exception;

        abstract void end(Duration within);

        Properties config;

        void told(ObjectNode row) {
            if (!dropped) {
                say(row.put("client", id));
            }
        }

        void done(String command) {
            told(event("command_done").put("command", command));
        }

        void failed(String operation, Throwable problem) {
            if (problem instanceof Lacking) {
                told(event("not_supported").put("what", problem.getMessage()));
                return;
            }
            ObjectNode row = event("client_error").put("operation", operation);
            describe(row, problem);
            told(row);
        }

        @Override
        public void run() {
            try {
                open(config);
            } catch (Throwable problem) {
                failed("open", problem);
                return;
            }
            told(event("startup_complete"));
            while (!dropped) {
                JsonNode row = commands.poll();
                String command = row == null ? "tick" : row.get("command").asText();
                try {
                    if (row == null) {
                        tick();
                    } else if (command.equals("close")) {
                        end(Duration.ofSeconds(20));
                        told(event("shutdown_complete"));
                        return;
                    } else {
                        act(command, row);
                    }
                } catch (Throwable problem) {
                    failed(row != null && row.has("operation") ? row.get("operation").asText() : command, problem);
                }
            }
            try {
                end(Duration.ZERO);
            } catch (Throwable problem) {
                // nobody asks any more
            }
        }
    }

    static class Producing extends Client {
        KafkaProducer<byte[], byte[]> producer;

        Producing(String id) {
            super(id);
        }

        void open(Properties config) {
            producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        }

        void end(Duration within) {
            producer.close(within);
        }

        void tick() throws Exception {
            Thread.sleep(10);
        }

        ObjectNode of(String name, String topic, JsonNode record) {
            ObjectNode row = event(name).put("topic", topic);
            row.set("key", record.get("key"));
            row.set("value", record.get("value"));
            return row;
        }

        void send(String topic, JsonNode record) {
            Integer partition = record.hasNonNull("partition") ? record.get("partition").asInt() : null;
            Long timestamp = record.hasNonNull("timestamp") ? record.get("timestamp").asLong() : null;
            List<Header> headers = new ArrayList<>();
            if (record.hasNonNull("headers")) {
                record.get("headers").forEach(pair -> headers.add(new RecordHeader(pair.get(0).asText(), bytes(pair.get(1)))));
            }
            try {
                producer.send(new ProducerRecord<>(topic, partition, timestamp, bytes(record.get("key")), bytes(record.get("value")), headers), (metadata, problem) -> {
                    if (problem == null) {
                        told(of("producer_send_success", topic, record).put("partition", metadata.partition()).put("offset", metadata.hasOffset() ? metadata.offset() : -1));
                    } else {
                        ObjectNode row = of("producer_send_error", topic, record);
                        describe(row, problem);
                        told(row);
                    }
                });
            } catch (Exception problem) {
                ObjectNode row = of("producer_send_error", topic, record);
                describe(row, problem);
                told(row);
            }
        }

        void act(String command, JsonNode row) throws Exception {
            switch (command) {
                case "send":
                    row.get("records").forEach(record -> send(row.get("topic").asText(), record));
                    break;
                case "flush":
                    producer.flush();
                    told(event("flush_complete"));
                    break;
                case "transaction":
                    String operation = row.get("operation").asText();
                    switch (operation) {
                        case "init":
                            producer.initTransactions();
                            break;
                        case "begin":
                            producer.beginTransaction();
                            break;
                        case "commit":
                            producer.commitTransaction();
                            break;
                        default:
                            producer.abortTransaction();
                    }
                    told(event("transaction_complete").put("operation", operation));
                    break;
                case "send_offsets":
                    producer.sendOffsetsToTransaction(offsets(row.get("offsets")), new ConsumerGroupMetadata(row.get("group").asText()));
                    told(event("transaction_complete").put("operation", "send_offsets"));
                    break;
                default:
                    throw new Lacking("the command " + command);
            }
        }
    }

    static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode rows) {
        Map<TopicPartition, OffsetAndMetadata> found = new HashMap<>();
        rows.forEach(row -> found.put(new TopicPartition(row.get("topic").asText(), row.get("partition").asInt()), new OffsetAndMetadata(row.get("offset").asLong())));
        return found;
    }

    static List<TopicPartition> places(JsonNode rows) {
        List<TopicPartition> found = new ArrayList<>();
        rows.forEach(row -> found.add(new TopicPartition(row.get("topic").asText(), row.get("partition").asInt())));
        return found;
    }

    static class Consuming extends Client implements ConsumerRebalanceListener {
        Consumer<byte[], byte[]> consumer;
        boolean asked;
        boolean polls = true;

        Consuming(String id) {
            super(id);
        }

        void open(Properties config) {
            for (String key : config.stringPropertyNames()) {
                if (!ConsumerConfig.configNames().contains(key)) {
                    throw new Lacking("the setting " + key);
                }
            }
            String names = config.getProperty("partition.assignment.strategy");
            if (names != null) {
                List<String> classes = new ArrayList<>();
                for (String name : names.split(",")) {
                    classes.add(ASSIGNORS.getOrDefault(name, name));
                }
                config.setProperty("partition.assignment.strategy", String.join(",", classes));
            }
            consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        }

        void end(Duration within) {
            consumer.close(within);
        }

        void moved(String name, Collection<TopicPartition> partitions) {
            ObjectNode row = event(name);
            ArrayNode rows = row.putArray("partitions");
            TreeSet<String> order = new TreeSet<>();
            partitions.forEach(one -> order.add(one.topic() + " " + String.format("%09d", one.partition())));
            order.forEach(one -> rows.addObject().put("topic", one.split(" ")[0]).put("partition", Integer.parseInt(one.split(" ")[1])));
            told(row);
        }

        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            moved("partitions_assigned", partitions);
        }

        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            moved("partitions_revoked", partitions);
        }

        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            moved("partitions_lost", partitions);
        }

        void tick() throws Exception {
            if (!asked || !polls) {
                Thread.sleep(10);
                return;
            }
            ConsumerRecords<byte[], byte[]> records;
            try {
                records = consumer.poll(Duration.ofMillis(50));
            } catch (Exception problem) {
                ObjectNode row = event("consumer_error");
                describe(row, problem);
                told(row);
                return;
            }
            if (records.isEmpty()) {
                return;
            }
            ObjectNode row = event("records_consumed").put("count", records.count());
            ArrayNode partitions = row.putArray("partitions");
            ArrayNode rows = row.putArray("records");
            for (TopicPartition place : records.partitions()) {
                List<ConsumerRecord<byte[], byte[]>> some = records.records(place);
                partitions.addObject().put("topic", place.topic()).put("partition", place.partition()).put("count", some.size())
                    .put("minOffset", some.get(0).offset()).put("maxOffset", some.get(some.size() - 1).offset());
                for (ConsumerRecord<byte[], byte[]> one : some) {
                    rows.addObject().put("topic", one.topic()).put("partition", one.partition()).put("offset", one.offset())
                        .put("key", text(one.key())).put("value", text(one.value()));
                }
            }
            told(row);
        }

        void act(String command, JsonNode row) throws Exception {
            switch (command) {
                case "subscribe":
                    List<String> topics = new ArrayList<>();
                    row.get("topics").forEach(one -> topics.add(one.asText()));
                    consumer.subscribe(topics, this);
                    asked = true;
                    break;
                case "unsubscribe":
                    consumer.unsubscribe();
                    asked = false;
                    break;
                case "assign":
                    consumer.assign(places(row.get("partitions")));
                    asked = true;
                    break;
                case "seek":
                    consumer.seek(new TopicPartition(row.get("topic").asText(), row.get("partition").asInt()), row.get("offset").asLong());
                    break;
                case "pause":
                    consumer.pause(places(row.get("partitions")));
                    break;
                case "resume":
                    consumer.resume(places(row.get("partitions")));
                    break;
                case "poll":
                    polls = row.get("on").asBoolean();
                    break;
                case "commit":
                    commit(row.get("offsets"));
                    return;
                default:
                    throw new Lacking("the command " + command);
            }
            done(command);
        }

        void commit(JsonNode given) {
            ObjectNode row = event("offsets_committed");
            ArrayNode rows = row.putArray("offsets");
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            if (given == null || given.isNull()) {
                consumer.assignment().forEach(one -> offsets.put(one, new OffsetAndMetadata(consumer.position(one))));
            } else {
                offsets.putAll(offsets(given));
            }
            offsets.forEach((place, one) -> rows.addObject().put("topic", place.topic()).put("partition", place.partition()).put("offset", one.offset()));
            try {
                if (given == null || given.isNull()) {
                    consumer.commitSync();
                } else {
                    consumer.commitSync(offsets);
                }
                row.put("success", true);
            } catch (Exception problem) {
                row.put("success", false);
                describe(row, problem);
            }
            told(row);
        }
    }

    static class Administering extends Client {
        Admin admin;

        Administering(String id) {
            super(id);
        }

        void open(Properties config) {
            admin = Admin.create(config);
        }

        void end(Duration within) {
            admin.close(within);
        }

        void tick() throws Exception {
            Thread.sleep(10);
        }

        void act(String command, JsonNode row) throws Exception {
            if (!command.equals("admin")) {
                throw new Lacking("the command " + command);
            }
            String operation = row.get("operation").asText();
            Operation known = operations.get(operation);
            if (known == null) {
                throw new Lacking("the admin operation " + operation);
            }
            ObjectNode told = event("admin_result").put("operation", operation).putNull("result");
            try {
                known.act(row, told);
            } catch (Exception problem) {
                describe(told, problem);
            }
            told(told);
        }

        interface Operation {
            void act(JsonNode row, ObjectNode told) throws Exception;
        }

        // The futures of an operation's items; the first failure is the operation's.
        static <K> void items(ObjectNode told, Map<K, ? extends KafkaFuture<?>> futures) throws Exception {
            ArrayNode rows = told.putArray("items");
            Exception first = null;
            for (Map.Entry<K, ? extends KafkaFuture<?>> one : futures.entrySet()) {
                ObjectNode row = rows.addObject().put("item", String.valueOf(one.getKey())).putNull("code");
                try {
                    one.getValue().get();
                } catch (ExecutionException problem) {
                    ObjectNode error = JSON.createObjectNode();
                    describe(error, problem);
                    row.set("code", error.get("code"));
                    first = first == null ? problem : first;
                }
            }
            if (first != null) {
                throw first;
            }
        }

        // A method that has had several names: the first one that there is.
        @SuppressWarnings("unchecked")
        static <T> T call(Object on, String... names) throws Exception {
            for (String name : names) {
                try {
                    return (T) on.getClass().getMethod(name).invoke(on);
                } catch (NoSuchMethodException older) {
                    continue;
                }
            }
            throw new Lacking(names[0]);
        }

        static List<String> texts(JsonNode rows) {
            List<String> found = new ArrayList<>();
            rows.forEach(one -> found.add(one.asText()));
            return found;
        }

        static TopicPartition place(JsonNode row) {
            return new TopicPartition(row.get("topic").asText(), row.get("partition").asInt());
        }

        static ConfigResource resource(JsonNode row) {
            return new ConfigResource(ConfigResource.Type.valueOf(row.get("type").asText().toUpperCase()), row.get("name").asText());
        }

        static AclBindingFilter on(JsonNode row) {
            return new AclBindingFilter(new ResourcePatternFilter(ResourceType.TOPIC, row.get("topic").asText(), PatternType.LITERAL), AccessControlEntryFilter.ANY);
        }

        static void acls(ObjectNode told, Collection<AclBinding> found) {
            ArrayNode rows = told.putArray("result");
            found.forEach(one -> rows.addObject().put("topic", one.pattern().name()).put("principal", one.entry().principal())
                .put("operation", one.entry().operation().name().toLowerCase()).put("permission", one.entry().permissionType().name().toLowerCase()));
        }

        final Map<String, Operation> operations = new HashMap<>();

        {
            operations.put("create_topics", (row, told) -> {
                List<NewTopic> topics = new ArrayList<>();
                row.get("topics").forEach(one -> {
                    Map<String, String> configs = new HashMap<>();
                    one.path("configs").fields().forEachRemaining(each -> configs.put(each.getKey(), each.getValue().asText()));
                    topics.add(new NewTopic(one.get("name").asText(), one.path("partitions").asInt(1), (short) one.path("replication").asInt(1)).configs(configs));
                });
                items(told, admin.createTopics(topics, new CreateTopicsOptions().validateOnly(row.path("validate_only").asBoolean(false))).values());
            });
            operations.put("delete_topics", (row, told) -> {
                Map<String, KafkaFuture<Void>> futures = call(admin.deleteTopics(texts(row.get("topics"))), "topicNameValues", "values");
                items(told, futures);
            });
            operations.put("create_partitions", (row, told) ->
                items(told, admin.createPartitions(Map.of(row.get("topic").asText(), NewPartitions.increaseTo(row.get("count").asInt()))).values()));
            operations.put("list_topics", (row, told) -> {
                ArrayNode result = told.putArray("result");
                new TreeSet<>(admin.listTopics().names().get()).forEach(result::add);
            });
            operations.put("describe_topics", (row, told) -> {
                KafkaFuture<Map<String, TopicDescription>> found = call(admin.describeTopics(texts(row.get("topics"))), "allTopicNames", "all");
                ArrayNode result = JSON.createArrayNode();
                found.get().forEach((name, about) -> {
                    ArrayNode parts = result.addObject().put("name", name).putArray("partitions");
                    about.partitions().forEach(one -> {
                        ArrayNode replicas = parts.addObject().put("partition", one.partition()).put("leader", one.leader().id()).putArray("replicas");
                        one.replicas().forEach(node -> replicas.add(node.id()));
                    });
                });
                told.set("result", result);
            });
            operations.put("describe_cluster", (row, told) -> {
                TreeSet<Integer> ids = new TreeSet<>();
                admin.describeCluster().nodes().get().forEach(node -> ids.add(node.id()));
                ArrayNode rows = told.putObject("result").putArray("brokers");
                ids.forEach(rows::add);
            });
            operations.put("delete_records", (row, told) ->
                items(told, admin.deleteRecords(Map.of(place(row), RecordsToDelete.beforeOffset(row.get("offset").asLong()))).lowWatermarks()));
            operations.put("list_offsets", (row, told) -> {
                OffsetSpec spec = row.get("at").asText().equals("latest") ? OffsetSpec.latest() : OffsetSpec.earliest();
                told.put("result", admin.listOffsets(Map.of(place(row), spec)).partitionResult(place(row)).get().offset());
            });
            operations.put("elect_leaders", (row, told) -> {
                TopicPartition place = place(row);
                Throwable problem = admin.electLeaders(ElectionType.PREFERRED, Set.of(place)).partitions().get().get(place).orElse(null);
                if (problem != null) {
                    throw new ExecutionException(problem);
                }
            });
            operations.put("reassign", (row, told) -> {
                List<Integer> replicas = new ArrayList<>();
                row.get("replicas").forEach(one -> replicas.add(one.asInt()));
                Optional<NewPartitionReassignment> wanted = row.get("replicas").isNull() ? Optional.empty() : Optional.of(new NewPartitionReassignment(replicas));
                items(told, admin.alterPartitionReassignments(Map.of(place(row), wanted)).values());
            });
            operations.put("describe_configs", (row, told) -> {
                ObjectNode result = JSON.createObjectNode();
                admin.describeConfigs(List.of(resource(row))).all().get().get(resource(row)).entries().forEach(one -> result.put(one.name(), one.value()));
                told.set("result", result);
            });
            operations.put("alter_configs", (row, told) -> {
                List<AlterConfigOp> changes = new ArrayList<>();
                row.path("set").fields().forEachRemaining(one -> changes.add(new AlterConfigOp(new ConfigEntry(one.getKey(), one.getValue().asText()), AlterConfigOp.OpType.SET)));
                row.path("delete").forEach(one -> changes.add(new AlterConfigOp(new ConfigEntry(one.asText(), null), AlterConfigOp.OpType.DELETE)));
                items(told, admin.incrementalAlterConfigs(Map.of(resource(row), changes)).values());
            });
            operations.put("list_groups", (row, told) -> {
                TreeSet<String> ids = new TreeSet<>();
                admin.listConsumerGroups().all().get().forEach(one -> ids.add(one.groupId()));
                ArrayNode result = told.putArray("result");
                ids.forEach(result::add);
            });
            operations.put("describe_group", (row, told) -> {
                String group = row.get("group").asText();
                ConsumerGroupDescription about = admin.describeConsumerGroups(List.of(group)).describedGroups().get(group).get();
                Object state = call(about, "groupState", "state");
                told.putObject("result").put("state", state.toString()).put("members", about.members().size());
            });
            operations.put("delete_groups", (row, told) -> items(told, admin.deleteConsumerGroups(texts(row.get("groups"))).deletedGroups()));
            operations.put("alter_offsets", (row, told) -> admin.alterConsumerGroupOffsets(row.get("group").asText(), offsets(row.get("offsets"))).all().get());
            operations.put("group_offsets", (row, told) -> {
                ArrayNode rows = JSON.createArrayNode();
                admin.listConsumerGroupOffsets(row.get("group").asText()).partitionsToOffsetAndMetadata().get().forEach((place, one) ->
                    rows.addObject().put("topic", place.topic()).put("partition", place.partition()).put("offset", one.offset()));
                told.set("result", rows);
            });
            operations.put("delete_offsets", (row, told) -> admin.deleteConsumerGroupOffsets(row.get("group").asText(), Set.of(place(row))).all().get());
            operations.put("create_acl", (row, told) -> {
                AccessControlEntry entry = new AccessControlEntry(row.get("principal").asText(), "*", AclOperation.READ, AclPermissionType.ALLOW);
                admin.createAcls(List.of(new AclBinding(new ResourcePattern(ResourceType.TOPIC, row.get("topic").asText(), PatternType.LITERAL), entry))).all().get();
            });
            operations.put("describe_acls", (row, told) -> acls(told, admin.describeAcls(on(row)).values().get()));
            operations.put("delete_acls", (row, told) -> acls(told, admin.deleteAcls(List.of(on(row))).all().get()));
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err);
        say(event("adapter_ready").put("adapter", "java").put("version", AppInfoParser.getVersion()));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonNode row = JSON.readTree(line);
            String command = row.get("command").asText();
            String id = row.path("client").asText();
            Client client = clients.get(id);
            if (command.equals("reset")) {
                clients.values().forEach(one -> one.dropped = true);
                for (Client one : clients.values()) {
                    one.join(2000);
                }
                clients.clear();
                say(event("reset_complete"));
            } else if (command.equals("open") && !List.of("producer", "consumer", "admin").contains(row.get("kind").asText())) {
                say(event("not_supported").put("client", id).put("what", "a client of kind " + row.get("kind").asText()));
            } else if (command.equals("open")) {
                String kind = row.get("kind").asText();
                client = kind.equals("producer") ? new Producing(id) : kind.equals("consumer") ? new Consuming(id) : new Administering(id);
                client.config = new Properties();
                Properties config = client.config;
                row.get("config").fields().forEachRemaining(one -> config.setProperty(one.getKey(), one.getValue().asText()));
                clients.put(id, client);
                client.start();
            } else if (client != null) {
                client.commands.add(row);
            } else {
                say(event("not_supported").put("client", id).put("what", "the command " + command));
            }
        }
    }
}
