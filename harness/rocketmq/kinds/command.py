"""A program of the user's own, with whatever client inside; it is seen from outside.

Nothing is assumed about its client until a broker has said which one it is (203): see
`harness.engine.program_start`.
"""

from rocketchaos.harness.rocketmq.client_traits import Api, ClientKind, by_api
from rocketchaos.harness.rocketmq.kinds.app import APP

COMMAND = ClientKind(
    "command",
    "a program of your own, seen by what it prints",
    "command",
    by_api(
        Api(
            "push",
            "whatever client is in it",
            filters_by="own",
            tells_queues=False,
            raises_version=False,
            filters_itself=False,
            counts_pulls=False,
            resubscribes=False,
            seen_by="lines",
            lacks=APP.apis["push"].lacks,
            why_lacking="the program decides on this itself",
        )
    ),
    timers=APP.timers,
    takes_ids=False,
    compressed=False,
    program="command",
    begins_at_start=True,
)
