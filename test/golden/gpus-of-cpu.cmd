#conf gpu.conf
# --cpus-per-gpu, --ntasks-per-gpu, --mem-per-gpu
allocate cpus --gpus=2 --cpus-per-gpu=3 --mem=1G
allocate tasks --gpus=2 --ntasks-per-gpu=2 --mem=1G
allocate mem --gpus=2 --mem-per-gpu=8G
show nodes
