# what: git: init, add, commit, log, diff, branch, merge, rebase, gc, fsck, clone, bisect on a local repository
# version: git --version
# tools: none
# needs: git
# limit: 120
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
tick=1600000000; commit() { tick=$((tick + 60)); GIT_AUTHOR_DATE="$tick +0000" GIT_COMMITTER_DATE="$tick +0000" run_all git commit -q "$@"; }
run_all git init -q -b main repository; cd repository; git config gc.auto 0; git config pack.threads 2
for i in 1 2 3 4 5 6; do seq $((i * 300)) > file$i; seq $i $((i * 50)) > common; run git add .; commit -m "change $i"; done
run git log --stat --format='%H %an %ad %s' --date=iso; run git diff HEAD~2 | cksum; run git diff --word-diff HEAD~1 common | cksum; run git status --short --branch
run git checkout -q -b side HEAD~3; echo side > side; run git add side; commit -m side; run git checkout -q main; tick=1600009000; GIT_AUTHOR_DATE="$tick +0000" GIT_COMMITTER_DATE="$tick +0000" run_all git merge -q -m merged side; run git log --graph --oneline
echo conflict > common; commit -am conflict; run git checkout -q side; echo other > common; commit -am other; run_all git merge main 2>&1; echo $?; run git merge --abort; run git blame -s file3 | cksum
run_all git gc -q; run_all git fsck --strict 2>&1; run git count-objects -v | grep -E 'count|in-pack'; run_all git clone -q . ../clone; run git -C ../clone rev-parse HEAD; run_all git clone -q --no-local . ../copy 2>&1; run git -C ../copy log --format=%T | cksum
run git rev-list --objects --all | sort | cksum; run git archive HEAD | tar t | cksum; run git grep -c 99; run_all git bisect start HEAD main~5 > /dev/null 2>&1; run_all git bisect run sh -c '! test -f file4' 2>&1 | grep -c 'first bad'; run git nonsense 2>&1 | head -n 1; run git cat-file -p HEAD^{tree}; run git hash-object --stdin <<< text; run_all git stash list; run_all git bundle create -q b --all; run_all git bundle verify -q b 2>&1; echo $?
