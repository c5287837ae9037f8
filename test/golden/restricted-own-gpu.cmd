#conf gpus-at-sockets.conf
# RestrictedCoresPerGPU=1: the first core of each GPU is for jobs with that GPU
allocate one -n1
free one
allocate six -n6
allocate seven -n1
free six
allocate eight -N1 -n8 --gres=gpu:1
allocate gpu -N1 -n7 --gres=gpu:1
free gpu
allocate both -N1 -n8 --gres=gpu:2
free both
allocate shards -n1 --gres=shard:6
allocate more -n6 --gres=shard:2
allocate third -n1
