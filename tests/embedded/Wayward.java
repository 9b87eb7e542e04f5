import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** A service that does what a test wants: `NAME_SERVER MODE`. */
public final class Wayward {
    private static final String SAYS = System.getenv().getOrDefault("SAYS", "got");
    private static final Queue<String> HANDLED = new ConcurrentLinkedQueue<>();

    public static void main(String[] args) throws Exception {
        String mode = args[1];
        System.err.println("mode " + mode + " in " + System.getenv("SHOP") + " of " + System.getProperty("shop"));
        if (mode.equals("ends")) {
            throw new IllegalStateException("no database");
        }
        if (mode.equals("idle")) {
            Thread.sleep(600_000);
        }
        if (mode.equals("tries-again") || mode.equals("gives-up")) {
            refused(args[0]);
        }
        if (mode.equals("gives-up")) {
            Thread.sleep(600_000);
        }
        String group = System.getenv().getOrDefault("GROUP", "g");
        String tag = System.getenv().getOrDefault("TAG", "tagA");
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(
            mode.equals("stranger") ? "other" : group, null, new AllocateMessageQueueAveragely(),
            mode.startsWith("traces"), null);
        consumer.setNamesrvAddr(args[0]);
        if (mode.equals("sql")) {
            consumer.subscribe("orders", MessageSelector.bySql("a = 1"));
            knowRoute(consumer);
        } else {
            consumer.subscribe("orders", mode.equals("differs") ? "tagB" : tag);
        }
        DefaultMQProducer producer = mode.startsWith("writes") ? new DefaultMQProducer("ledger") : null;
        if (producer != null) {
            producer.setNamesrvAddr(args[0]);
            producer.start();
        }
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            if (mode.startsWith("serves")) {
                HANDLED.add(new String(messages.get(0).getBody(), StandardCharsets.UTF_8));
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            }
            if (producer != null) {
                return written(producer, messages.get(0), mode);
            }
            System.out.println(SAYS + " " + new String(messages.get(0).getBody(), StandardCharsets.UTF_8));
            if (mode.equals("prints") || mode.equals("floods")) {
                for (int i = 0; i < (mode.equals("floods") ? 120_000 : 40_000); i++) {
                    System.out.println(String.join("", Collections.nCopies(100, "x")));
                }
            }
            return (mode.equals("fails") || mode.equals("traces-fails")) && messages.get(0).getReconsumeTimes() == 0
                ? ConsumeConcurrentlyStatus.RECONSUME_LATER
                : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        if (mode.startsWith("serves")) {
            serve(mode);
        }
        consumer.start();
        if (mode.equals("twice")) {
            DefaultMQPushConsumer again = new DefaultMQPushConsumer("g");
            again.setNamesrvAddr(args[0]);
            again.setInstanceName(consumer.getInstanceName());
            again.subscribe("orders", "tagB");
            again.registerMessageListener(
                (MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
            again.start();
        }
        if (mode.equals("later")) {
            consumer.subscribe("refunds", "*");
            consumer.unsubscribe("orders");
        }
        if (mode.equals("anew")) {
            consumer.shutdown();
            DefaultMQPushConsumer again = new DefaultMQPushConsumer("g");
            again.setNamesrvAddr(args[0]);
            again.subscribe("orders", tag);
            again.registerMessageListener(
                (MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
            again.start();
        }
        if (mode.equals("stays")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    Thread.sleep(600_000);
                } catch (InterruptedException ended) {
                    Thread.currentThread().interrupt();
                }
            }));
        } else if (mode.equals("dies")) {
            Thread.sleep(3_000);
            System.out.println("last words");
            System.exit(3);
        }
    }

    /** A start() that has no route yet asks no broker whether it filters by SQL92, and succeeds. */
    private static void knowRoute(DefaultMQPushConsumer consumer) throws MQClientException {
        DefaultMQProducer producer = new DefaultMQProducer("ledger");
        producer.setNamesrvAddr(consumer.getNamesrvAddr());
        for (ClientConfig client : new ClientConfig[] {producer, consumer}) {
            client.setInstanceName("sql");
            client.setMqClientApiTimeout(30_000);
        }
        producer.start();
        MQClientInstance client = producer.getDefaultMQProducerImpl().getMqClientFactory();
        while (!client.getTopicRouteTable().containsKey("orders")) {
            client.updateTopicRouteInfoFromNameServer("orders");
        }
    }

    /** Starts a consumer that its client refuses; its caller goes on. */
    private static void refused(String nameServer) throws InterruptedException {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("g");
        consumer.setNamesrvAddr(nameServer);
        try {
            consumer.start();
        } catch (MQClientException refusal) {
            System.out.println("tries again: " + refusal.getErrorMessage());
            Thread.sleep(1_500);
        }
    }

    /** Lists what was handled; of `serves-some` every other one. */
    private static void serve(String mode) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(System.getenv("PORT"))), 0);
        server.createContext("/handled", call -> {
            StringBuilder list = new StringBuilder("[");
            for (String key : HANDLED) {
                boolean even = Integer.parseInt(key.substring(key.indexOf('-') + 1)) % 2 == 0;
                if (even || !mode.equals("serves-some")) {
                    list.append(list.length() > 1 ? ", " : "").append('"').append(key).append('"');
                }
            }
            byte[] answer = list.append(']').toString().getBytes(StandardCharsets.UTF_8);
            call.sendResponseHeaders(200, answer.length);
            call.getResponseBody().write(answer);
            call.close();
        });
        server.start();
    }

    /** Tells by a message of its own what was handled; of `writes-some` every other one. */
    private static ConsumeConcurrentlyStatus written(DefaultMQProducer producer, MessageExt order, String mode) {
        String key = new String(order.getBody(), StandardCharsets.UTF_8);
        try {
            if (!mode.equals("writes-some") || Integer.parseInt(key.substring(key.indexOf('-') + 1)) % 2 == 0) {
                byte[] body = ("{\"order\": \"" + key + "\"}").getBytes(StandardCharsets.UTF_8);
                producer.send(new Message("handled", "done", key, body));
            }
        } catch (Exception refused) {
            return ConsumeConcurrentlyStatus.RECONSUME_LATER;
        }
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
    }
}
