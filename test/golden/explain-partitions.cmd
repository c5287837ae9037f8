#conf parts.conf
# what bars a job, and the partitions that do not
submit full -N2 -w n[1-2] --exclusive -t 10:00:00
plan
submit longer -p high -N1 -t 5:00:00
explain longer
submit wider -p high -N1 --exclusive -t 1:00:00
explain wider
submit down -p closed -n1 -t 10
explain down
