package rocketchaos;

import java.lang.reflect.Constructor;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Has a broker refuse pulls with FLOW_CONTROL: the work of a limiter that is put into brokers as a hook. RocketMQ comes
 * with none.
 *
 * <p>From 5.0 on a hook ends a request with an AbortProcessException. Before, it changes the response; a pull that is
 * held has none, so that only those are refused that are answered at once.
 */
public final class FlowControl implements RPCHook {
    private static final int PULL_MESSAGE = 11; // RequestCode
    private static final int LITE_PULL_MESSAGE = 361; // RequestCode, from 5.0 on
    private static final int FLOW_CONTROL = 215; // ResponseCode
    private static final String REMARK = "a hook of this broker limits pulls";
    private static final String CANARY = "SELF_TEST_C_GROUP"; // by which the harness sees that a broker works

    private final Constructor<?> abort = abortProcessException();

    @Override
    public void doBeforeRequest(String remoteAddress, RemotingCommand request) {
        if (abort == null || !limited(request)) {
            return;
        }
        RuntimeException refused;
        try {
            refused = (RuntimeException) abort.newInstance(FLOW_CONTROL, REMARK);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
        throw refused;
    }

    @Override
    public void doAfterResponse(String remoteAddress, RemotingCommand request, RemotingCommand response) {
        if (abort == null && response != null && limited(request)) {
            response.setCode(FLOW_CONTROL);
            response.setRemark(REMARK);
            response.setBody(null);
        }
    }

    private static boolean limited(RemotingCommand request) {
        if (request.getCode() != PULL_MESSAGE && request.getCode() != LITE_PULL_MESSAGE) {
            return false;
        }
        return request.getExtFields() == null || !CANARY.equals(request.getExtFields().get("consumerGroup"));
    }

    private static Constructor<?> abortProcessException() {
        try {
            return Class.forName("org.apache.rocketmq.common.AbortProcessException")
                .getConstructor(int.class, String.class);
        } catch (ReflectiveOperationException before5) {
            return null;
        }
    }
}
