#conf gpus-at-sockets.conf
# --cpus-per-gpu with two threads a core: whole cores, and none too many
allocate six -p threads --gpus=3 --cpus-per-gpu=2
free six
allocate four -p threads --gpus=4 --cpus-per-gpu=1
free four
allocate bound -p threads --gpus=3 --cpus-per-gpu=2 --gres-flags=enforce-binding
free bound
allocate mincpus -p threads -n1 --mincpus=4
