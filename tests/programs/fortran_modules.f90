! Arrays that a module allocates, reached through their descriptors. Prints sums with known values.
module grids
  implicit none
  type cell
    real(8) :: x, y
  end type
  real(8), allocatable :: pressure(:,:), velocity(:)
  real(8), pointer :: edge(:)
  type(cell), allocatable :: cells(:)
contains
  subroutine step(n)
    integer, intent(in) :: n
    integer :: i, j
    do j = 1, n
      do i = 1, n
        pressure(i, j) = pressure(i, j) + velocity(i)
      end do
    end do
    do i = 1, n
      cells(i)%y = cells(i)%x + edge(i)
    end do
  end subroutine step
end module grids

program main
  use grids
  integer, parameter :: n = 60
  real(8), allocatable :: mine(:)
  allocate(pressure(n, n), velocity(n), cells(n), edge(n), mine(n))
  pressure = 1
  velocity = 2
  edge = 3
  mine = 4
  cells%x = 1
  call step(n)
  print '(4f9.1)', sum(pressure), sum(velocity), cells(3)%y, sum(mine)
end program main
