#conf per-gpu.conf
# enforce-binding: cores of the chosen GPUs only
allocate a -n1 -c6 --gpus=1 --gres-flags=enforce-binding
allocate b -n1 -c4 --gpus=1 --gres-flags=enforce-binding
allocate c -n1 -c4 --gpus=1 --gres-flags=disable-binding -w n1
allocate d -n1 -c9 --gpus=1 --gres-flags=enforce-binding
