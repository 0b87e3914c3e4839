! The parts of MPI that are Fortran's own: its types, its constants in memory, functions that MPI
! calls, strings.
!
! MODULE is the module, mpi or mpi_f08; without it, the program includes mpif.h. All three print the
! same lines, and their messages are the same.

#ifdef MODULE
#define USE_MPI use MODULE
#define INCLUDE_MPI
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif

! A sum modulo 97 of whole numbers.
subroutine modulo_sum(given, found, count, datatype)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: count
  integer, intent(in) :: given(count)
  integer, intent(inout) :: found(count)
#ifdef F08
  type(MPI_Datatype) :: datatype
#else
  integer :: datatype
#endif
  integer :: i
  do i = 1, count
    found(i) = mod(given(i) + found(i), 97)
  end do
end subroutine

program words
  USE_MPI
  implicit none
  INCLUDE_MPI
  external :: modulo_sum
  integer :: error, rank, ranks, next, previous, token, length, answer(3)
  double precision :: start, shares(4), pair(2)
  double complex :: turned
  logical :: anywhere, everywhere
  character(len=MPI_MAX_PROCESSOR_NAME) :: node
  character(len=12) :: text
  real :: columns(4, 4)
#ifdef F08
  type(MPI_Op) :: operation
  type(MPI_Datatype) :: row
#else
  integer :: operation, row
#endif

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  start = MPI_Wtime()
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 7, token, 1, MPI_INTEGER, previous, 7, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)

  ! A row of a matrix, which lies apart in memory.
  columns = real(rank)
  call MPI_Type_vector(4, 1, 4, MPI_REAL, row, error)
  call MPI_Type_commit(row, error)
  call MPI_Bcast(columns, 1, row, 1, MPI_COMM_WORLD, error)
  call MPI_Type_free(row, error)

  shares = dble(rank) + 0.25d0
  call MPI_Allreduce(MPI_IN_PLACE, shares, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  turned = cmplx(rank, -rank, kind(turned))
  call MPI_Allreduce(MPI_IN_PLACE, turned, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD, error)
  pair = (/ dble(mod(rank * 3, ranks)), dble(rank) /)
  call MPI_Allreduce(MPI_IN_PLACE, pair, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, &
                     MPI_COMM_WORLD, error)
  anywhere = rank == ranks - 1
  everywhere = rank /= 0
  call MPI_Allreduce(MPI_IN_PLACE, anywhere, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, error)
  call MPI_Allreduce(MPI_IN_PLACE, everywhere, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)

  call MPI_Op_create(modulo_sum, .true., operation, error)
  answer = (/ rank + 90, rank, 2 * rank /)
  call MPI_Allreduce(MPI_IN_PLACE, answer, 3, MPI_INTEGER, operation, MPI_COMM_WORLD, error)
  call MPI_Op_free(operation, error)

  text = merge('from zero   ', '            ', rank == 0)
  call MPI_Bcast(text, len(text), MPI_CHARACTER, 0, MPI_COMM_WORLD, error)
  call MPI_Get_processor_name(node, length, error)
  if (rank == ranks - 1) then
    print '(a, 2i3, 2f6.1)', 'ring and row', token, ranks, columns(3, 2), columns(1, 2)
    print '(a, 4f7.2, 2f6.1)', 'sums', shares, turned
    print '(a, 2f5.1, 2l2, 3i4)', 'places', pair, anywhere, everywhere, answer
    print '(a, a, a)', 'text ', trim(text), '.'
  end if
  if (command_argument_count() > 0 .and. rank == ranks - 1) then
    print '(a, a, a, f8.3)', 'node ', node(1:length), ', us', 1d6 * (MPI_Wtime() - start)
  end if
  call MPI_Finalize(error)
end program
