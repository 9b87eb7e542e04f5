import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;

/** A program with two consumers: one with a listener, and one that polls. */
public final class TwoWays {
    private TwoWays() {
    }

    public static void main(String[] arguments) throws Exception {
        DefaultMQPushConsumer billing = new DefaultMQPushConsumer("billing");
        billing.setNamesrvAddr(arguments[0]);
        billing.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        billing.subscribe("orders", "paid");
        billing.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(message -> System.out.println("billed " + message.getKeys()));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        billing.start();
        DefaultLitePullConsumer audit = new DefaultLitePullConsumer("audit");
        audit.setNamesrvAddr(arguments[0]);
        audit.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        audit.subscribe("orders", "*");
        audit.start();
        while (true) {
            audit.poll().forEach(message -> System.out.println("audited " + message.getKeys()));
        }
    }
}
