// Asks a KRaft-era jar for placements: one case a line on stdin, one table a line on stdout.
// Case: "0:a,1:b,2:-,3:a! PARTITIONS REPLICATION SEED" ("-" is no rack, "!" is fenced).
// Run: java -cp 'KAFKA/libs/*' Stripes.java < cases
import java.io.*;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.placement.*;

public class Stripes {
    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        var out = new StringBuilder();
        for (String line; (line = in.readLine()) != null; ) {
            String[] w = line.split(" ");
            var brokers = new ArrayList<UsableBroker>();
            for (String broker : w[0].split(",")) {
                boolean fenced = broker.endsWith("!");
                String[] part = broker.replace("!", "").split(":");
                brokers.add(new UsableBroker(Integer.parseInt(part[0]),
                    part[1].equals("-") ? Optional.empty() : Optional.of(part[1]), fenced));
            }
            var cluster = new ClusterDescriber() {
                public Iterator<UsableBroker> usableBrokers() { return brokers.iterator(); }
                public Uuid defaultDir(int broker) { return Uuid.ZERO_UUID; }
            };
            try {
                var placer = new StripedReplicaPlacer(new Random(Long.parseLong(w[3])));
                var rows = new ArrayList<String>();
                var spec = new PlacementSpec(0, Integer.parseInt(w[1]), Short.parseShort(w[2]));
                for (var row : placer.place(spec, cluster).assignments())
                    rows.add(row.replicas().toString().replaceAll("[\\[\\] ]", ""));
                out.append(String.join(" ", rows)).append('\n');
            } catch (RuntimeException refused) {
                out.append("! ").append(refused.getMessage()).append('\n');
            }
        }
        System.out.print(out);
    }
}
