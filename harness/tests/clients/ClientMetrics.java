import java.util.Properties;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.MetricNameTemplate;
import org.apache.kafka.common.metrics.Metrics;

/** Prints group, name and tags of every metric that Java's producer and consumer have. */
class ClientMetrics {
    public static void main(String[] args) throws Exception {
        Properties props = new Properties();
        props.put("bootstrap.servers", "127.0.0.1:1");
        props.put("group.id", "g");
        for (String kind : new String[] {"key", "value"}) {
            String place = "org.apache.kafka.common.serialization.ByteArray";
            props.put(kind + ".serializer", place + "Serializer");
            props.put(kind + ".deserializer", place + "Deserializer");
        }
        TreeSet<String> found = new TreeSet<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(props)) {
            for (MetricName each : producer.metrics().keySet()) add(found, each);
        }
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(props)) {
            for (MetricName each : consumer.metrics().keySet()) add(found, each);
        }
        String place = "org.apache.kafka.clients.";
        Object senders = Class.forName(place + "producer.internals.SenderMetricsRegistry")
            .getConstructor(Metrics.class).newInstance(new Metrics());
        addTemplates(found, senders, "allTemplates");
        Object fetches = Class.forName(place + "consumer.internals.FetchMetricsRegistry")
            .getConstructor(String.class).newInstance("consumer");
        for (var field : fetches.getClass().getFields())
            if (field.get(fetches) instanceof MetricNameTemplate each) add(found, each);
        found.forEach(System.out::println);
    }

    private static void addTemplates(TreeSet<String> found, Object of, String method)
        throws Exception {
        for (Object each : (Iterable<?>) of.getClass().getMethod(method).invoke(of))
            add(found, (MetricNameTemplate) each);
    }

    private static void add(TreeSet<String> found, MetricName each) {
        found.add(each.group() + " " + each.name() + " " + new TreeSet<>(each.tags().keySet()));
    }

    private static void add(TreeSet<String> found, MetricNameTemplate each) {
        TreeSet<String> tags = new TreeSet<>(each.tags());
        tags.add("client-id");
        found.add(each.group() + " " + each.name() + " " + tags);
    }
}
