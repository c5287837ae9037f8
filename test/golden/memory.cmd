#conf memory.conf
# memory is consumable, DefMemPerCPU=1000
allocate default -n2
allocate node --mem=9000 -n1
allocate percpu -n4 --mem-per-cpu=3G
allocate toomuch --mem=17000
allocate later --mem=16000
allocate all -n1 --mem=0
show nodes
