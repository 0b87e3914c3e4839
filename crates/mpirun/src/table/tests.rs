use super::{Bottleneck, FIRST, LATER, MeasuredProgram, MeasuringHost, RegionTable, Samples};
use machine::{Param, ProcessorSection};
use units::{Rate, Time};

fn program() -> MeasuredProgram {
    MeasuredProgram {
        words: vec!["solver".into(), "a \"b\"".into()],
        sha256: "07".into(),
        ranks: 2,
    }
}

const HOST: MeasuringHost = MeasuringHost {
    step: Time::from_ps(1500),
    core_memory: Rate::from_mb_per_second(9000),
};

fn table() -> RegionTable {
    let mut table = RegionTable::new(program(), HOST);
    for time in 1..=40 {
        table.add("start > MPI_Send solver+0x10", 0, 100 * time);
    }
    table.add("part 7", 1, 5);
    table
}

fn refused(text: &str, program: &MeasuredProgram) -> String {
    let problems = RegionTable::parse("solver.toml", text, program).expect_err("it is refused");
    problems.to_string()
}

#[test]
fn a_table_comes_back_as_it_was_written() {
    let text = table().text();
    let read = RegionTable::parse("solver.toml", &text, &program()).expect("it is a table");
    assert_eq!(read, table());
    insta::assert_snapshot!(text);
}

#[test]
fn the_first_executions_are_kept_and_later_ones_evenly() {
    let mut samples = Samples::default();
    for time in 0..1000 {
        samples.add(time);
    }
    assert!(samples.first.iter().copied().eq(0..FIRST as u64));
    assert!(samples.later.len() > LATER / 2 && samples.later.len() <= LATER);
    let steps: Vec<u64> = samples
        .later
        .windows(2)
        .map(|two| two[1] - two[0])
        .collect();
    assert!(steps.iter().all(|step| *step == steps[0]), "{steps:?}");
    assert_eq!((samples.count, samples.sum), (1000, 499_500));
    // The plan has the mean over all later ones.
    let times = samples.times(2.0);
    let mean = times.later.iter().sum::<u64>() as f64 / times.later.len() as f64;
    let all = (FIRST as u64..1000).sum::<u64>() as f64 / (1000 - FIRST) as f64;
    assert!((mean / 2000.0 - all).abs() < 1e-3, "{mean} {all}");
    assert_eq!(times.first[3], 6000);
}

#[test]
fn a_plan_has_a_factor_for_each_rank() {
    let plan = table().plan(|rank, _| Some(f64::from(rank + 1)));
    let plan = plan.expect("all regions have a factor");
    let own = link::plan::read(1, &plan);
    assert_eq!(own["part 7"].of(0), Some(10_000));
    let other = link::plan::read(0, &plan);
    assert_eq!(other["start > MPI_Send solver+0x10"].of(2), Some(300_000));
}

fn given<T>(value: T) -> Param<T> {
    Param {
        value,
        source: "measured".into(),
        fitted_to: Vec::new(),
        admissible: None,
    }
}

#[test]
fn times_are_scaled_by_the_processor_or_by_the_share_of_memory() {
    let mut processor = ProcessorSection {
        step: given(Time::from_ps(7200)),
        core_memory: None,
        memory: None,
        flops: None,
        flops_memory: None,
    };
    let factor =
        |processor: &ProcessorSection, ranks, bound| HOST.factor(Some(processor), ranks, bound);
    assert_eq!(factor(&processor, 4, Bottleneck::Processor), Some(4.8));
    assert_eq!(factor(&processor, 4, Bottleneck::Memory), None);
    processor.core_memory = Some(given(Rate::from_mb_per_second(3000)));
    assert_eq!(factor(&processor, 4, Bottleneck::Memory), Some(3.0));
    // Two ranks have room beside each other, and four share the node's rate.
    processor.memory = Some(given(Rate::from_mb_per_second(6000)));
    assert_eq!(factor(&processor, 2, Bottleneck::Memory), Some(3.0));
    assert_eq!(factor(&processor, 4, Bottleneck::Memory), Some(6.0));
    assert_eq!(HOST.factor(None, 4, Bottleneck::Memory), Some(1.0));
    // A region that a person has marked.
    let text = table().text();
    let text = text.replacen("bound = \"processor\"", "bound = \"memory\"", 1);
    let marked = RegionTable::parse("solver.toml", &text, &program()).expect("it is a table");
    let by_bound = |_, bound| (bound == Bottleneck::Processor).then_some(1.0);
    assert_eq!(marked.plan(by_bound), Err("part 7".into()));
}

#[test]
fn tables_of_other_programs_and_mistakes_are_refused() {
    let text = table().text();
    let other = |change: fn(&mut MeasuredProgram)| {
        let mut program = program();
        change(&mut program);
        refused(&text, &program)
    };
    let cases = [
        other(|program| program.sha256.push('1')),
        other(|program| program.words[1].clear()),
        other(|program| program.ranks = 3),
        refused(&text.replace("version = 1", "version = 2"), &program()),
        refused(&text.replace("rank = 1,", "rank = 99999,"), &program()),
        refused(
            &text.replace("rank = 1, count = 1", "rank = 1, count = 0"),
            &program(),
        ),
        refused(
            &text.replace("first = [5]", "first = [5000000000000000000]"),
            &program(),
        ),
        refused(&text.replace("first = [5]", "first = [-5]"), &program()),
        refused(&text.replace("part 7", "part\\n7"), &program()),
        refused(&text.replace("1.5 ns", "0 ns"), &program()),
        refused(&text.replacen("\"processor\"", "\"disk\"", 1), &program()),
    ];
    insta::assert_snapshot!(cases.join("\n"));
}
