# what: javac, itself a java program, children traced
# program: javac
# version: javac -version
# tools: none count
# needs: java javac
# limit: 300
run_all javac -d . "$SOURCES/Work.java"; ls | sort; run_all jar cf w.jar *.class; run jar tf w.jar | sort; printf 'class Bad { int x = "text"; }' > Bad.java; run javac Bad.java; echo $?
