#conf sharing.conf
# shares of the node lie anywhere, those of tasks on a GPU each (srun(1), --gres-flags=one-task-per-sharing)
allocate held --gres=shard:3 -w n1
allocate a -n2 --gres=shard:2 --tres-per-task=gres/shard:1 --gres-flags=one-task-per-sharing -w n1
show nodes
free a
allocate toomany -n2 --gres=shard:4 --tres-per-task=gres/shard:1 --gres-flags=one-task-per-sharing -w n1
allocate one -n3 --tres-per-task=gres/shard:1 --gres-flags=one-task-per-sharing -w n1
