//! The collective calls' balanced tree: places `0..count`, each with at most `ratio` children.
//!
//! Place 0 is the root. Below a place lies a range of adjacent places. The range is cut in parts
//! that are equally long up to one place, and the parts' first places are the children. So the tree
//! is at most one level higher than necessary. A walk from the root on, children after their parent
//! and in order, visits the places from 0 up: a reduction's partial results can be combined in the
//! order of the places.

/// A place in the tree: its parent and its children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The place above, and which of its children this place is; `None` for the root.
    pub parent: Option<(u32, u32)>,
    pub children: Vec<u32>,
}

/// Place `place` in the tree with `count` places.
pub(crate) fn balanced(count: u32, ratio: u32, place: u32) -> Spot {
    assert!(place < count && ratio > 0);
    let (mut from, mut to, mut parent) = (0, count, None);
    loop {
        let below = u64::from(to - from - 1);
        let parts = u64::from(ratio).min(below);
        let start = |part: u64| from + 1 + (below * part / parts) as u32;
        if place == from {
            let children = (0..parts).map(start).collect();
            return Spot { parent, children };
        }
        let inside = (1..parts).rev().find(|&part| start(part) <= place);
        let part = inside.unwrap_or(0);
        parent = Some((from, part as u32));
        (from, to) = (start(part), start(part + 1));
    }
}

/// Place `place` in a chain.
pub(crate) fn chain(count: u32, place: u32) -> Spot {
    balanced(count, 1, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_trees_balanced_and_in_order() {
        for ratio in 1..7 {
            for count in 1..200 {
                let mut read = Vec::new();
                let height = visit(count, ratio, 0, None, &mut read);
                assert_eq!(read, (0..count).collect::<Vec<_>>(), "{count} by {ratio}");
                let lowest = (0..count).find(|&height| full(ratio, height) >= count);
                assert!(
                    height <= lowest.expect("it grows") + 1,
                    "{count} by {ratio}"
                );
            }
        }
    }

    /// Places in a full tree of some height.
    fn full(ratio: u32, height: u32) -> u32 {
        (0..=height).map(|level| ratio.pow(level)).sum()
    }

    fn visit(
        count: u32,
        ratio: u32,
        place: u32,
        parent: Option<(u32, u32)>,
        read: &mut Vec<u32>,
    ) -> u32 {
        read.push(place);
        let spot = balanced(count, ratio, place);
        assert_eq!(spot.parent, parent);
        assert!(spot.children.len() as u32 <= ratio);
        let below = (0..).zip(&spot.children);
        let heights =
            below.map(|(index, &child)| 1 + visit(count, ratio, child, Some((place, index)), read));
        heights.max().unwrap_or(0)
    }

    #[test]
    fn sixty_four_by_four() {
        let spot = |place| balanced(64, 4, place);
        assert_eq!(spot(0).children, [1, 16, 32, 48]);
        assert_eq!(spot(1).children, [2, 5, 9, 12]);
        assert_eq!(spot(63).parent, Some((60, 2)));
        assert_eq!(chain(5, 3).children, [4]);
    }
}
