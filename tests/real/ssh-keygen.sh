# what: ssh-keygen: makes keys, lists fingerprints, signs and verifies
# version: ssh -V
# tools: none count
# needs: ssh-keygen
ssh-keygen -q -t ed25519 -N '' -C comment -f fixed; run ssh-keygen -q -t rsa -b 2048 -N '' -C comment -f rsa; run ssh-keygen -q -t ecdsa -N 'pass phrase' -C comment -f ec
for key in rsa ec; do run ssh-keygen -l -f $key.pub | sed 's/SHA256:[^ ]*/HASH/'; done; [ "$(run ssh-keygen -l -f fixed.pub)" = "$(ssh-keygen -l -f fixed.pub)" ] && echo same fingerprint; [ "$(run ssh-keygen -lv -f fixed.pub)" = "$(ssh-keygen -lv -f fixed.pub)" ] && echo same picture
run ssh-keygen -y -f rsa | cut -d' ' -f1,3; echo text > file; run ssh-keygen -q -Y sign -f fixed -n test file 2>&1; echo "me $(cat fixed.pub)" > allowed; run ssh-keygen -Y verify -f allowed -I me -n test -s file.sig < file | sed 's/SHA256:.*/HASH/'; run ssh-keygen -y -P wrong -f ec 2>&1; echo $?
