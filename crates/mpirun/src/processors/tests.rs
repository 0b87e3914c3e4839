use super::scales;
use goal::{RegionLimit, TraceNotes, TraceProcessor, TraceRegion};
use machine::{Machine, ProcessorSection};
use units::{Rate, Time};

fn processor(memory: &str) -> ProcessorSection {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../machines/es40-qsnet.toml"
    );
    let text = std::fs::read_to_string(path).expect("the machine is there");
    let step = "processor.step=6 ns";
    let changes = [step, memory].into_iter().filter(|text| !text.is_empty());
    let changes: Vec<_> = changes
        .map(|change| config::Override::parse(change).expect("it is a change"))
        .collect();
    let machine = Machine::parse("es40-qsnet", &text, &changes).expect("it is a machine");
    machine.processor.expect("it has a processor")
}

fn regions(rate: Option<u64>) -> TraceNotes {
    let region = |name: &str, bound| TraceRegion {
        name: name.into(),
        bound,
    };
    TraceNotes {
        poll: Time::ZERO,
        regions: vec![
            region("loop", RegionLimit::Processor),
            region("copy", RegionLimit::Memory),
        ],
        processor: Some(TraceProcessor {
            step: Time::from_ns(2),
            memory: rate.map(Rate::from_mb_per_second),
        }),
    }
}

/// Ranks 0 and 1 share a node: a third of the recording's rate each. Rank 2 has a node for itself.
#[test]
fn each_region_has_the_factor_of_its_bound() {
    let machine = processor("processor.memory=600 MB/s");
    let given = (vec![vec![1.0, 10.0, 1.0]], vec![0, 0, 0]);
    for (given, times) in [((vec![], vec![]), 1.0), (given, 10.0)] {
        let found = scales(&regions(Some(900)), given, Some(&machine), &[4, 4, 5]);
        let (scales, by_step) = found.expect("both rates are known");
        assert_eq!(by_step, Some(3.0));
        let factors = |rank| {
            (0..3)
                .map(|region| scales.of(rank, region))
                .collect::<Vec<_>>()
        };
        assert_eq!(factors(0), [1.0, 3.0 * times, 3.0]);
        assert_eq!(factors(1), factors(0));
        assert_eq!(factors(2), [1.0, 3.0 * times, 1.5]);
    }
}

#[test]
fn rates_that_are_not_known_are_named() {
    let none = (vec![], vec![]);
    let (machine, bare) = (processor("processor.memory=600 MB/s"), processor(""));
    let of_trace = scales(&regions(None), none.clone(), Some(&machine), &[0]);
    let of_trace = of_trace.expect_err("the trace has no rate");
    assert!(of_trace.contains("`copy`") && of_trace.contains("the trace has no memory rate"));
    let of_machine = scales(&regions(Some(900)), none.clone(), Some(&bare), &[0]);
    let of_machine = of_machine.expect_err("the machine has no rate");
    assert!(of_machine.contains("processor.core_memory"), "{of_machine}");
    let (_, factor) = scales(&regions(Some(900)), none, None, &[0]).expect("times hold");
    assert_eq!(factor, None);
}
