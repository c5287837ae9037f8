#conf cpu.conf
# never: the rule, and what it asks against what there is
allocate cpus -n1 -c9
allocate mem --mem=20000
allocate nodes -N5
allocate tasks -n33
allocate gres --gres=gpu:1
allocate time -t 2-00:00:00
