#conf gpu.conf
# every node has one cause; what would help is tried
submit holder -N1 -w g1 --gres=gpu:8 -t 2:00:00
submit part -N1 -w a1 --gres=gpu:l4:1 -t 30
plan
drain g2
submit eight -N1 --gres=gpu:8 -t 4:00:00
explain eight
up g2
submit two -N2 --gres=gpu:h100:8 -t 4:00:00
submit one -N1 --gres=gpu:h100:4 -t 4:00:00
plan
explain two
explain one
submit lonely -N2 --exclusive -C ib -t 1-00:00:00
explain lonely
submit never -N1 --gres=gpu:h100:8 -C ib --mem=60000 -c 16
explain never
