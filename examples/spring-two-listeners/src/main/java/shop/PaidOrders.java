package shop;

import org.apache.rocketmq.spring.annotation.RocketMQMessageListener;
import org.apache.rocketmq.spring.core.RocketMQListener;
import org.springframework.stereotype.Service;

@Service
@RocketMQMessageListener(topic = "orders", selectorExpression = "paid", consumerGroup = "shop")
public class PaidOrders implements RocketMQListener<String> {
    @Override
    public void onMessage(String order) {
        System.out.println("paid: " + order);
    }
}
