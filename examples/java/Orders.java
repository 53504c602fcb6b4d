// Kafka's own Java client on a broker that this program starts: touchstone must be on the PATH.
import java.io.*;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.*;

public class Orders {
    public static void main(String[] arguments) throws Exception {
        Process broker = new ProcessBuilder("touchstone", "broker", "--profile", "test")
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            String ready = new BufferedReader(new InputStreamReader(broker.getInputStream())).readLine();
            String servers = ready.substring("ready ".length());
            var text = new StringSerializer();
            try (var producer = new KafkaProducer<>(Map.of("bootstrap.servers", servers), text, text)) {
                producer.send(new ProducerRecord<>("orders", "customer 7", "order 1")).get();
            }
            Map<String, Object> options = Map.of("bootstrap.servers", servers,
                "group.id", "billing", "group.protocol", "consumer", "auto.offset.reset", "earliest");
            var word = new StringDeserializer();
            try (var consumer = new KafkaConsumer<>(options, word, word)) {
                consumer.subscribe(List.of("orders"));
                ConsumerRecords<String, String> records;
                do records = consumer.poll(Duration.ofSeconds(1)); while (records.isEmpty());
                for (var record : records) System.out.println(record.key() + ": " + record.value());
            }
        } finally {
            broker.destroy();
        }
    }
}
