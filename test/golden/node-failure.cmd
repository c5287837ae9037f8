#conf queue.conf
# a node goes down: its jobs are requeued, and start elsewhere
submit a -N2 --exclusive -t 30
submit b -N1 --exclusive -t 30 --no-requeue -w n3
plan
down n[1,3]
show nodes
plan
up n[1,3]
plan
