//! A look at a machine in which everything has been repaired: every node reaches others on every
//! rail again.

use elan::{Cluster, Dma, DmaError, NodeId, Placement, Rail};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

/// Bytes per probe.
const LENGTH: Bytes = Bytes::new(8);

/// Within which time all probes are over.
const TIME: Time = Time::from_ms(20);

/// A probe's name, and how it ended.
type Probe = (String, Option<Result<(), DmaError>>);

/// Sends from every node to the next one and to one far away, on each rail.
///
/// # Errors
/// Which probe did not get through.
pub fn probe(cluster: &mut Cluster) -> Result<(), String> {
    let results: Rc<RefCell<Vec<Probe>>> = Rc::default();
    for rail in (0..cluster.rails()).map(Rail::new) {
        let nodes = cluster.nodes();
        let adapters: Vec<_> = NodeId::all(nodes)
            .map(|node| cluster.adapter(rail, node))
            .collect();
        let regions: Vec<_> = adapters
            .iter()
            .map(|adapter| adapter.allocate(Placement::Adapter, LENGTH))
            .collect();
        for from in 0..nodes {
            for to in [(from + 1) % nodes, (from + nodes / 2) % nodes] {
                let place = results.borrow().len();
                let name = format!("from node {from} to node {to} on rail {rail}");
                results.borrow_mut().push((name, None));
                let [start, end] = [from, to].map(|node| regions[node as usize].start());
                let (node, results) = (adapters[from as usize].clone(), Rc::clone(&results));
                cluster.spawn("probe", async move {
                    let result = node.dma(Dma::new(start, end, LENGTH)).await;
                    results.borrow_mut()[place].1 = Some(result);
                });
            }
        }
    }
    let end = cluster.now() + TIME;
    cluster.run_until(end).map_err(|stop| stop.to_string())?;
    for (name, result) in &*results.borrow() {
        match result {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                return Err(format!(
                    "everything is repaired, and a probe {name} fails: {error}"
                ));
            }
            None => {
                return Err(format!(
                    "everything is repaired, and a probe {name} does not end"
                ));
            }
        }
    }
    Ok(())
}
