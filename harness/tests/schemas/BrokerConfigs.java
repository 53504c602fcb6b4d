import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;

/** Each setting that a release's brokers define, with its validator; a line each, between tabs. */
public class BrokerConfigs {
    static ConfigDef defined() throws Exception {
        try {
            Class<?> java = Class.forName("org.apache.kafka.server.config.AbstractKafkaConfig");
            return (ConfigDef) java.getField("CONFIG_DEF").get(null);
        } catch (ClassNotFoundException | NoSuchFieldException older) {
            Class<?> scala = Class.forName("kafka.server.KafkaConfig$");
            Object module = scala.getField("MODULE$").get(null);
            for (Method one : scala.getDeclaredMethods()) {
                if (one.getParameterCount() == 0 && one.getName().endsWith("configDef")) {
                    one.setAccessible(true);
                    return (ConfigDef) one.invoke(module);
                }
            }
            throw older;
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (Map.Entry<String, ConfigDef.ConfigKey> one : new TreeMap<>(defined().configKeys()).entrySet()) {
            Object validator = one.getValue().validator;
            System.out.println(one.getKey() + "\t" + one.getValue().type + "\t" + (validator == null ? "" : validator.toString()));
        }
    }
}
