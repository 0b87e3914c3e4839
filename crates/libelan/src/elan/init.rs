//! How the library begins: in all the job's processes, before their programs do.

use super::block::Block;
use super::detour::{self, Detours};
use super::group::team::NodeMeetings;
use super::group::{Group, Member};
use super::layout::Layout;
use super::rails::Rails;
use super::tport::host;
use super::tport::port::{Peers, Port};
use super::{Elan, GLOBAL_ELAN, GLOBAL_MAIN, LibraryState, STAGE, putget};
use crate::cpu::Cpu;
use crate::elan3::{AllocError, Context, Heap};
use elan::{Placement, ProcessId, WaitMode};
use kernel::Label;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

impl Elan {
    /// Initialises the library in all the job's processes.
    pub(crate) fn init(
        processes: Vec<(Context, Label)>,
        rails: Vec<Option<Rails>>,
        waits: WaitMode,
    ) -> Result<Vec<Elan>, AllocError> {
        let nvps = processes.len() as u32;
        // A node's processes have its processors in rank order.
        let mut ranks = BTreeMap::new();
        let port = |((elan3, _), rails): (&(Context, Label), Option<Rails>)| {
            let (node, vp) = (elan3.node(), elan3.process());
            let rank: &mut u32 = ranks.entry(node.place()).or_default();
            let cpu = Cpu::new(node, node.cpu(*rank));
            *rank += 1;
            let port = Port::new(node, cpu, (vp, nvps), rails.map(Rc::new))?;
            Ok(Rc::new(port))
        };
        let ports = processes.iter().zip(rails).map(port);
        let ports: Peers = Rc::new(ports.collect::<Result<_, AllocError>>()?);
        let ends = ports
            .iter()
            .map(|port| (port.node.clone(), port.rails.clone()));
        let ends: detour::Ends = Rc::new(ends.collect());
        let layout = processes.first();
        let layout = layout.map(|(elan3, _)| Layout::new(elan3, ProcessId::all(nvps).collect()));
        let layout = Rc::new(layout.expect("a job has processes"));
        let locals = NodeMeetings::default();
        let init = |(elan3, label): (Context, Label)| {
            let heap = |placement, size| Heap::fixed(elan3.node().clone(), placement, size);
            let global_main = RefCell::new(heap(Placement::Main, GLOBAL_MAIN)?);
            let global_elan = RefCell::new(heap(Placement::Adapter, GLOBAL_ELAN)?);
            let member = Member {
                context: elan3.clone(),
                cpu: ports[elan3.process()].cpu.clone(),
                detours: Detours::new(&ends, elan3.process()),
                label: label.clone(),
                locals: Rc::clone(&locals),
                waits,
            };
            let block = Block::alloc(elan3.node(), &global_elan, &global_main, Block::ANYWHERE)?;
            let all = Group::new(&member, Rc::clone(&layout), block)?;
            let stage = global_main.borrow_mut().alloc(64, STAGE)?;
            let inner = LibraryState {
                under_way: putget::PendingTransfers::new(elan3.node())?,
                elan3,
                label,
                member,
                all,
                stage,
                global_main,
                global_elan,
                ports: Rc::clone(&ports),
            };
            let elan = Elan {
                inner: Rc::new(inner),
            };
            host::serve(&elan)?;
            detour::serve(&elan)?;
            Ok(elan)
        };
        processes.into_iter().map(init).collect()
    }
}
