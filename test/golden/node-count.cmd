#conf cpu.conf
# -N alone, ranges, more nodes than there are
allocate three -N3
allocate range -N1-3 -n8 -c2
allocate grow -N2-4
allocate five -N5
allocate none -N4 -n32
