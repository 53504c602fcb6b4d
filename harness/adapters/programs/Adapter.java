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
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
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
        short code = Errors.forException(known).code();
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
            ObjectNode told = event("admin_result").put("operation", operation).putNull("result");
            try {
                ArrayNode result = JSON.createArrayNode();
                switch (operation) {
                    case "create_topics":
                        List<NewTopic> topics = new ArrayList<>();
                        row.get("topics").forEach(one -> topics.add(new NewTopic(one.get("name").asText(), one.path("partitions").asInt(1), (short) one.path("replication").asInt(1))));
                        admin.createTopics(topics).all().get();
                        break;
                    case "delete_topics":
                        List<String> names = new ArrayList<>();
                        row.get("topics").forEach(one -> names.add(one.asText()));
                        admin.deleteTopics(names).all().get();
                        break;
                    case "create_partitions":
                        admin.createPartitions(Map.of(row.get("topic").asText(), NewPartitions.increaseTo(row.get("count").asInt()))).all().get();
                        break;
                    case "list_topics":
                        new TreeSet<>(admin.listTopics().names().get()).forEach(result::add);
                        break;
                    case "delete_records":
                        admin.deleteRecords(Map.of(new TopicPartition(row.get("topic").asText(), row.get("partition").asInt()), RecordsToDelete.beforeOffset(row.get("offset").asLong()))).all().get();
                        break;
                    default:
                        throw new Lacking("the admin operation " + operation);
                }
                told.set("result", result);
            } catch (Lacking lacking) {
                throw lacking;
            } catch (Exception problem) {
                describe(told, problem);
            }
            told(told);
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
