#conf queue.conf
# a node goes down: its jobs are requeued, and start elsewhere after the delay (requeue_delay, two minutes)
submit a -N2 --exclusive -t 30
submit b -N1 --exclusive -t 30 --no-requeue -w n3
plan
down n[1,3]
show nodes
plan
advance 2m
plan
up n[1,3]
plan
