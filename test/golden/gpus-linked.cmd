#conf linked.conf
# GPUs with Links go together; one alone breaks no pair if it can do without
allocate one -w pairs --gres=gpu:1
allocate two -w pairs --gres=gpu:2
allocate alone -w pairs --gres=gpu:1
allocate four -w islands --gres=gpu:4
allocate three -w islands --gres=gpu:3
free one
allocate three-of-five -w pairs --gres=gpu:3
show nodes
