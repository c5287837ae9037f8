#conf gpu-parts.conf
# a GPU is given whole or in parts: a job has the one or the other
allocate both --gres=mps:1,gpu:1
allocate job --gres=mps:1 --gpus=1
allocate clocks --gres=mps:1 --gpu-freq=high
allocate parts --gres=mps:1
allocate whole --gres=gpu:1 --gpu-freq=high
