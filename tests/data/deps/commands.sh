# SPDX-License-Identifier: MIT
# What commands do with files. After each command: the files that it makes, and the files of the
# directory that each was made from directly; in parentheses those that are only assumed where the
# trace has no transfers. `script` is this file. tests/bats/deps-builds.bats runs it.
mkdir d t x
cp in1 cp.out                                   # cp.out: in1
cp -p in1 in2 d                                 # d/in1: in1; d/in2: in1 in2
install -m 644 in1 t/inst                       # t/inst: in1
sed s/a/b/ in1 >sed.out                         # sed.out: in1
sed -i s/a/b/ edit
mv tomove moved
cat in1 in2 >cat.out                            # cat.out: in1 in2
cat in1 | sort >pipe.out                        # pipe.out: in1
cat in1 | sort | uniq >pipe3.out                # pipe3.out: in1
sort <in1 >redir.out                            # redir.out: in1
cat in1 >append.out                             # append.out: in1 in2
cat in2 >>append.out
{ cat in1; cat in2; } >group.out                # group.out: in1 in2
(cat in1; sort in2) | tee tee.out >tee2.out     # tee.out: in1 in2; tee2.out: in1 in2
text=$(cat in1)
echo "$text" >subst.out                         # subst.out: in1 script
tar cf all.tar in1 in2                          # all.tar: in1 in2
tar czf all.tgz in1 in2                         # all.tgz: in1 in2
tar xf all.tar -C x                             # x/in1: all.tar; x/in2: all.tar
gzip -c in1 >in1.gz                             # in1.gz: in1
ln in1 hard
cat hard >hard.out                              # hard.out: hard
ln -s in2 soft
cat soft >soft.out                              # soft.out: in2
ar rcs lib.a o1 o2                              # lib.a: o1 o2
cmp -s in1 in2 || mv new1 new2
while read -r l; do echo "$l"; done <in1 >loop.out # loop.out: in1 script
cat in1 | while read -r l; do echo "$l"; done >loop2.out # loop2.out: in1 script
dd if=in1 of=dd.out 2>/dev/null                 # dd.out: in1
(exec >exec.out; cat in1)                       # exec.out: in1
awk '{ print > "awk.out" }' in1                 # awk.out: in1
find d -name 'in*' -exec cat {} + >find.out     # find.out: d/in1 d/in2
cat <<END >here.out                             # here.out: in1 script
text
END
sort in1 -o in1.tmp && mv in1.tmp in1.new       # in1.new: in1
xargs cat <list >xargs.out                      # xargs.out: in2 (list)
