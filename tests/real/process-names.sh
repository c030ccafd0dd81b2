# what: what processes are called (status, stat, comm) when they execute others: by links, scripts, descriptors, themselves
# tools: none count
# needs: bash cat ln
# limit: 30
export NAMES='IFS= read -r comm < /proc/self/comm; while IFS= read -r line; do case $line in Name:*) name=$line;; esac; done < /proc/self/status; IFS= read -r stat < /proc/self/stat; stat=${stat%)*}; echo "$comm, $name, (${stat#*(})"'
printf '#!/bin/bash\neval "$NAMES"\nexec /proc/self/exe -c "$NAMES"\n' > a_script; printf '#!./a_script\n' > second; chmod +x a_script second; ln -s /bin/bash link; ln -s /bin/bash 'a link with a name of more than fifteen letters'; ln -s a_script 'to a (script)'
run_all bash -c "$NAMES"; run_all ./link -c "$NAMES"; run_all ./a\ * -c "$NAMES"; run_all ./a_script; run_all ./to*; run_all ./second; run_all env ./a_script
run_all bash -c 'exec -a other ./link -c "$NAMES"'; run_all bash -c 'exec /proc/self/exe -c "$NAMES"'; run_all bash -c 'exec /proc/$$/exe -c "$NAMES"'; run_all bash -c 'exec 7< /bin/bash; /proc/self/fd/7 -c "$NAMES"; /dev/fd/7 -c "$NAMES"; exec 7< a_script; /dev/fd/7'; run_all bash -c 'exec cat /proc/self/comm /proc/self/task/$$/comm'
