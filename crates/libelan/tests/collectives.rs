//! Shmem's and MPI's collective calls beyond those that `programs`' random programs compare with an
//! oracle.

use crate::common;

use common::{job, load, me, pattern, pid, run, store};
use elan::DmaError;
use libelan::elan::tport::TportError;
use libelan::{Pe, ProcessJob};
use proptest::prelude::*;
use units::{Bytes, Time};

/// Jobs with different shapes on 16 nodes.
fn jobs() -> [ProcessJob; 4] {
    let round_robin: Vec<u32> = (0..16).map(|vp| vp % 4).collect();
    [
        job(&[6]),
        job(&[3, 4, 5, 6, 7, 8, 9, 10, 11]),
        job(&[2, 2, 5, 9, 5, 2]),
        job(&round_robin),
    ]
}

fn all(program: impl AsyncFn(Pe) + Copy + 'static) {
    for job in jobs() {
        run(&job, program);
    }
}

#[test]
fn shmem_barriers_end_puts_and_reductions_reduce() {
    all(async |pe| {
        let (shmem, group, nvps) = (pe.shmem(), pe.elan().all_group(), pe.nvps());
        let words = shmem.malloc(Bytes::new(16)).expect("there is room");
        let second = words.offset(Bytes::new(8));
        shmem.p(words, 1000 + u64::from(me(&pe)), (me(&pe) + 1) % nvps);
        shmem.barrier(group).await.expect("all are there");
        let left = (me(&pe) + nvps - 1) % nvps;
        assert_eq!(shmem.word(words), Ok(1000 + u64::from(left)));
        let set = shmem.set_word(words, u64::from(me(&pe)));
        set.expect("it is mapped");
        let done = shmem.to_all(second, words, 1, |a, b| a + b, group).await;
        done.expect("it is mapped");
        assert_eq!(shmem.word(second), Ok(u64::from(nvps * (nvps - 1) / 2)));
        let done = shmem.to_all(second, words, 1, u64::max, group).await;
        done.expect("it is mapped");
        assert_eq!(shmem.word(second), Ok(u64::from(nvps - 1)));
    });
}

#[test]
fn mpi_has_no_other_roots() {
    all(async |pe| {
        let (mpi, nobody) = (pe.mpi(), pe.nvps());
        let (size, process) = (Bytes::new(8), pid(nobody));
        let buffer = common::alloc(&pe, false, size);
        let error = mpi.bcast(buffer, size, nobody).await.unwrap_err();
        assert_eq!(error, TportError::Dma(DmaError::NoProcess { process }));
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Collective calls among messages from neighbour to neighbour, with buffers at different
    /// addresses.
    #[test]
    fn mpi_broadcasts_any_buffer(
        size in 0u64..200_000, root: u32, which in 0usize..4, late in 0u64..50
    ) {
        let job = &jobs()[which];
        run(job, async move |pe| {
            let (mpi, nvps, length) = (pe.mpi(), pe.nvps(), Bytes::new(size));
            let root = root % nvps;
            pe.elan3().alloc_main(8, Bytes::new(1 + 100 * u64::from(me(&pe)))).expect("there is \
                room");
            let buffer = pe.elan3().alloc_main(8, length).expect("there is room");
            let token = pe.elan3().alloc_main(8, Bytes::new(8)).expect("there is room");
            if mpi.rank() == root {
                store(&pe, buffer, &pattern(9, size));
            }
            let (right, left) = ((me(&pe) + 1) % nvps, (me(&pe) + nvps - 1) % nvps);
            let sent = mpi.isend(right, 5, token, Bytes::new(8));
            pe.compute(Time::from_us(late * u64::from(me(&pe) % 3))).await;
            mpi.bcast(buffer, length, root).await.expect("it is mapped");
            let found = load(&pe, buffer, length);
            assert_eq!(found[..], pattern(9, size)[..]);
            mpi.recv(left, 5, token, Bytes::new(8)).await.expect("it was sent");
            mpi.wait(sent).await.expect("it is taken");
        });
    }
}
