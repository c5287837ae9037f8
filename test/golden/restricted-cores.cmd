#conf restricted.conf
# RestrictedCoresPerGPU: cores that only jobs with a GPU get
allocate cpu -n4
allocate more -n1
allocate gpu -n3 --gpus=1
allocate never -n5
