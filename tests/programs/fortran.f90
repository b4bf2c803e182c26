! Arrays, allocatables, derived types, common blocks, do concurrent, pointers and recursion: what Fortran programs do to
! memory. Prints sums with known values.
module shapes
  implicit none
  type :: point
    real(8) :: x, y
    integer :: weight
  end type point
  type, extends(point) :: named_point
    character(len=12) :: name
    type(point), allocatable :: neighbours(:)
  end type named_point
  type :: list_item
    integer :: value
    type(list_item), pointer :: next => null()
  end type list_item
  integer, save :: steps = 0
contains
  subroutine fill(points)
    type(point), intent(out) :: points(:)
    integer :: i
    do i = 1, size(points)
      points(i)%x = i
      points(i)%y = 2 * i
      points(i)%weight = mod(i, 7)
      steps = steps + 1
    end do
  end subroutine fill

  subroutine transpose_into(matrix, target, n)
    integer, intent(in) :: n
    real(8), intent(in) :: matrix(n, n)
    real(8), intent(out) :: target(n, n)
    integer :: row, column
    do column = 1, n
      do row = 1, n
        target(row, column) = matrix(column, row)
      end do
    end do
  end subroutine transpose_into

  recursive function fibonacci(n) result(answer)
    integer, intent(in) :: n
    integer(8) :: answer
    if (n < 2) then
      answer = n
    else
      answer = fibonacci(n - 1) + fibonacci(n - 2)
    end if
  end function fibonacci

  integer function common_total()
    integer :: total, parts(10)
    common /shared/ total, parts
    common_total = total + sum(parts)
  end function common_total
end module shapes

program memory
  use shapes
  implicit none
  integer, parameter :: n = 24
  type(point), allocatable :: points(:)
  type(named_point) :: first
  type(list_item), pointer :: head, item
  real(8) :: matrix(n, n), turned(n, n)
  real(4), allocatable :: grid(:, :, :)
  complex(8) :: waves(16)
  logical :: mask(50)
  character(len=20) :: text
  integer :: total, parts(10)
  integer :: i, j, k
  common /shared/ total, parts

  allocate (points(50))
  call fill(points)
  call fill(points(2:50:3))
  do concurrent (i = 1:n, j = 1:n)
    matrix(i, j) = i * 100 + j + points(i)%x
  end do
  call transpose_into(matrix, turned, n)

  allocate (grid(5, 6, 7))
  do k = 1, 7
    do j = 1, 6
      do i = 1, 5
        grid(i, j, k) = i + 10 * j + 100 * k
      end do
    end do
  end do
  grid(:, 2:5, :) = grid(:, 2:5, :) * 2.0
  points = points(50:1:-1)

  total = 0
  parts = [(i * i, i = 1, 10)]
  mask = points%weight > 3
  where (mask) points%weight = 0
  do i = 1, 50
    total = total + points(i)%weight
  end do

  first%x = 1.5d0
  first%name = 'corner'
  allocate (first%neighbours(4))
  call fill(first%neighbours)
  waves = [(cmplx(i, -i, kind=8), i = 1, 16)]
  waves(1:8) = conjg(waves(9:16))
  text = trim(first%name)//' of it'

  nullify (head)
  do i = 1, 30
    allocate (item)
    item%value = i
    item%next => head
    head => item
  end do
  k = 0
  do while (associated(head))
    k = k * 3 + head%value
    k = mod(k, 100003)
    item => head
    head => head%next
    deallocate (item)
  end do

  print '(a, i0)', 'common ', common_total()
  print '(a, f0.1)', 'turned ', sum(turned(:, 3)) + turned(2, 1)
  print '(a, f0.1)', 'grid ', sum(grid)
  print '(a, f0.1)', 'points ', sum(points%x) + sum(first%neighbours%y)
  print '(a, 2f8.1)', 'waves ', sum(waves)
  print '(a, i0, 1x, i0)', 'list ', k, steps
  print '(a, i0, 1x, a)', 'other ', fibonacci(15), trim(text)
  deallocate (points, grid)
end program memory
