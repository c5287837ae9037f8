job 3 COMPLETED user=1001 name=job2 exit=0 restarts=0 submitted=1700000139 started=1700000139 ended=1700000139 nodes=a0:1,a1:1,a2:1
job 5 COMPLETED user=1001 name=job3 exit=0 restarts=0 submitted=1700000163 started=1700000166 ended=1700000171 nodes=b2:6
job 2 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700000132 started=1700000132 ended=1700000195 nodes=b1:8
job 4 TIMEOUT user=1003 name=job0 exit=0 restarts=0 submitted=1700000160 started=1700000163 ended=1700000223 nodes=a0:8,a1:4
job 1 CANCELLED user=1001 name=job3 exit=0 restarts=1 submitted=1700000231 started=1700000302 ended=1700000302 nodes=-
job 7 COMPLETED user=1001 name=job3 exit=0 restarts=0 submitted=1700000431 started=1700000432 ended=1700000437 nodes=a0:1,a1:1
job 6 COMPLETED user=1003 name=job3 exit=0 restarts=0 submitted=1700000340 started=1700000662 ended=1700000725 nodes=a0:1,a1:1,b2:1,b3:1
job 9 COMPLETED user=1001 name=job1 exit=0 restarts=0 submitted=1700000492 started=1700000492 ended=1700000867 nodes=b2:5,b3:1
job 14 TIMEOUT user=1002 name=job3 exit=0 restarts=0 submitted=1700000883 started=1700000897 ended=1700000957 nodes=b3:8
job 15 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700001036 started=1700001037 ended=1700001041 nodes=a0:1
job 17 FAILED user=1001 name=job1 exit=53 restarts=0 submitted=1700001162 started=1700001162 ended=1700001162 nodes=a0:5,a1:1
job 16 FAILED user=1001 name=job1 exit=2304 restarts=0 submitted=1700001162 started=1700001162 ended=1700001164 nodes=a1:4,a2:2
job 10 COMPLETED user=1002 name=job1 exit=0 restarts=0 submitted=1700000530 started=1700000868 ended=1700001205 nodes=b2:1
job 18 CANCELLED user=1001 name=job1 exit=15 restarts=0 submitted=1700001162 started=1700001162 ended=1700001303 nodes=a0:3,a1:3
job 12 CANCELLED user=1002 name=job3 exit=0 restarts=0 submitted=1700000595 started=1700001353 ended=1700001353 nodes=-
job 26 FAILED user=1002 name=job3 exit=53 restarts=0 submitted=1700001463 started=1700001463 ended=1700001463 nodes=a1:1,a2:2
job 23 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700001463 started=1700001463 ended=1700001465 nodes=b1:2,b2:1
job 28 TIMEOUT user=1001 name=job2 exit=15 restarts=0 submitted=1700001463 started=1700001465 ended=1700001525 nodes=b2:6,b3:6
job 13 CANCELLED user=1003 name=job1 exit=15 restarts=0 submitted=1700000725 started=1700001445 ended=1700001531 nodes=a0:1
job 27 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700001463 started=1700001463 ended=1700001536 nodes=a2:2,b1:1
job 30 COMPLETED user=1002 name=job2 exit=0 restarts=0 submitted=1700001563 started=1700001563 ended=1700001643 nodes=b2:5
job 31 COMPLETED user=1003 name=job2 exit=0 restarts=0 submitted=1700001649 started=1700001650 ended=1700001653 nodes=b3:8
job 21 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700001413 started=1700001413 ended=1700001733 nodes=a0:4,a1:4,a2:4,b1:4
job 32 COMPLETED user=1001 name=job2 exit=0 restarts=0 submitted=1700001722 started=1700001722 ended=1700001780 nodes=b2:1
job 24 NODE_FAIL user=1002 name=job3 exit=0 restarts=0 submitted=1700001463 started=1700001463 ended=1700001858 nodes=a0:2,a1:1
job 25 NODE_FAIL user=1002 name=job3 exit=0 restarts=0 submitted=1700001463 started=1700001463 ended=1700001858 nodes=a0:1,a1:2
job 40 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002243 started=1700002248 ended=1700002252 nodes=b3:2
job 41 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002243 started=1700002277 ended=1700002887 nodes=b3:2
job 47 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700002852 started=1700002883 ended=1700002888 nodes=a1:1
job 48 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002243 started=1700002914 ended=1700002919 nodes=b1:2
job 50 COMPLETED user=1003 name=job3 exit=0 restarts=0 submitted=1700002988 started=1700003010 ended=1700003013 nodes=b1:1
job 51 COMPLETED user=1003 name=job3 exit=0 restarts=0 submitted=1700003041 started=1700003048 ended=1700003052 nodes=a0:7
job 37 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002243 started=1700002962 ended=1700003086 nodes=b1:2
job 38 TIMEOUT user=1002 name=job0 exit=15 restarts=0 submitted=1700002243 started=1700002248 ended=1700003088 nodes=b1:2
job 39 TIMEOUT user=1002 name=job0 exit=15 restarts=0 submitted=1700002243 started=1700002248 ended=1700003089 nodes=b1:2
job 46 TIMEOUT user=1002 name=job0 exit=15 restarts=0 submitted=1700002786 started=1700002914 ended=1700003094 nodes=b3:8
job 43 COMPLETED user=1003 name=job3 exit=0 restarts=0 submitted=1700002728 started=1700003138 ended=1700003142 nodes=b1:8
job 49 TIMEOUT user=1003 name=job2 exit=15 restarts=1 submitted=1700003024 started=1700003079 ended=1700004154 nodes=a0:2,a1:1
job 52 TIMEOUT user=1003 name=job3 exit=15 restarts=0 submitted=1700003046 started=1700003138 ended=1700004154 nodes=b3:3
job 35 TIMEOUT user=1003 name=job3 exit=0 restarts=0 submitted=1700002174 started=1700003024 ended=1700004164 nodes=a1:1
job 55 FAILED user=1001 name=job1 exit=256 restarts=0 submitted=1700004195 started=1700004205 ended=1700004208 nodes=b1:4,b3:4
job 58 COMPLETED user=1002 name=job2 exit=0 restarts=0 submitted=1700004559 started=1700004595 ended=1700004600 nodes=a0:4,a1:1
job 34 CANCELLED user=1001 name=job3 exit=0 restarts=0 submitted=1700001933 started=1700004683 ended=1700004683 nodes=-
job 19 CANCELLED user=1003 name=job1 exit=0 restarts=0 submitted=1700001346 started=1700004683 ended=1700004683 nodes=-
job 22 CANCELLED user=1002 name=job0 exit=0 restarts=0 submitted=1700001452 started=1700004683 ended=1700004683 nodes=-
job 8 COMPLETED user=1002 name=job2 exit=0 restarts=1 submitted=1700001200 started=1700004683 ended=1700004687 nodes=b0:8
job 20 COMPLETED user=1001 name=job0 exit=0 restarts=1 submitted=1700001858 started=1700004165 ended=1700004695 nodes=a0:4,a1:4,b1:4,b3:4
job 59 COMPLETED user=1001 name=job1 exit=0 restarts=0 submitted=1700004650 started=1700004704 ended=1700004706 nodes=a0:4,a1:4,b1:4
job 36 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700002202 started=1700004704 ended=1700004707 nodes=a2:8,b0:2,b2:2,b3:2
job 54 CANCELLED user=1003 name=job1 exit=0 restarts=0 submitted=1700004154 started=1700004713 ended=1700004713 nodes=-
job 45 COMPLETED user=1002 name=job1 exit=0 restarts=0 submitted=1700002770 started=1700004737 ended=1700004741 nodes=b0:8,b2:8,b3:8
job 57 CANCELLED user=1001 name=job1 exit=0 restarts=0 submitted=1700004489 started=1700004743 ended=1700004743 nodes=-
job 11 COMPLETED user=1003 name=job1 exit=0 restarts=0 submitted=1700000537 started=1700005058 ended=1700005061 nodes=b0:8,b1:8,b2:8,b3:8
job 29 COMPLETED user=1001 name=job0 exit=0 restarts=1 submitted=1700003027 started=1700005061 ended=1700005067 nodes=a0:4,a1:4,a2:4,b0:4
job 33 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700001825 started=1700005061 ended=1700005066 nodes=b2:8
job 42 COMPLETED user=1001 name=job3 exit=0 restarts=0 submitted=1700002282 started=1700005061 ended=1700005066 nodes=b0:2
job 44 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002731 started=1700005067 ended=1700005068 nodes=a0:1
job 53 COMPLETED user=1001 name=job2 exit=0 restarts=0 submitted=1700003114 started=1700005361 ended=1700005365 nodes=a0:3
job 56 COMPLETED user=1001 name=job3 exit=0 restarts=0 submitted=1700004256 started=1700005067 ended=1700005069 nodes=b0:8,b1:8,b2:8,b3:8
job 60 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700004671 started=1700005070 ended=1700005072 nodes=a0:6,a1:6,a2:6,b0:6
job 61 FAILED user=1001 name=job1 exit=256 restarts=0 submitted=1700004650 started=1700004674 ended=1700005058 nodes=a0:4,a1:4,b1:4
job 62 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700004671 started=1700005070 ended=1700005070 nodes=a0:6,a1:6,a2:6,b0:6
node a0 cpus=8 state=IDLE reason=
node a1 cpus=8 state=IDLE reason=
node a2 cpus=8 state=IDLE reason=
node b0 cpus=8 state=IDLE reason=
node b1 cpus=8 state=IDLE reason=
node b2 cpus=8 state=IDLE reason=
node b3 cpus=8 state=IDLE reason=
