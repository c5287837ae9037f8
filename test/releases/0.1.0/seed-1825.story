job 2 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700000046 started=1700000046 ended=1700000047 nodes=a0:2,a1:2,a2:2,b1:2
job 4 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700000110 started=1700000110 ended=1700000112 nodes=a0:2
job 7 CANCELLED user=1003 name=job0 exit=0 restarts=0 submitted=1700000141 started=1700000184 ended=1700000184 nodes=-
job 3 COMPLETED user=1001 name=job2 exit=0 restarts=0 submitted=1700000084 started=1700000084 ended=1700000196 nodes=b1:4
job 1 TIMEOUT user=1001 name=job1 exit=15 restarts=0 submitted=1700000039 started=1700000040 ended=1700000221 nodes=b0:8
job 5 TIMEOUT user=1001 name=job3 exit=15 restarts=0 submitted=1700000117 started=1700000122 ended=1700001502 nodes=b2:8
job 9 CANCELLED user=1001 name=job3 exit=15 restarts=1 submitted=1700001512 started=1700001514 ended=1700001588 nodes=b3:2
job 12 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700001417 started=1700001600 ended=1700001602 nodes=b0:2,b2:2,b3:2
job 13 COMPLETED user=1003 name=job3 exit=0 restarts=0 submitted=1700001463 started=1700001500 ended=1700001651 nodes=a1:4,a2:4
job 6 CANCELLED user=1001 name=job0 exit=0 restarts=0 submitted=1700000132 started=1700001704 ended=1700001704 nodes=-
job 14 CANCELLED user=1003 name=job3 exit=15 restarts=0 submitted=1700001465 started=1700001603 ended=1700001804 nodes=b0:6
job 19 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700001598 started=1700001829 ended=1700001834 nodes=b0:8
job 17 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700001514 started=1700001687 ended=1700001862 nodes=b1:8
job 10 COMPLETED user=1002 name=job0 exit=0 restarts=1 submitted=1700001535 started=1700001535 ended=1700001867 nodes=a0:2
job 20 FAILED user=1003 name=job2 exit=9 restarts=0 submitted=1700001677 started=1700001837 ended=1700002119 nodes=b0:8
job 23 COMPLETED user=1001 name=job1 exit=0 restarts=0 submitted=1700002006 started=1700002119 ended=1700002121 nodes=b0:4
job 22 COMPLETED user=1001 name=job1 exit=0 restarts=0 submitted=1700001744 started=1700002116 ended=1700002121 nodes=a0:4,b3:2
job 11 COMPLETED user=1003 name=job1 exit=0 restarts=1 submitted=1700001929 started=1700001930 ended=1700002177 nodes=b1:2
job 24 TIMEOUT user=1003 name=job0 exit=15 restarts=0 submitted=1700002016 started=1700002121 ended=1700002181 nodes=b0:2
job 15 COMPLETED user=1002 name=job2 exit=0 restarts=0 submitted=1700001468 started=1700001603 ended=1700002196 nodes=b2:6
job 16 FAILED user=1002 name=job3 exit=9 restarts=1 submitted=1700002008 started=1700002116 ended=1700002213 nodes=b3:6
job 27 COMPLETED user=1001 name=job2 exit=0 restarts=0 submitted=1700002186 started=1700002260 ended=1700002263 nodes=b0:8,b1:8,b3:8
job 28 COMPLETED user=1001 name=job2 exit=0 restarts=0 submitted=1700002214 started=1700002316 ended=1700002318 nodes=a0:4,b0:4,b1:4,b3:4
job 31 CANCELLED user=1002 name=job3 exit=0 restarts=0 submitted=1700002429 started=1700002581 ended=1700002581 nodes=-
job 42 FAILED user=1003 name=job2 exit=256 restarts=0 submitted=1700002207 started=1700002586 ended=1700002589 nodes=b0:2
job 44 FAILED user=1003 name=job2 exit=9 restarts=0 submitted=1700002207 started=1700002586 ended=1700002597 nodes=b0:2
job 45 FAILED user=1003 name=job2 exit=256 restarts=0 submitted=1700002207 started=1700002631 ended=1700002631 nodes=b0:2
job 33 FAILED user=1003 name=job2 exit=53 restarts=0 submitted=1700002566 started=1700002672 ended=1700002672 nodes=b1:8
job 34 COMPLETED user=1001 name=job2 exit=0 restarts=0 submitted=1700002603 started=1700002632 ended=1700002709 nodes=b3:2
job 43 COMPLETED user=1003 name=job2 exit=0 restarts=0 submitted=1700002207 started=1700002586 ended=1700002853 nodes=b0:2
job 36 COMPLETED user=1001 name=job3 exit=0 restarts=0 submitted=1700002235 started=1700002812 ended=1700002950 nodes=a0:4,a1:4,b1:8,b3:8
job 8 CANCELLED user=1003 name=job2 exit=0 restarts=0 submitted=1700000220 started=1700003436 ended=1700003436 nodes=-
job 25 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700002061 started=1700003436 ended=1700003437 nodes=b2:8
job 18 COMPLETED user=1003 name=job2 exit=0 restarts=2 submitted=1700002327 started=1700003436 ended=1700003440 nodes=b1:8
job 21 COMPLETED user=1002 name=job2 exit=0 restarts=0 submitted=1700001703 started=1700003441 ended=1700003446 nodes=b0:2
job 32 COMPLETED user=1003 name=job1 exit=0 restarts=1 submitted=1700002637 started=1700003483 ended=1700003484 nodes=a0:4,a1:4,a2:4
job 58 COMPLETED user=1001 name=job1 exit=0 restarts=0 submitted=1700003302 started=1700003483 ended=1700003485 nodes=b0:2
job 60 COMPLETED user=1001 name=job3 exit=0 restarts=0 submitted=1700002235 started=1700003483 ended=1700003487 nodes=b1:8,b2:8,b3:8
job 29 COMPLETED user=1001 name=job3 exit=0 restarts=0 submitted=1700002235 started=1700003531 ended=1700003533 nodes=b1:8,b2:8,b3:8
job 47 COMPLETED user=1003 name=job2 exit=0 restarts=0 submitted=1700002207 started=1700003531 ended=1700003536 nodes=a2:2
job 38 COMPLETED user=1003 name=job2 exit=0 restarts=0 submitted=1700002207 started=1700003531 ended=1700003536 nodes=a1:2
job 37 COMPLETED user=1001 name=job2 exit=0 restarts=0 submitted=1700002870 started=1700003531 ended=1700003536 nodes=a0:2
job 61 COMPLETED user=1003 name=job1 exit=0 restarts=0 submitted=1700002325 started=1700003554 ended=1700003555 nodes=b0:2,b1:2,b2:2,b3:2
job 62 COMPLETED user=1003 name=job1 exit=0 restarts=0 submitted=1700002325 started=1700003554 ended=1700003558 nodes=b0:2,b1:2,b2:2,b3:2
job 51 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002970 started=1700003554 ended=1700003559 nodes=a1:2
job 49 COMPLETED user=1002 name=job2 exit=0 restarts=0 submitted=1700002880 started=1700003554 ended=1700003559 nodes=a0:2
job 63 COMPLETED user=1003 name=job1 exit=0 restarts=0 submitted=1700002325 started=1700003577 ended=1700003578 nodes=b0:2,b1:2,b2:2,b3:2
job 53 COMPLETED user=1003 name=job1 exit=0 restarts=0 submitted=1700003027 started=1700003577 ended=1700003579 nodes=a0:2,a1:2,a2:2
job 40 COMPLETED user=1003 name=job1 exit=0 restarts=0 submitted=1700002325 started=1700003577 ended=1700003580 nodes=b0:2,b1:2,b2:2,b3:2
job 52 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700003018 started=1700003607 ended=1700003612 nodes=b1:4,b2:2,b3:2
job 26 COMPLETED user=1001 name=job1 exit=0 restarts=0 submitted=1700002094 started=1700004132 ended=1700004136 nodes=b0:2,b1:2,b2:2,b3:2
job 30 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700002266 started=1700004138 ended=1700004140 nodes=b0:2,b1:2,b2:2,b3:2
job 35 COMPLETED user=1002 name=job2 exit=0 restarts=0 submitted=1700002709 started=1700004141 ended=1700004146 nodes=b1:4,b2:4
job 39 COMPLETED user=1002 name=job1 exit=0 restarts=0 submitted=1700002306 started=1700004142 ended=1700004147 nodes=b0:2
job 41 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700002581 started=1700004142 ended=1700004147 nodes=a0:2,a1:2,a2:2,b1:2
job 46 TIMEOUT user=1003 name=job2 exit=15 restarts=0 submitted=1700002207 started=1700002631 ended=1700004131 nodes=b0:2
job 48 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700002695 started=1700004142 ended=1700004148 nodes=b3:2
job 50 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002899 started=1700004154 ended=1700004158 nodes=b2:8
job 54 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700003102 started=1700004159 ended=1700004160 nodes=b0:8,b1:8,b3:8
job 55 COMPLETED user=1001 name=job3 exit=0 restarts=0 submitted=1700003163 started=1700004150 ended=1700004155 nodes=b0:8,b3:8
job 56 COMPLETED user=1001 name=job0 exit=0 restarts=0 submitted=1700003195 started=1700004160 ended=1700004163 nodes=b2:8
job 57 COMPLETED user=1002 name=job3 exit=0 restarts=0 submitted=1700003282 started=1700004162 ended=1700004163 nodes=b0:6,b1:2,b3:2
job 59 COMPLETED user=1001 name=job1 exit=0 restarts=0 submitted=1700003334 started=1700004164 ended=1700004165 nodes=b1:4
job 64 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002899 started=1700004148 ended=1700004148 nodes=b0:8
job 65 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002899 started=1700004148 ended=1700004153 nodes=b2:8
job 66 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002899 started=1700004148 ended=1700004153 nodes=b1:8
job 67 COMPLETED user=1002 name=job0 exit=0 restarts=0 submitted=1700002899 started=1700004154 ended=1700004158 nodes=b1:8
node a0 cpus=4 state=IDLE reason=
node a1 cpus=4 state=IDLE reason=
node a2 cpus=4 state=IDLE reason=
node b0 cpus=8 state=IDLE reason=
node b1 cpus=8 state=IDLE reason=
node b2 cpus=8 state=IDLE reason=
node b3 cpus=8 state=IDLE reason=
