#conf changeable.conf
# Features that a boot changes: nodes that have them first, then idle ones, all with the same set
allocate boots -C nps1 -n4
free boots
allocate has-it -C nps1 -n2
allocate joins-it -C nps1 -n2
allocate another -C nps1 -n1
allocate either -C 'fast&(nps1|nps2)' -n1
allocate too-many -C nps2 -N3 --exclusive
free has-it
free joins-it
allocate turned -C nps2 -w fast1 -n4
allocate never -C nps1 -N4
allocate both -C 'nps1&nps2'
allocate brackets -C '[nps1|nps2]'
allocate counts -C 'nps1*2'
allocate idle -C slow -n1
show nodes
