import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.common.*;

/**
 * Divides as Java's assignors do. A case is a line of fields between tabs: the assignor's class; topics
 * (name=racks of partition 0;racks of partition 1, racks between commas); then a field for each member:
 * id|instance id|rack|topics|owned (topic:partition)|generation. It prints member=topic:partition,... for each.
 */
public class Assignors {
    static List<String> split(String text, String by) {
        return text.isEmpty() ? List.of() : Arrays.asList(text.split(by));
    }

    static List<TopicPartition> places(String text) {
        List<TopicPartition> found = new ArrayList<>();
        for (String each : split(text, ","))
            found.add(new TopicPartition(each.split(":")[0], Integer.parseInt(each.split(":")[1])));
        return found;
    }

    public static void main(String[] args) throws Exception {
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine();) {
            String[] fields = lines.nextLine().split("\t", -1);
            ConsumerPartitionAssignor assignor = (ConsumerPartitionAssignor)
                Class.forName("org.apache.kafka.clients.consumer." + fields[0]).getConstructor().newInstance();
            Map<String, Node> nodes = new TreeMap<>();
            List<PartitionInfo> partitions = new ArrayList<>();
            for (String topic : split(fields[1], " ")) {
                String[] rows = topic.split("=", -1)[1].split(";", -1);
                for (int i = 0; i < rows.length; i++) {
                    List<Node> replicas = new ArrayList<>();
                    for (String rack : split(rows[i], ","))
                        replicas.add(nodes.computeIfAbsent(rack, r -> new Node(nodes.size(), "h", 1, r)));
                    Node[] all = replicas.toArray(new Node[0]);
                    partitions.add(new PartitionInfo(topic.split("=")[0], i, all.length > 0 ? all[0] : null, all, all));
                }
            }
            Map<String, Subscription> members = new HashMap<>();
            for (String member : Arrays.copyOfRange(fields, 2, fields.length)) {
                String[] of = member.split("\\|", -1);
                List<TopicPartition> owned = places(of[4]);
                Subscription subscription = new Subscription(split(of[3], ","), null, owned,
                    Integer.parseInt(of[5]), of[2].isEmpty() ? Optional.empty() : Optional.of(of[2]));
                if (!of[1].isEmpty()) subscription.setGroupInstanceId(Optional.of(of[1]));
                members.put(of[0], subscription);
            }
            Cluster cluster = new Cluster("c", nodes.values(), partitions, Set.of(), Set.of());
            Map<String, Assignment> given = assignor.assign(cluster, new GroupSubscription(members)).groupAssignment();
            StringJoiner out = new StringJoiner("\t");
            for (Map.Entry<String, Assignment> each : new TreeMap<>(given).entrySet()) {
                StringJoiner row = new StringJoiner(",", each.getKey() + "=", "");
                for (TopicPartition p : each.getValue().partitions()) row.add(p.topic() + ":" + p.partition());
                out.add(row.toString());
            }
            System.out.println(out);
        }
    }
}
