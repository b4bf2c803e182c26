!mod$ v1 sum:f7789d33179ab47e
module grids
type::cell
real(8)::x
real(8)::y
end type
real(8),allocatable::pressure(:,:)
real(8),allocatable::velocity(:)
real(8),pointer::edge(:)
type(cell),allocatable::cells(:)
contains
subroutine step(n)
integer(4),intent(in)::n
end
end
