#conf gpus-at-sockets.conf
# --overcommit is not for tasks that have devices of their own
allocate plain -p two -N1 -n9 -O
free plain
allocate each -p two -N1 -n2 -O --tres-per-task=gres/gpu:1
free each
allocate never -p two -N1 -n3 -O --tres-per-task=gres/gpu:1
allocate cpus -p two -N1 -n2 -c5 -O --tres-per-task=gres/gpu:1
