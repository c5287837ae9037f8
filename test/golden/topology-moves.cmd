#conf block.conf
# scontrol update node Topology=: the fifth node of b1 becomes one of b2
move n5 default:b2
allocate six -N4 --exclusive -w n5
show topology
move n5 default:b9
move n5
show topology
