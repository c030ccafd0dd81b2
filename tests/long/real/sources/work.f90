! Matrices, a reduction over threads, formatted text: what fortran.sh compiles and runs.
program work
  implicit none
  integer, parameter :: n = 200
  real(8) :: a(n, n), b(n, n), c(n, n)
  integer(8) :: total
  integer :: i, j
  complex(8) :: z
  do i = 1, n
    do j = 1, n
      a(i, j) = mod(i * 7 + j * 3, 11)
      b(i, j) = mod(i * 5 + j * 13, 17)
    end do
  end do
  c = matmul(a, b)
  print '(f20.3)', sum(c)
  total = 0
  !$omp parallel do reduction(+:total)
  do i = 1, 300000
    total = total + mod(int(i, 8) * i, 97_8)
  end do
  print *, total
  z = (0.5d0, 0.25d0)
  do i = 1, 1000
    z = z * z + (0.1d0, 0.2d0)
  end do
  print '(2es15.5)', z
  print '(a, 3i6)', trim('text   ') // '!', maxloc(c(:, 3)), shape(transpose(a))
  stop 3
end program work
