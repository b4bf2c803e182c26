! A parallel loop, a parallel construct that is taken only at times, and tasks, in regions.
program shares
  use trackway
  implicit none
  integer :: i, entry
  real(8) :: touched(1000), total
  total = 0
  do entry = 1, 4
    call trackway_region_begin("parallel do")
    !$omp parallel do reduction(+:total)
    do i = 1, 1000
      touched(i) = i
      total = total + i
    end do
    call trackway_region_end("parallel do")
  end do
  print '(a, i0, a, i0)', 'parallel do: ', 4, ' ', 4000
  call trackway_region_begin("tasks")
  !$omp parallel if(total > 0)
  !$omp single
  do i = 1, 30
    !$omp task
    touched(1) = 2
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  call trackway_region_end("tasks")
  print '(a, i0, a, i0)', 'tasks: ', 1, ' ', 30
  print *, sum(touched)
end program
