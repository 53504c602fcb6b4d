import com.sun.tools.attach.VirtualMachine;
import java.util.TreeSet;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Prints what a running Kafka measures: bean, attribute and number, apart by tabs, for each line.
 * Its one argument is the process; Kafka need not have been started with a JMX port.
 */
public class MBeans {
    public static void main(String[] arguments) throws Exception {
        VirtualMachine machine = VirtualMachine.attach(arguments[0]);
        String address = machine.startLocalManagementAgent();
        machine.detach();
        try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            MBeanServerConnection beans = connector.getMBeanServerConnection();
            for (ObjectName bean : new TreeSet<>(beans.queryNames(new ObjectName("kafka.*:*"), null))) {
                for (MBeanAttributeInfo attribute : beans.getMBeanInfo(bean).getAttributes()) {
                    Object value = beans.getAttribute(bean, attribute.getName());
                    if (value instanceof Number) {
                        System.out.println(bean + "\t" + attribute.getName() + "\t" + value);
                    }
                }
            }
        }
    }
}
