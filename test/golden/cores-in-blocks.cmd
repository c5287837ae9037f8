#conf blocks.conf
# CR_CORE_DEFAULT_DIST_BLOCK: cores of one socket after the other; -m *:cyclic overrides
allocate a -n2
allocate b -n4
free a
free b
allocate c -n2 -m '*:cyclic'
