//! Goodput by the closed form: without errors, a stream of messages one behind another.

use crate::common;

use common::{cluster, node_of, run_process, sixteen_nodes};
use elan::{Dma, Placement};
use units::Bytes;
use workload::goodput::Goodput;

#[test]
fn without_errors_a_message_takes_its_time_behind_another() {
    let message = Bytes::new(320);
    let goodput = Goodput {
        from: 0,
        to: 15,
        message,
    };
    let records = goodput.run(&cluster(&sixteen_nodes())).expect("it ends");
    let mut cluster = cluster(&sixteen_nodes());
    let [from, to] = [0, 15].map(|number| node_of(&cluster, number));
    let [source, target] =
        [&from, &to].map(|node| node.reserve(Placement::Adapter, message).start());
    let dma = Dma::new(source, target, message);
    let time = run_process(&mut cluster, async move {
        from.dma(dma).await.expect("it fits");
        let posted = from.now();
        from.dma(dma).await.expect("it fits");
        from.now() - posted
    });
    let expected = message.as_u64() as f64 / time.as_us_f64();
    let found = records.value("accepted");
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}
