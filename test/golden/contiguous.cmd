#conf queue.conf
# --contiguous, --spread-job
allocate a -n4 -w n2
allocate row -N2 --contiguous --exclusive -t 10
allocate row2 -N2 --contiguous -n2
