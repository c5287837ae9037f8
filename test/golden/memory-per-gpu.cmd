#conf gpu-memory.conf
# memory of one GPU fits a node: the GPUs spread
allocate spread --gpus=3 --mem-per-gpu=600
free spread
allocate two -N2 --gpus=3 --mem-per-gpu=400
free two
allocate never --gpus=4 --mem-per-gpu=600
allocate cpus --gpus=3 --cpus-per-gpu=4 --mem=0
