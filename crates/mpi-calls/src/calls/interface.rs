//! Numbers and handles that the MPI libraries' interfaces fix differently: for the calls that are
//! answered here.

use fi::mpi::{datum, definition, is_standard};
use std::ffi::c_int;
use std::sync::OnceLock;

/// `MPI_UNDEFINED`, the same in all libraries.
pub const UNDEFINED: c_int = -32766;

/// The binary interface that the program's library has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// MPICH's own, which Intel MPI and others share.
    Mpich,
    /// MPI 5's.
    Standard,
    /// Open MPI's.
    OpenMpi,
}

/// How `MPI_Comm_split_type` divides a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// By memory that the members share.
    Node,
    /// By a resource that `info` names.
    Guided,
    /// By the next resource within the one that all members share.
    Unguided,
    /// By an enclosure around several nodes, which the machine does not have.
    Beyond,
    /// By a processor part; a rank uses several.
    Within,
}

impl Interface {
    /// The loaded library's interface.
    pub fn of_library() -> Option<Interface> {
        static FOUND: OnceLock<Option<Interface>> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let function = definition(c"MPI_Comm_split")?;
            Some(if datum(c"ompi_mpi_byte").is_some() {
                Interface::OpenMpi
            } else if is_standard(function) {
                Interface::Standard
            } else {
                Interface::Mpich
            })
        })
    }

    /// A handle from an argument's word: an `int` leaves the upper half of its register arbitrary.
    pub fn handle(self, word: usize) -> usize {
        match self {
            Interface::Mpich => word as u32 as usize,
            Interface::Standard | Interface::OpenMpi => word,
        }
    }

    /// `MPI_BYTE`.
    pub fn byte(self) -> usize {
        match self {
            Interface::Mpich => 0x4c00_010d,
            Interface::Standard => 0x247,
            Interface::OpenMpi => datum(c"ompi_mpi_byte").unwrap_or_default(),
        }
    }

    /// Whether a handle is `MPI_INFO_NULL`.
    pub fn is_no_info(self, info: usize) -> bool {
        match self {
            Interface::Mpich => info == 0x1c00_0000,
            Interface::Standard => info == 0x130,
            Interface::OpenMpi => datum(c"ompi_mpi_info_null") == Some(info),
        }
    }

    /// A number's meaning for `MPI_Comm_split_type`; `None` leaves the call to the library.
    pub fn split(self, kind: c_int) -> Option<Split> {
        let shared = match self {
            Interface::Mpich => 1,
            Interface::Standard => 221,
            Interface::OpenMpi => 0,
        };
        let place = kind.checked_sub(shared)?;
        Some(match (self, place) {
            (_, 0) | (Interface::OpenMpi, 6..=9) => Split::Node,
            (Interface::Mpich, 1 | 3) | (Interface::Standard, 2 | 3) | (Interface::OpenMpi, 13) => {
                Split::Guided
            }
            (Interface::Mpich, 2) | (Interface::Standard, 1) | (Interface::OpenMpi, 12) => {
                Split::Unguided
            }
            (Interface::OpenMpi, 1..=5) => Split::Within,
            (Interface::OpenMpi, 10 | 11) => Split::Beyond,
            _ => return None,
        })
    }

    /// `MPI_ERR_RMA_SHARED`.
    pub fn not_shared(self) -> c_int {
        match self {
            Interface::Mpich => 57,
            Interface::Standard => 49,
            Interface::OpenMpi => 71,
        }
    }

    /// Whether a key belongs to the attribute `MPI_WIN_CREATE_FLAVOR`.
    pub fn is_flavour(self, key: c_int) -> bool {
        key == match self {
            Interface::Mpich => 0x6600_0007,
            Interface::Standard => 604,
            Interface::OpenMpi => 10,
        }
    }

    /// `MPI_WIN_FLAVOR_SHARED`, at a place that stays.
    pub fn shared_flavour(self) -> &'static c_int {
        match self {
            Interface::Mpich | Interface::OpenMpi => &4,
            Interface::Standard => &314,
        }
    }

    /// `MPI_WIN_FLAVOR_ALLOCATE`, at a place that stays.
    pub fn allocated_flavour(self) -> &'static c_int {
        match self {
            Interface::Mpich | Interface::OpenMpi => &2,
            Interface::Standard => &312,
        }
    }

    /// Whether a rank is `MPI_PROC_NULL`.
    pub fn is_no_rank(self, rank: c_int) -> bool {
        rank == match self {
            Interface::Mpich => -1,
            Interface::Standard => -3,
            Interface::OpenMpi => -2,
        }
    }
}
