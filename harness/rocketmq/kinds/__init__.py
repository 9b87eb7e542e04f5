"""The kinds of clients, a file each; `harness.rocketmq.client_kinds` registers them."""
