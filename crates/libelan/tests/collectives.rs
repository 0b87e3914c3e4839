//! The collective calls of Shmem and MPI.

mod common;

use common::{job, load, me, pattern, pid, run, store};
use elan::DmaError;
use libelan::elan::reduce::Reduction;
use libelan::elan::tport::TportError;
use libelan::{Job, Pe};
use proptest::prelude::*;
use units::{Bytes, Time};

/// Jobs of some shapes on 16 nodes.
fn jobs() -> [Job; 4] {
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
fn shmem_broadcasts_leave_the_roots_target_alone() {
    all(async |pe| {
        let (shmem, group) = (pe.shmem(), pe.elan().all_group());
        let size = Bytes::new(1000);
        let source = shmem.malloc(size).expect("there is room");
        let target = shmem.malloc(size).expect("there is room");
        for root in 0..pe.nvps() {
            let mine = pattern(u64::from(me(&pe) + 100 * root), 1000);
            store(&pe, source, &mine);
            store(&pe, target, &[7; 1000]);
            shmem.barrier(group).await.expect("all are there");
            let done = shmem.broadcast(target, source, size, root, group).await;
            done.expect("all have the target");
            let found = load(&pe, target, size);
            let expected = if root == me(&pe) {
                vec![7; 1000]
            } else {
                pattern(u64::from(root + 100 * root), 1000)
            };
            assert_eq!(found[..], expected[..]);
        }
    });
}

#[test]
fn shmem_collects_in_the_order_of_ranks() {
    all(async |pe| {
        let (shmem, group, nvps) = (pe.shmem(), pe.elan().all_group(), pe.nvps());
        let length = |vp: u32| u64::from(vp * 37 % 90);
        let total: u64 = (0..nvps).map(length).sum();
        let source = shmem.malloc(Bytes::new(90)).expect("there is room");
        let target = shmem
            .malloc(Bytes::new(90) * u64::from(nvps))
            .expect("there is room");
        let mine = pattern(u64::from(me(&pe)), 90);
        store(&pe, source, &mine);
        let size = Bytes::new(length(me(&pe)));
        let done = shmem.collect(target, source, size, group).await;
        done.expect("all have the target");
        let found = load(&pe, target, Bytes::new(total));
        let part = |vp| pattern(u64::from(vp), length(vp));
        let expected: Vec<u8> = (0..nvps).flat_map(part).collect();
        assert_eq!(found[..], expected[..]);
        // The target may be written again at once, and a second call does not mind.
        let size = Bytes::new(90);
        let done = shmem.fcollect(target, source, size, group).await;
        done.expect("all have the target");
        let found = load(&pe, target, size * u64::from(nvps));
        let expected: Vec<u8> = (0..nvps)
            .flat_map(|vp| pattern(u64::from(vp), 90))
            .collect();
        assert_eq!(found[..], expected[..]);
    });
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
        shmem
            .set_word(words, u64::from(me(&pe)))
            .expect("it is mapped");
        let done = shmem.to_all(second, words, 1, |a, b| a + b, group).await;
        done.expect("it is mapped");
        assert_eq!(shmem.word(second), Ok(u64::from(nvps * (nvps - 1) / 2)));
        let done = shmem.to_all(second, words, 1, u64::max, group).await;
        done.expect("it is mapped");
        assert_eq!(shmem.word(second), Ok(u64::from(nvps - 1)));
    });
}

/// The sum of two vectors of floating-point numbers.
fn add(one: &[u8], other: &mut [u8]) {
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    for (one, other) in one.chunks(8).zip(other.chunks_mut(8)) {
        let sum = number(one) + number(other);
        other.copy_from_slice(&sum.to_le_bytes());
    }
}

#[test]
fn mpi_reduces_at_one_or_all() {
    all(async |pe| {
        let (mpi, nvps, size) = (pe.mpi(), pe.nvps(), Bytes::new(8));
        let alloc = || pe.elan3().alloc_main(8, size * 500).expect("there is room");
        let (source, target) = (alloc(), alloc());
        let operation = Reduction {
            size,
            combine: &add,
        };
        let mine = (0..500).flat_map(|index| f64::from(index * (me(&pe) + 1)).to_le_bytes());
        store(&pe, source, &mine.collect::<Vec<u8>>());
        let factor = nvps * (nvps + 1) / 2;
        let sum: Vec<u8> = (0..500)
            .flat_map(|index| f64::from(index * factor).to_le_bytes())
            .collect();
        let found = || load(&pe, target, size * 500);
        for root in 0..nvps {
            store(&pe, target, &[0; 4000]);
            let done = mpi.reduce(source, target, 500, &operation, root).await;
            done.expect("it is mapped");
            assert_eq!(found()[..] == sum[..], root == mpi.rank());
        }
        let done = mpi.allreduce(source, target, 500, &operation).await;
        done.expect("it is mapped");
        assert_eq!(found()[..], sum[..]);
        mpi.barrier().await.expect("all are there");
    });
}

#[test]
fn mpi_has_no_other_roots() {
    all(async |pe| {
        let (mpi, nobody) = (pe.mpi(), pe.nvps());
        let buffer = pe
            .elan3()
            .alloc_main(8, Bytes::new(8))
            .expect("there is room");
        let error = mpi.bcast(buffer, Bytes::new(8), nobody).await.err();
        let process = pid(nobody);
        assert_eq!(
            error,
            Some(TportError::Dma(DmaError::NoProcess { process }))
        );
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// Collective calls among messages from neighbour to neighbour, with buffers at different addresses.
    #[test]
    fn mpi_broadcasts_any_buffer(size in 0u64..200_000, root: u32, which in 0usize..4, late in 0u64..50) {
        let job = &jobs()[which];
        run(job, async move |pe| {
            let (mpi, nvps, length) = (pe.mpi(), pe.nvps(), Bytes::new(size));
            let root = root % nvps;
            pe.elan3().alloc_main(8, Bytes::new(1 + 100 * u64::from(me(&pe)))).expect("there is room");
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
