! The module `trackway` as `trackway fc` finds it: marks of regions of interest, which the pass knows by name.
! The name is a literal.
module trackway
  use, intrinsic :: iso_c_binding, only: c_char
  implicit none
  private
  public :: trackway_region_begin, trackway_region_end
  interface
    subroutine trackway_region_begin(name) bind(c, name="__trackway_begin_region")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine trackway_region_end(name) bind(c, name="__trackway_end_region")
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface
end module
