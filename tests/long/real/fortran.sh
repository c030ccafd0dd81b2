# what: gfortran compiles (all processes traced) and the program computes, with OpenMP too
# program: gfortran
# version: gfortran --version
# tools: none count
# needs: gfortran
# limit: 120
run_all gfortran -O3 -march=native -fopenmp "$SOURCES/work.f90" -o work; run ./work; echo $?; OMP_NUM_THREADS=1 run ./work; echo $?; gfortran -O0 -fcheck=all "$SOURCES/work.f90" -o checked; run ./checked; echo $?
