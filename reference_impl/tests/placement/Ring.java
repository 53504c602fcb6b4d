// Asks a ZooKeeper-era jar for assignments: one case a line on stdin, one table a line on stdout.
// Case: "0:a,1:b,2:- PARTITIONS REPLICATION START FIRST_PARTITION SEED" ("-" is no rack).
// Run: java -cp 'KAFKA/libs/*' Ring.java < cases
import java.io.*;
import java.util.*;

public class Ring {
    public static void main(String[] args) throws Exception {
        Object module = Class.forName("kafka.admin.AdminUtils$").getField("MODULE$").get(null);
        var field = module.getClass().getDeclaredField("rand");
        field.setAccessible(true);
        Random rand = (Random) field.get(module);
        var in = new BufferedReader(new InputStreamReader(System.in));
        var out = new StringBuilder();
        for (String line; (line = in.readLine()) != null; ) {
            String[] w = line.split(" ");
            var buffer = new scala.collection.mutable.ListBuffer<kafka.admin.BrokerMetadata>();
            for (String broker : w[0].split(",")) {
                String[] part = broker.split(":");
                buffer.$plus$eq(new kafka.admin.BrokerMetadata(Integer.parseInt(part[0]),
                    part[1].equals("-") ? scala.Option.empty() : scala.Option.apply(part[1])));
            }
            rand.setSeed(Long.parseLong(w[5]));
            try {
                var table = kafka.admin.AdminUtils$.MODULE$.assignReplicasToBrokers(
                    buffer.toList(), Integer.parseInt(w[1]), Integer.parseInt(w[2]),
                    Integer.parseInt(w[3]), Integer.parseInt(w[4]));
                var sorted = new TreeMap<Integer, String>();
                for (var it = table.iterator(); it.hasNext(); ) {
                    var row = it.next();
                    var ids = new StringJoiner(",");
                    for (var r = row._2().iterator(); r.hasNext(); ) ids.add(r.next().toString());
                    sorted.put((Integer) row._1(), ids.toString());
                }
                out.append(String.join(" ", sorted.values())).append('\n');
            } catch (RuntimeException refused) {
                out.append("! ").append(refused.getMessage()).append('\n');
            }
        }
        System.out.print(out);
    }
}
