#conf block.conf
# free: three of b1, all of b2, none of b3, four of b4
allocate a -N2 --exclusive -w n[1-2]
allocate b -N5 --exclusive -w n[11-15]
allocate c -N1 --exclusive -w n16
allocate together -N8 --segment=4 --consolidate-segments --exclusive
allocate anywhere -N8 --segment=4 --exclusive
