import java.lang.reflect.Field;
import java.util.*;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.serialization.*;

/** What a release's clients define (no arguments), and what they say of configurations ("ask"). */
public class ClientConfigs {
    static String json(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) return String.valueOf(value);
        if (value instanceof Class) return json(((Class<?>) value).getName());
        if (value instanceof List) {
            List<String> each = new ArrayList<>();
            for (Object one : (List<?>) value) each.add(json(one));
            return "[" + String.join(", ", each) + "]";
        }
        return "\"" + value.toString().replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    static String valid(Object validator) throws Exception {
        if (validator == null) return "";
        String name = validator.getClass().getSimpleName();
        if (name.equals("ValidList")) {
            Field empty = validator.getClass().getDeclaredField("isEmptyAllowed");
            empty.setAccessible(true);
            return empty.getBoolean(validator) ? "list" : "non-empty list";
        }
        return validator.getClass().getName().contains(".Share") ? "mode " + validator : validator.toString();
    }

    static void define() throws Exception {
        for (String client : List.of("producer.ProducerConfig", "consumer.ConsumerConfig", "admin.AdminClientConfig")) {
            Field field = Class.forName("org.apache.kafka.clients." + client).getDeclaredField("CONFIG");
            field.setAccessible(true);
            for (ConfigDef.ConfigKey key : ((ConfigDef) field.get(null)).configKeys().values()) {
                boolean internal = false;
                try {
                    internal = key.getClass().getField("internalConfig").getBoolean(key);
                } catch (NoSuchFieldException older) {
                }
                boolean required = key.defaultValue == ConfigDef.NO_DEFAULT_VALUE;
                System.out.println("[" + String.join(", ", json(client.split("\\.")[0]), json(key.name),
                    json(key.type.toString()), json(required ? "REQUIRED" : key.defaultValue), json(valid(key.validator)),
                    json(key.importance.toString()), json(internal)) + "]");
            }
        }
    }

    static Object value(String text) {
        String rest = text.substring(text.indexOf(':') + 1);
        switch (text.substring(0, text.indexOf(':'))) {
            case "int": return Integer.valueOf(rest);
            case "long": return Long.valueOf(rest);
            case "float": return Double.valueOf(rest);
            case "bool": return Boolean.valueOf(rest);
            case "list": return Arrays.asList(rest.split(","));
            default: return rest;
        }
    }

    static void ask() {
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            String[] parts = lines.nextLine().split("\t", -1);
            Map<String, Object> given = new HashMap<>();
            given.put("bootstrap.servers", "127.0.0.1:1");
            for (int at = 1; at + 1 < parts.length; at += 2) given.put(parts[at], value(parts[at + 1]));
            String said = "";
            try { // nobody closes them: a close of an old producer may wait for its broker for ever
                if (parts[0].equals("producer"))
                    new KafkaProducer<>(given, new ByteArraySerializer(), new ByteArraySerializer());
                else
                    new KafkaConsumer<>(given, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            } catch (Exception refused) {
                Throwable cause = refused;
                while (cause.getMessage().startsWith("Failed to construct") && cause.getCause() != null) cause = cause.getCause();
                said = cause.getMessage();
            }
            System.out.println(json(said));
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) define();
        else ask();
        System.exit(0);
    }
}
