#conf gpu.conf
# promised GPUs of a node with two halves are not promised twice
submit full -w g1 --gres=gpu:8 -t 30
plan
submit a -w g1 --gres=gpu:4 -t 60
submit b -w g1 --gres=gpu:4 -t 60
submit c -w g1 --gres=gpu:4 -t 60
plan
