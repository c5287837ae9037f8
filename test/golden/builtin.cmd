#conf builtin.conf
# sched/builtin: nothing passes the first that waits
submit long -N3 --exclusive -t 2:00:00
plan
submit wide -N4 --exclusive -t 1:00:00
submit short -N1 --exclusive -t 1:00:00
plan
