#conf gpu.conf
# devices by index, beside the cores they belong to
allocate two --gres=gpu:2 --mem=1G
allocate four --gres=gpu:h100:4 -n4 --mem=1G
allocate job --gpus=3 --mem=1G
allocate task -n2 --gpus-per-task=1 --mem=1G
show nodes
free two
allocate again --gpus-per-node=2 --mem=1G
