#conf shard.conf
# MPS: one GPU of a node at a time, and one GPU for a job (gres.conf one_sharing)
allocate a --gres=mps:60
allocate b --gres=mps:60
allocate c --gres=mps:40
allocate gpu --gres=gpu:1 -w n2
