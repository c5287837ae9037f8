#conf gpus-at-sockets.conf
# enforce-binding: a core at least on every socket that gives a GPU, cores and GPUs evenly over them
allocate two -p two -n1 --gpus=2 --gres-flags=enforce-binding
free two
allocate one -p two -n1 --gpus=1 --gres-flags=enforce-binding
free one
allocate tasks -p two -n2 -c2 --gpus-per-task=1 --gres-flags=enforce-binding
free tasks
allocate three -p four -N1 -n1 -c4 --gres=gpu:3 --gres-flags=enforce-binding
free three
allocate four -p four -N1 -n1 -c4 --gres=gpu:4 --gres-flags=enforce-binding
free four
allocate near -p four -N1 -n1 -c4 --gres=gpu:2 --gres-flags=enforce-binding
allocate pair -p four -N1 -n2 -c2 --gres=gpu:2 --gres-flags=enforce-binding
free near
allocate again -p four -N1 -n1 -c2 --gres=gpu:2 --gres-flags=enforce-binding
