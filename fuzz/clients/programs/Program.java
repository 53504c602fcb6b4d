// Kafka's own clients in a client campaign: the lines of session.py, in Java.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public class Program {
    static final int ERRORS_AT_MOST = 200;
    static volatile boolean stopped;
    static boolean acknowledged;
    static boolean read;
    static final AtomicInteger errors = new AtomicInteger();

    static synchronized void say(String line) {
        String flat = line.replaceAll("\\s+", " ");
        System.out.println(flat.substring(0, Math.min(400, flat.length())));
        System.out.flush();
    }

    static synchronized void note(boolean wasAcknowledged, boolean wasRead) {
        acknowledged |= wasAcknowledged;
        read |= wasRead;
        if (acknowledged && read) {
            acknowledged = false;
            read = false;
            say("progress");
        }
    }

    static void report(Throwable problem) {
        if (!(problem instanceof KafkaException)) {
            say("fatal " + problem);
        } else if (errors.incrementAndGet() <= ERRORS_AT_MOST) {
            say("error " + problem);
        }
    }

    static void once(String bootstrap, String topic, String group) {
        Properties common = new Properties();
        common.put("bootstrap.servers", bootstrap);
        common.put("request.timeout.ms", "3000");
        common.put("default.api.timeout.ms", "4000");
        common.put("reconnect.backoff.max.ms", "500");
        common.put("metadata.max.age.ms", "2000");
        Properties producing = new Properties();
        producing.putAll(common);
        producing.remove("default.api.timeout.ms");
        producing.put("delivery.timeout.ms", "4000");
        producing.put("max.block.ms", "4000");
        producing.put("linger.ms", "0");
        Properties consuming = new Properties();
        consuming.putAll(common);
        consuming.put("group.id", group);
        consuming.put("auto.offset.reset", "earliest");
        consuming.put("session.timeout.ms", "6000");
        consuming.put("fetch.max.wait.ms", "100");
        consuming.put("auto.commit.interval.ms", "200");
        ByteArraySerializer out = new ByteArraySerializer();
        ByteArrayDeserializer in = new ByteArrayDeserializer();
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(producing, out, out);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(consuming, in, in)) {
            consumer.subscribe(List.of(topic));
            while (!stopped) {
                producer.send(new ProducerRecord<>(topic, "a record".getBytes()), (metadata, problem) -> {
                    if (problem == null) {
                        note(true, false);
                    } else {
                        report(problem);
                    }
                });
                if (!consumer.poll(Duration.ofMillis(100)).isEmpty()) {
                    note(false, true);
                }
            }
        } finally {
            producer.close(Duration.ofSeconds(1));
        }
    }

    public static void main(String[] arguments) throws Exception {
        LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> {
            try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
                for (String line = input.readLine(); line != null; line = input.readLine()) {
                    if (line.startsWith("stop")) {
                        stopped = true;
                    } else {
                        lines.add(line);
                    }
                }
            } catch (Exception problem) {
                say("fatal " + problem);
            }
            System.exit(0);
        });
        reader.setDaemon(true);
        reader.start();
        say("ready");
        while (true) {
            String[] words = lines.take().split(" ");
            stopped = false;
            errors.set(0);
            while (!stopped) {
                try {
                    once(words[1], words[2], words[3]);
                } catch (Throwable problem) {
                    report(problem);
                    Thread.sleep(100);
                }
            }
            say("closed");
        }
    }
}
