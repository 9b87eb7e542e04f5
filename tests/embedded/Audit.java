import java.util.Collections;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;

/** A service with RocketMQ's gRPC client for Java, which speaks TLS by default: `ENDPOINT GROUP TAG`. */
public final class Audit {
    public static void main(String[] args) throws Exception {
        ClientServiceProvider.loadService().newPushConsumerBuilder()
            .setClientConfiguration(ClientConfiguration.newBuilder().setEndpoints(args[0]).build())
            .setConsumerGroup(args[1])
            .setSubscriptionExpressions(Collections.singletonMap("orders", new FilterExpression(args[2])))
            .setMessageListener(message -> {
                System.out.println("audited " + message.getKeys().iterator().next());
                return ConsumeResult.SUCCESS;
            })
            .build();
        Thread.sleep(600_000);
    }
}
