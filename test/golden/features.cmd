#conf mixed.conf
# --constraint: &, |, counts, unknown
allocate and -C 'amd&ib'
allocate or -C 'intel|big' -N3
allocate big -C big
allocate many -N2 -C '[intel*1&amd*1]'
allocate both -C 'intel&amd'
allocate unknown -C arm
