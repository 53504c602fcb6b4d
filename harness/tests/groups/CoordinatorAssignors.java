import java.util.*;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.*;
import org.apache.kafka.coordinator.group.modern.*;

/** Has the group coordinator's own assignors divide what stands on its input, a case on each line:
 *  assignor, whether all subscribe alike, topics (id=partitions), and a column for each member:
 *  id|instance id|topic ids|id:partition. It prints a line of member=id:partition, or "failed". */
public class CoordinatorAssignors {
    public static void main(String[] arguments) throws Exception {
        var lines = new Scanner(System.in).useDelimiter("\n");
        while (lines.hasNext()) System.out.println(divided(lines.next().split("\t", -1)));
    }

    static String divided(String[] columns) {
        Map<Uuid, TopicMetadata> topics = new HashMap<>();
        for (String row : columns[2].split(" ")) {
            String[] parts = row.split("=");
            Uuid id = Uuid.fromString(parts[0]);
            topics.put(id, new TopicMetadata(id, parts[0], Integer.parseInt(parts[1]), Map.of()));
        }
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (String column : Arrays.asList(columns).subList(3, columns.length)) {
            String[] parts = column.split("\\|", -1);
            Set<Uuid> wanted = split(parts[2]).stream().map(Uuid::fromString).collect(Collectors.toSet());
            Map<Uuid, Set<Integer>> held = new HashMap<>();
            for (String place : split(parts[3])) {
                String[] at = place.split(":");
                Uuid id = Uuid.fromString(at[0]);
                held.computeIfAbsent(id, any -> new HashSet<>()).add(Integer.parseInt(at[1]));
                owners.computeIfAbsent(id, any -> new HashMap<>()).put(Integer.parseInt(at[1]), parts[0]);
            }
            members.put(parts[0], new MemberSubscriptionAndAssignmentImpl(Optional.empty(),
                Optional.of(parts[1]).filter(name -> !name.isEmpty()), wanted, new Assignment(held)));
        }
        SubscriptionType type = columns[1].equals("alike")
            ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        ConsumerGroupPartitionAssignor assignor =
            columns[0].equals("uniform") ? new UniformAssignor() : new RangeAssignor();
        try {
            GroupAssignment found = assignor.assign(
                new GroupSpecImpl(members, type, owners), new SubscribedTopicDescriberImpl(topics));
            return members.keySet().stream()
                .map(each -> each + "=" + places(found.members().get(each)))
                .collect(Collectors.joining("\t"));
        } catch (PartitionAssignorException failed) {
            return "failed";
        }
    }

    static List<String> split(String text) {
        return text.isEmpty() ? List.of() : Arrays.asList(text.split(","));
    }

    static String places(MemberAssignment given) {
        if (given == null) return "";
        return given.partitions().entrySet().stream()
            .flatMap(row -> row.getValue().stream().map(index -> row.getKey() + ":" + index))
            .collect(Collectors.joining(","));
    }
}
