#conf shard.conf
# no_consume: everybody gets it
allocate a --gres=fs:4
allocate b --gres=fs:4
allocate c --gres=fs:5
