#conf mixed.conf
# the lowest Weight first (n3-4, then n1-2, then n5)
allocate one -n4
allocate two -n4
allocate three -n4
allocate four -n4
allocate five -n4
allocate six -n4
allocate seven -n4
