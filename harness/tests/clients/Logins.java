import java.io.FileReader;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * Java's producer writes a record and its consumer reads it, once for each file of settings: it prints a line
 * for each, the file and what was read, or the exception by which it was kept out.
 *
 * Arguments: topic file ...; each file has the settings of the one client.
 */
public class Logins {
    public static void main(String[] args) {
        for (String file : Arrays.asList(args).subList(1, args.length)) {
            String found;
            try {
                found = through(file, args[0]);
            } catch (Throwable failed) {
                Throwable last = failed;
                while (last.getCause() != null) last = last.getCause();
                found = last.getClass().getSimpleName() + ": " + last.getMessage();
            }
            System.out.println("\nat " + file + " " + found);
        }
    }

    private static String through(String file, String topic) throws Exception {
        Properties config = new Properties();
        try (FileReader reader = new FileReader(file)) {
            config.load(reader);
        }
        config.put("max.block.ms", 20000);
        config.put("default.api.timeout.ms", 20000);
        config.put("auto.offset.reset", "earliest");
        RecordMetadata sent;
        try (Producer<String, String> producer =
                 new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            sent = producer.send(new ProducerRecord<>(topic, "one")).get();
        }
        try (Consumer<String, String> consumer =
                 new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition place = new TopicPartition(topic, sent.partition());
            consumer.assign(List.of(place));
            consumer.seek(place, sent.offset());
            for (int tries = 0; tries < 20; tries++)
                for (ConsumerRecord<String, String> each : consumer.poll(Duration.ofSeconds(1)))
                    return each.value();
        }
        return "nothing";
    }
}
