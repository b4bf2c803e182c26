! The module `trackway` for compilers other than `trackway fc`, which has its own: regions of interest mean nothing there.
module trackway
  implicit none
  private
  public :: trackway_region_begin, trackway_region_end
contains
  subroutine trackway_region_begin(name)
    character(len=*), intent(in) :: name
    if (len(name) < 0) stop ! so that it counts as used
  end subroutine

  subroutine trackway_region_end(name)
    character(len=*), intent(in) :: name
    if (len(name) < 0) stop
  end subroutine
end module
