#conf extra.conf
# --extra: the load averages of the guide extra_constraints
extra n1 '{ "load": 0.99 }'
extra n2 '{ "load": 0.75, "disk": "ssd" }'
extra n3 '{ "load": 0.45, "disk": "ssd" }'
extra n4 'next to the door'
allocate idle -n1 --extra 'load<0.5'
allocate between -n1 --extra '(load<0.9&load>0.5)'
allocate ssd -N2 --extra 'disk=ssd'
allocate either -N2 --exclusive --extra 'disk=tape|load>=0.9'
allocate other -n1 --extra 'disk!=ssd'
# refused: what is no expression, and what no node could serve whatever it says
allocate mixed -n1 --extra 'load<0.5&disk=ssd|disk=tape'
allocate trailing -n1 --extra 'load<=6<='
allocate blank -n1 --extra ' (load=1)'
allocate many -N5 --extra 'load<0.5'
# one waits until a node says what it wants, and keeps nobody off meanwhile
submit waits -n1 --extra 'load<0.1'
submit beside -n1
plan
explain waits
extra n4 '{ "load": 0.05 }'
plan
