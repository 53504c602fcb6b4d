import java.lang.reflect.InvocationTargetException;
import java.nio.file.*;
import java.util.Arrays;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's own commands, many in one JVM: after a line "== NUMBER" stands what each of them prints.
 *
 * Argument: a file with a line for each command, its class and its arguments between tabs.
 */
public class Commands {
    private static final long PAUSE_MS = 200;

    static class Left extends RuntimeException {
        Left(int status) {
            super("left with " + status, null, false, false);
        }
    }

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((status, message) -> { throw new Left(status); });
        System.setErr(System.out);
        int number = 0;
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            // A KRaft broker hears of a change after the controller has answered it.
            Thread.sleep(PAUSE_MS);
            System.out.println("\n== " + number++);
            String[] words = line.split("\t");
            try {
                Class.forName(words[0]).getMethod("main", String[].class)
                    .invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
            } catch (InvocationTargetException failed) {
                System.out.println(failed.getCause());
            }
        }
    }
}
