import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * Where Java's consumer begins. Arguments: bootstrap, topic, then reset policies; "POLICY@OFFSET" seeks there
 * and polls first. It prints a line for each: the policy and the position, or the exception's name.
 */
public class Positions {
    public static void main(String[] args) {
        TopicPartition place = new TopicPartition(args[1], 0);
        for (String wanted : Arrays.asList(args).subList(2, args.length)) {
            String[] parts = wanted.split("@");
            Map<String, Object> config = new HashMap<>();
            config.put("bootstrap.servers", args[0]);
            config.put("auto.offset.reset", parts[0]);
            config.put("default.api.timeout.ms", 5000);
            config.put("request.timeout.ms", 4000);
            config.put("key.deserializer", ByteArrayDeserializer.class);
            config.put("value.deserializer", ByteArrayDeserializer.class);
            String found;
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config)) {
                consumer.assign(List.of(place));
                if (parts.length > 1) consumer.seek(place, Long.parseLong(parts[1]));
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofSeconds(3));
                found = records.isEmpty() ? "" + consumer.position(place)
                    : "" + records.iterator().next().offset();
            } catch (Exception failed) {
                found = failed.getClass().getSimpleName();
            }
            System.out.println("at " + wanted + " " + found);
        }
    }
}
