# what: openssl's hand-written vector code: every cipher and digest that has some, and speed of each
# program: openssl vector code
# version: openssl version
# tools: none count
# needs: openssl
# limit: 400
head -c 3000001 /dev/zero | openssl enc -aes-256-ctr -K 00 -iv 00 2> /dev/null > data; key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
for c in $(openssl enc -list 2> /dev/null | tr -s ' ' '\n' | grep '^-' | grep -v -e wrap -e gcm -e ccm -e ocb -e xts | sort -u); do run openssl enc $c -K ${key}${key} -iv $key -in data -out secret 2> /dev/null; echo "$c $? $(cksum < secret)"; done
for d in $(openssl list -1 -digest-commands); do run openssl $d data 2> /dev/null | tail -n 1; done; for mac in "-macopt digest:SHA256 -macopt hexkey:$key HMAC" "-macopt hexkey:$key POLY1305" "-macopt cipher:AES-256-CBC -macopt hexkey:$key CMAC" "-macopt hexkey:$key KMAC256"; do run openssl mac $mac < data; done
for a in aes-128-gcm aes-256-gcm aes-128-xts aes-256-ocb aes-128-ccm chacha20-poly1305 aes-256-cbc-hmac-sha256 sha1 sha256 sha512 sha3-256 blake2s256; do run openssl speed -seconds 1 -bytes 16384 -evp $a 2> /dev/null | tail -n 1 | cut -d' ' -f1; done; for a in rsa2048 rsa3072 rsa4096 ecdsap256 ecdsap384 ecdhp256 ecdhx25519 ed25519 ffdh2048; do run openssl speed -seconds 1 $a 2>&1 | grep -c -i -e error; done
for cap in '' ~0x200000200000000 :0 :~0x20 '~0x0:~0x10000' ':~0xdc230000' 0; do OPENSSL_ia32cap=$cap run openssl dgst -sha256 data; OPENSSL_ia32cap=$cap run openssl dgst -sha512 data; OPENSSL_ia32cap=$cap run openssl enc -aes-256-cbc -K $key -iv 00 -in data 2> /dev/null | cksum; OPENSSL_ia32cap=$cap run openssl enc -chacha20 -K $key -iv 00 -in data 2> /dev/null | cksum; OPENSSL_ia32cap=$cap run openssl prime 170141183460469231731687303715884105727; done
