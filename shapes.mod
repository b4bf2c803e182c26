!mod$ v1 sum:4626140e35f3234a
module shapes
type::point
real(8)::x
real(8)::y
integer(4)::weight
end type
type,extends(point)::named_point
character(12_4,1)::name
type(point),allocatable::neighbours(:)
end type
type::list_item
integer(4)::value
type(list_item),pointer::next=>NULL()
end type
intrinsic::null
integer(4),save::steps
contains
subroutine fill(points)
type(point),intent(out)::points(:)
end
subroutine transpose_into(matrix,target,n)
integer(4),intent(in)::n
real(8),intent(in)::matrix(1_8:int(n,kind=8),1_8:int(n,kind=8))
real(8),intent(out)::target(1_8:int(n,kind=8),1_8:int(n,kind=8))
end
recursive function fibonacci(n) result(answer)
integer(4),intent(in)::n
integer(8)::answer
end
function common_total()
integer(4)::common_total
end
end
