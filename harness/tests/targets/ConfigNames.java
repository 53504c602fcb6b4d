import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.common.config.ConfigDef;

/** Prints every setting that a release's broker knows, internal ones too, one on each line. */
public class ConfigNames {
    public static void main(String[] arguments) throws ReflectiveOperationException {
        names().forEach(System.out::println);
    }

    private static Collection<String> names() throws ReflectiveOperationException {
        try { // from 4.0 on
            Class<?> config = Class.forName("org.apache.kafka.server.config.AbstractKafkaConfig");
            return ((ConfigDef) config.getField("CONFIG_DEF").get(null)).names();
        } catch (ClassNotFoundException | NoSuchFieldException before) {
            Class<?> config = Class.forName("kafka.server.KafkaConfig$");
            Object object = config.getField("MODULE$").get(null);
            return scala(config.getMethod("configNames").invoke(object));
        }
    }

    /** The elements of a collection of Scala's, whose version differs from release to release. */
    private static List<String> scala(Object elements) throws ReflectiveOperationException {
        Object iterator = elements.getClass().getMethod("iterator").invoke(elements);
        Class<?> type = Class.forName("scala.collection.Iterator");
        List<String> found = new ArrayList<>();
        while ((Boolean) type.getMethod("hasNext").invoke(iterator)) {
            found.add((String) type.getMethod("next").invoke(iterator));
        }
        return found;
    }
}
