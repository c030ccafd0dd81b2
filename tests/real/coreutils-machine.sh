# what: programs that ask for the process and the machine: id, uname, nproc, env, ulimit, /proc/self, getconf
run id; run uname -a; run nproc; run arch; run env -i A=1 B=2 env; run printenv HOME; run pwd; run whoami; run groups; run tty; run logname > /dev/null 2>&1
run getconf -a 2>&1 | grep -v AVPHYS | cksum; run bash -c 'ulimit -a; umask; echo $PPID $$' | grep -v '^[0-9]* [0-9]*$'; run bash -c 'echo $0 $# $*' zero one two
run cat /proc/self/comm; run cat /proc/self/cmdline | tr '\0' ' '; run readlink /proc/self/exe /proc/self/cwd; run ls /proc/self/task | wc -l
run cat /proc/self/environ | tr '\0' '\n' | grep -v -e MARK -e '^_=' | sort; run cat /proc/self/status | grep -E '^(Name|Umask|Threads|SigBlk|SigIgn|NoNewPrivs|Seccomp):'
run ls /proc/self/fd | grep -x '[0-9]'; run ls /dev/fd/ 7< /dev/null | grep -x '[0-9]'; run nice -n 3 nice; run nohup true; run setsid -w echo session; run stdbuf -oL echo buffered; run chrt -m; run taskset -c 0 nproc; run kill -l
run date -u -d '2001-02-03 04:05:06 +3 hours' '+%c %s %j'; TZ=Europe/Berlin run date -d @1700000000; run date -d 'nonsense'; echo "status $?"; run locale; run locale -a; run cal 2> /dev/null; run sleep 0.1; run hostname
run lscpu | grep -E '^(Architecture|Vendor ID|Flags|CPU family|Model)'; grep -m1 ^flags /proc/cpuinfo | cksum; run grep -m1 ^flags /proc/cpuinfo | cksum
