#conf per-gpu.conf
# DefCpuPerGPU, DefMemPerGPU of cluster and partition; --cpus-per-gpu, --mem-per-gpu, --ntasks-per-gpu
allocate a --gpus=2
allocate b --gpus=2 -p fat
allocate c --gpus=1 -c3 --mem=500
free a
free b
free c
allocate d -N1 --gpus-per-node=4 --cpus-per-gpu=3 --mem-per-gpu=2G
allocate e --ntasks-per-gpu=2 --gpus=3
allocate f -n3 --ntasks-per-gpu=2
free d
free e
allocate g --gpus-per-task=1 -n3
allocate h --sockets-per-node=2 --gpus-per-socket=1
allocate i --tres-per-task=cpu=2,gres/gpu=1 -n2
