package billing;

import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;

/** Bills orders: `java -jar billing.jar NAME_SERVER TAGS`. */
public final class Billing {
    public static void main(String[] args) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("billing");
        consumer.setNamesrvAddr(args[0]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe("orders", args[1]);
        consumer.registerMessageListener((MessageListenerConcurrently) (orders, context) -> {
            orders.forEach(order -> System.out.println("billed " + order.getKeys()));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        Runtime.getRuntime().addShutdownHook(new Thread(consumer::shutdown));
    }
}
