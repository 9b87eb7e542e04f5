package shop;

import org.apache.rocketmq.spring.annotation.RocketMQMessageListener;
import org.apache.rocketmq.spring.core.RocketMQListener;
import org.springframework.stereotype.Service;

@Service
@RocketMQMessageListener(topic = "orders", selectorExpression = "cancelled", consumerGroup = "${cancelled-orders.group:shop}")
public class CancelledOrders implements RocketMQListener<String> {
    @Override
    public void onMessage(String order) {
        System.out.println("cancelled: " + order);
    }
}
