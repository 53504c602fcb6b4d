import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's own commands, many in one JVM: behind what each of them prints stands a line "== NUMBER".
 *
 * Input: a line for each command, its class and its arguments between tabs.
 */
public class Commands {
    private static final long PAUSE_MS = 200;

    static class Left extends RuntimeException {
        final int status;

        Left(int status) {
            super("left with " + status, null, false, false);
            this.status = status;
        }
    }

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((status, message) -> { throw new Left(status); });
        System.setErr(System.out);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        int number = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            // A KRaft broker hears of a change after the controller has answered it.
            Thread.sleep(PAUSE_MS);
            String[] words = line.split("\t");
            try {
                Class.forName(words[0]).getMethod("main", String[].class)
                    .invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
            } catch (InvocationTargetException failed) {
                Throwable cause = failed.getCause();
                if (!(cause instanceof Left left) || left.status != 0) {
                    System.out.println(cause);
                }
            }
            System.out.println("\n== " + number++);
        }
    }
}
