#conf gpu-memory.conf
# a refusal says what one task asks for, where that comes from and what a node has too little of
allocate default -n1
allocate cpus -n1 -c9 --mem=100
allocate memory -n1 --mem=2000
allocate percpu -n1 -c2 --mem-per-cpu=600
allocate devices -n1 --gres=gpu:4 --mem=100
allocate pergpu -n1 --gpus-per-task=2 --mem-per-gpu=600
