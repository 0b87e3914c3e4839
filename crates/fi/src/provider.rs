//! The answers to libfabric's first queries: this provider's name and capabilities.
//!
//! The provider has one kind of endpoint, reliable and connectionless (`FI_EP_RDM`), with tagged
//! and untagged messages and access to others' memory. Atomic operations on single words exist on
//! machines that have them in their adapters ([`crate::rma::atomics`]); MPI libraries use messages
//! for others. It makes no demands on the program: no buffer registration, no prefixes, no
//! contexts. A program that is not a rank in a simulation gets no endpoint.
//!
//! Time passes in the simulation only while a rank is in its library. So manual and automatic data
//! progress do not differ, and the provider grants either wish.

#![allow(unsafe_code)] // the interface is one of C pointers

use crate::abi::info::{
    FiDomainAttr, FiEpAttr, FiFabricAttr, FiInfo, FiProvider, FiRxAttr, FiTxAttr,
};
use crate::abi::{
    FI_ADDR_STR, FI_ATOMIC, FI_AV_TABLE, FI_DIRECTED_RECV, FI_ENODATA, FI_EP_RDM, FI_EP_UNSPEC,
    FI_FORMAT_UNSPEC, FI_LOCAL_COMM, FI_MSG, FI_MULTI_RECV, FI_ORDER_SAS, FI_PROGRESS_MANUAL,
    FI_READ, FI_RECV, FI_REMOTE_COMM, FI_REMOTE_READ, FI_REMOTE_WRITE, FI_RM_ENABLED, FI_RMA,
    FI_SEND, FI_SOURCE, FI_TAGGED, FI_THREAD_SAFE, FI_WRITE, fi_version,
};
use crate::operation::{INJECT_SIZE, longest};
use crate::{address, fabric};
use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

/// The name by which `FI_PROVIDER` chooses this provider.
pub const NAME: &CStr = c"elanite";

const DOMAIN: &CStr = c"elanite-cluster";

/// How many pieces a buffer may have.
const IOV_LIMIT: usize = 8;

/// Sizes without a limit in the simulation.
const PLENTY: usize = 1 << 16;

/// The atomics capability, on machines with adapters that execute them; 0 on others.
fn with_atomics() -> u64 {
    let atomics = node::settings().is_some_and(|settings| settings.atomics);
    FI_ATOMIC * u64::from(atomics)
}

/// The longest atomic that comes in order, in bytes.
const ATOMIC: usize = 8;

const TX_CAPS: u64 = FI_TAGGED | FI_MSG | FI_RMA | FI_SEND | FI_READ | FI_WRITE;

const RX_CAPS: u64 = FI_TAGGED
    | FI_MSG
    | FI_RMA
    | FI_RECV
    | FI_REMOTE_READ
    | FI_REMOTE_WRITE
    | FI_MULTI_RECV
    | FI_DIRECTED_RECV
    | FI_SOURCE;

const CAPS: u64 = TX_CAPS | RX_CAPS | FI_LOCAL_COMM | FI_REMOTE_COMM;

/// libfabric's newer versions have longer structures than ours. They copy a whole structure and
/// release its pointees, so zeros follow each of our structures.
const ROOM: usize = 1024;

/// The entry point that libfabric looks for.
// SAFETY: no other code defines a symbol of this name here; libfabric looks it up in each
// provider's library.
#[unsafe(no_mangle)]
pub extern "C" fn fi_prov_ini() -> *mut FiProvider {
    static PROVIDER: OnceLock<usize> = OnceLock::new();
    let place = PROVIDER.get_or_init(|| {
        let provider = Box::new(FiProvider {
            version: fi_version(1, 0),
            // libfabric takes no provider that is older than the program asks for.
            fi_version: fi_version(99, 0),
            context: [0; 4],
            name: NAME.as_ptr(),
            getinfo,
            fabric: fabric::open,
            cleanup: None,
        });
        Box::into_raw(provider).expose_provenance()
    });
    std::ptr::with_exposed_provenance_mut(*place)
}

/// Answers whether there is an endpoint as the program wants it, and describes it.
unsafe extern "C" fn getinfo(
    _version: u32,
    _node: *const c_char,
    _service: *const c_char,
    _flags: u64,
    hints: *const FiInfo,
    info: *mut *mut FiInfo,
) -> c_int {
    // SAFETY: hints are null or a structure whose parts are null or structures; `info` is where the
    // answer goes.
    unsafe {
        let hints = hints.as_ref();
        if std::env::var_os(link::PATH_VARIABLE).is_none() || !suits(hints) {
            return -FI_ENODATA;
        }
        let Some(rank) = node::own_rank() else {
            return -FI_ENODATA;
        };
        *info = describe(hints, rank);
    }
    0
}

/// Whether the provider meets the program's requirements.
unsafe fn suits(hints: Option<&FiInfo>) -> bool {
    let Some(hints) = hints else {
        return true;
    };
    // SAFETY: see `getinfo`.
    let (endpoint, domain, fabric, tx, rx) = unsafe {
        (
            hints.ep_attr.as_ref(),
            hints.domain_attr.as_ref(),
            hints.fabric_attr.as_ref(),
            hints.tx_attr.as_ref(),
            hints.rx_attr.as_ref(),
        )
    };
    let kind = endpoint.map_or(FI_EP_UNSPEC, |endpoint| endpoint.kind);
    hints.caps & !(CAPS | with_atomics()) == 0
        && [FI_FORMAT_UNSPEC, FI_ADDR_STR].contains(&hints.addr_format)
        && [FI_EP_UNSPEC, FI_EP_RDM].contains(&kind)
        && endpoint.is_none_or(|endpoint| endpoint.max_msg_size <= longest())
        && domain.is_none_or(|domain| {
            // SAFETY: a name is null or a string.
            domain.cq_data_size <= size_of::<u32>() && unsafe { is_named(domain.name, DOMAIN) }
        })
        && tx.is_none_or(|tx| tx.inject_size <= INJECT_SIZE && tx.iov_limit <= IOV_LIMIT)
        && rx.is_none_or(|rx| rx.iov_limit <= IOV_LIMIT)
        // SAFETY: as above.
        && fabric.is_none_or(|fabric| unsafe { is_named(fabric.name, NAME) })
}

unsafe fn is_named(wanted: *const c_char, name: &CStr) -> bool {
    // SAFETY: null or a string.
    wanted.is_null() || unsafe { CStr::from_ptr(wanted) } == name
}

/// The description, in memory that libfabric releases. This function is one long table.
#[allow(clippy::too_many_lines)]
unsafe fn describe(hints: Option<&FiInfo>, rank: u32) -> *mut FiInfo {
    let (tx, rx, domain) = hints.map_or((None, None, None), |hints| {
        // SAFETY: see `getinfo`.
        unsafe {
            (
                hints.tx_attr.as_ref(),
                hints.rx_attr.as_ref(),
                hints.domain_attr.as_ref(),
            )
        }
    });
    let atomics = with_atomics();
    let order = if atomics == 0 { 0 } else { ATOMIC };
    let tx_attr = place(FiTxAttr {
        caps: TX_CAPS | atomics,
        mode: 0,
        op_flags: tx.map_or(0, |tx| tx.op_flags),
        msg_order: FI_ORDER_SAS,
        comp_order: 0,
        inject_size: INJECT_SIZE,
        size: PLENTY,
        iov_limit: IOV_LIMIT,
        rma_iov_limit: 1,
        tclass: 0,
    });
    let rx_attr = place(FiRxAttr {
        caps: RX_CAPS | atomics,
        mode: 0,
        op_flags: rx.map_or(0, |rx| rx.op_flags),
        msg_order: FI_ORDER_SAS,
        comp_order: 0,
        total_buffered_recv: 0,
        size: PLENTY,
        iov_limit: IOV_LIMIT,
    });
    let ep_attr = place(FiEpAttr {
        kind: FI_EP_RDM,
        protocol: 0,
        protocol_version: 1,
        max_msg_size: longest(),
        msg_prefix_size: 0,
        max_order_raw_size: order,
        max_order_war_size: order,
        max_order_waw_size: order,
        mem_tag_format: u64::MAX,
        tx_ctx_cnt: 1,
        rx_ctx_cnt: 1,
        auth_key_size: 0,
        auth_key: std::ptr::null_mut(),
    });
    let wish = |of: fn(&FiDomainAttr) -> u32, else_is| {
        domain.map(of).filter(|&wish| wish != 0).unwrap_or(else_is)
    };
    let domain_attr = place(FiDomainAttr {
        domain: std::ptr::null_mut(),
        name: string(DOMAIN),
        threading: wish(|domain| domain.threading, FI_THREAD_SAFE),
        control_progress: wish(|domain| domain.control_progress, FI_PROGRESS_MANUAL),
        data_progress: wish(|domain| domain.data_progress, FI_PROGRESS_MANUAL),
        resource_mgmt: FI_RM_ENABLED,
        av_type: wish(|domain| domain.av_type, FI_AV_TABLE),
        mr_mode: 0,
        mr_key_size: size_of::<u64>(),
        cq_data_size: size_of::<u32>(),
        cq_cnt: PLENTY,
        ep_cnt: 1,
        tx_ctx_cnt: 1,
        rx_ctx_cnt: 1,
        max_ep_tx_ctx: 1,
        max_ep_rx_ctx: 1,
        max_ep_stx_ctx: 0,
        max_ep_srx_ctx: 0,
        cntr_cnt: PLENTY,
        mr_iov_limit: 1,
        caps: FI_LOCAL_COMM | FI_REMOTE_COMM,
        mode: 0,
        auth_key: std::ptr::null_mut(),
        auth_key_size: 0,
        max_err_data: 0,
        mr_cnt: PLENTY,
        tclass: 0,
    });
    let fabric_attr = place(FiFabricAttr {
        fabric: std::ptr::null_mut(),
        name: string(NAME),
        prov_name: string(NAME),
        prov_version: fi_version(1, 0),
        api_version: 0,
    });
    place(FiInfo {
        next: std::ptr::null_mut(),
        caps: CAPS | atomics,
        mode: 0,
        addr_format: FI_ADDR_STR,
        src_addrlen: address::LENGTH,
        dest_addrlen: 0,
        src_addr: place(address::of(rank)).cast(),
        dest_addr: std::ptr::null_mut(),
        handle: std::ptr::null_mut(),
        tx_attr,
        rx_attr,
        ep_attr,
        domain_attr,
        fabric_attr,
        nic: std::ptr::null_mut(),
    })
}

/// Puts a structure into C memory, with zeros behind it.
fn place<T>(structure: T) -> *mut T {
    const { assert!(size_of::<T>() < ROOM) };
    // SAFETY: there is room for it, aligned for anything; a provider without memory cannot go on.
    unsafe {
        let memory: *mut T = libc::calloc(1, ROOM).cast();
        assert!(!memory.is_null(), "no memory");
        memory.write(structure);
        memory
    }
}

fn string(text: &CStr) -> *mut c_char {
    // SAFETY: it is a string.
    unsafe { libc::strdup(text.as_ptr()) }
}
