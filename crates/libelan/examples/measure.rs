//! Scratch: latencies of collectives.
use elan::{Cluster, Placement, Watch};
use libelan::{Job, Pe};
use std::cell::RefCell;
use std::rc::Rc;
use units::{Bytes, Time};

fn time<F: Future<Output = ()> + 'static>(
    config: &elan::Config,
    nodes: u32,
    pes: u32,
    rounds: u32,
    program: impl Fn(Pe, u32) -> F + Copy + 'static,
) -> f64 {
    let mut cluster = Cluster::new(config.clone(), Watch::default());
    let all: Vec<u32> = (0..nodes).collect();
    let job = Job::new("measure", &all, pes).unwrap();
    let ends = Rc::new(RefCell::new((Time::ZERO, Time::ZERO)));
    let told = ends.clone();
    job.launch(&mut cluster, move |pe| {
        let told = told.clone();
        async move {
            for k in 0..3 {
                program(pe.clone(), k).await;
            }
            pe.elan().all_group().gsync().await;
            let start = pe.now();
            for k in 0..rounds {
                program(pe.clone(), k).await;
            }
            let mut t = told.borrow_mut();
            t.0 = if t.0 == Time::ZERO {
                start
            } else {
                t.0.max(start)
            };
            t.1 = t.1.max(pe.now());
        }
    })
    .unwrap();
    cluster.run().unwrap_or_else(|s| panic!("{s}"));
    let (s, e) = *ends.borrow();
    (e - s).as_ps() as f64 / 1e6 / f64::from(rounds)
}

fn main() {
    let text = std::fs::read_to_string("machines/es40-qsnet.toml").unwrap();
    let args: Vec<String> = std::env::args().collect();
    let what = &args[1];
    for nodes in args[2].split(',') {
        let nodes: u32 = nodes.parse().unwrap();
        let levels = (1..7).find(|&l| 4u32.pow(l) >= nodes).unwrap();
        let four = vec!["4"; levels as usize].join(", ");
        let up = vec!["4"; levels as usize - 1].join(", ");
        let text = text
            .replace(
                "down = { value = [4, 4, 4]",
                &format!("down = {{ value = [{four}]"),
            )
            .replace(
                "up = { value = [4, 4],",
                &format!("up = {{ value = [{up}],"),
            )
            .replace(
                "nodes = { value = 64",
                &format!("nodes = {{ value = {nodes}"),
            );
        let machine =
            machine::Machine::parse("m", &text, &[]).unwrap_or_else(|_| panic!("bad machine"));
        let mut config = machine.cluster_config();
        if let Some(v) = args.iter().find_map(|a| a.strip_prefix("combine=")) {
            config.fabric.combine = v.parse().unwrap();
        }
        for a in &args[3..] {
            if let Some(v) = a.strip_prefix("ratio=") {
                config.group.branching = v.parse().unwrap();
            }
            if let Some(v) = a.strip_prefix("cond=") {
                config.group.broadcast = v.parse().unwrap();
            }
        }
        let arg = |name: &str, other: u64| {
            args.iter()
                .find_map(|a| a.strip_prefix(name))
                .map_or(other, |v| v.parse().unwrap())
        };
        let (size, pes, rounds) = (
            arg("size=", 0),
            arg("pes=", 1) as u32,
            arg("rounds=", 10) as u32,
        );
        let main = args.iter().any(|a| a == "main");
        let clock = std::time::Instant::now();
        let us = match &what[..] {
            "gsync" => time(&config, nodes, pes, rounds, |pe, _| async move {
                pe.elan().all_group().gsync().await
            }),
            "hgsync" => time(&config, nodes, pes, rounds, |pe, _| async move {
                pe.elan().all_group().hgsync().await.unwrap()
            }),
            "hgsyncevent" => time(&config, nodes, pes, rounds, |pe, _| async move {
                pe.elan().all_group().hgsyncevent().await.unwrap()
            }),
            "hbcast" | "bcast" => {
                let hw = what == "hbcast";
                let placement = if main {
                    Placement::Main
                } else {
                    Placement::Adapter
                };
                time(&config, nodes, pes, rounds, move |pe, k| async move {
                    let size = Bytes::new(size);
                    let elan = pe.elan();
                    thread_local!(static AT: RefCell<std::collections::BTreeMap<u32, elan::ElanAddr>> = RefCell::default());
                    if k == 0 {
                        let at = pe
                            .node()
                            .reserve(placement, size.max(Bytes::new(1)))
                            .start()
                            .elan;
                        AT.with(|m| m.borrow_mut().insert(pe.vp(), at));
                    }
                    let at = AT.with(|m| m.borrow()[&pe.vp()]);
                    let group = elan.all_group();
                    if hw {
                        group.hbcast(at, size, 0).await.unwrap()
                    } else {
                        group.bcast(at, size, 0).await.unwrap()
                    }
                })
            }
            "allreduce" => time(&config, nodes, pes, rounds, move |pe, _| async move {
                let n = size.max(8);
                let at = pe.elan3().alloc_main(8, Bytes::new(n)).unwrap();
                let op = libelan::elan::reduce::Operation {
                    size: Bytes::new(8),
                    combine: &|_, _| {},
                };
                pe.elan()
                    .all_group()
                    .reduce(at, at, n / 8, &op, libelan::elan::reduce::To::All)
                    .await
                    .unwrap();
            }),
            _ => panic!(),
        };
        println!(
            "{what} {nodes} nodes: {us:.3} us, {:.1} MB/s; {:.1} s",
            size as f64 / us,
            clock.elapsed().as_secs_f64()
        );
    }
}
