! Two regions of interest, the second one left by cycle and exit.
program marks
  use trackway
  implicit none
  real(8) :: values(1000), total
  integer :: i
  call trackway_region_begin("fill it")
  do i = 1, 1000
    values(i) = i
  end do
  call trackway_region_end("fill it")
  total = 0
  do i = 1, 10
    call trackway_region_begin("add")
    total = total + values(i)
    if (i == 3) cycle
    if (i == 8) exit
    call trackway_region_end("add")
  end do
  print '(a, f8.1)', 'total', total
end program
