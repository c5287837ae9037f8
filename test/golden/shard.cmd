#conf shard.conf
# four shards on each GPU; a GPU is given whole or in shards (guide gres, Sharding)
allocate a --gres=shard:3
allocate b --gres=shard:2
allocate c --gres=shard:1
allocate toomany --gres=shard:5 -w n1
allocate whole --gres=gpu:1 -w n1
show nodes
free a
free c
allocate again --gres=gpu:1 -w n1
allocate full --gres=shard:4 -w n1
allocate half --gres=shard:2 -w n1
# whole nodes bring GPUs, not shards
free b
free again
free half
allocate alone --exclusive -w n1
