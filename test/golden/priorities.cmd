#conf queue.conf
# --nice and --hold; first come, first served otherwise
submit blocker -N4 --exclusive -t 10
plan
submit a -N4 --exclusive -t 10
submit b -N4 --exclusive -t 10 --nice=100
submit c -N4 --exclusive -t 10
submit d -n1 --hold
plan
run 1h
