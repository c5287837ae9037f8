#conf gpu.conf
# types: named ones only where they are, untyped ones anywhere
allocate l4 --gres=gpu:l4:1 --mem=1G
allocate mix --gres=gpu:a100:1,gpu:l4:1 --mem=1G
allocate more --gres=gpu:l4:1 --mem=1G
allocate none --gres=gpu:v100:1
allocate many --gres=gpu:h100:9
allocate nic --gres=nic:2,gpu:1 --mem=1G
show nodes
