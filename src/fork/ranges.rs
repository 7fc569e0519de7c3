//! How often each part of the address space is excluded from child processes.

use crate::sys::errno::{Errno, Result};

/// What madvise(2) is told about a part of the address space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Advice {
    /// Children do not get it (`MADV_DONTFORK`).
    DontFork,
    /// Children get it (`MADV_DOFORK`).
    DoFork,
}

/// A part of the address space, by its first and its last byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) last: usize,
}

impl Span {
    /// The `size` bytes at `base`, rounded out to pages of `page` bytes (a power of two); nothing for
    /// no bytes and for bytes that reach beyond the address space.
    pub(super) fn of_pages(base: usize, size: usize, page: usize) -> Option<Span> {
        let last = base.checked_add(size.checked_sub(1)?)?;
        Some(Span { first: base & !(page - 1), last: last | (page - 1) })
    }

    /// The length in bytes, but for the whole address space, whose length is no number.
    pub(super) fn length(&self) -> usize {
        (self.last - self.first).saturating_add(1)
    }
}

/// A part of the address space and how often it is excluded.
#[derive(Clone, Copy, Debug)]
struct Piece {
    span: Span,
    count: usize,
}

/// The counts of the whole address space, in pieces of equal counts.
pub(super) struct Ranges {
    boundaries: Boundaries,
}

impl Ranges {
    /// Nothing is excluded. ENOMEM.
    pub(super) fn new() -> Result<Ranges> {
        Ok(Ranges { boundaries: Boundaries::new()? })
    }

    /// Excludes a span once more. `advise` is called for each piece that was not excluded.
    ///
    /// # Errors
    ///
    /// ENOMEM, or that of `advise`; everything is as before then.
    pub(super) fn exclude(
        &mut self,
        span: Span,
        mut advise: impl FnMut(Span, Advice) -> Result<()>,
    ) -> Result<()> {
        self.cut_out(span)?;
        let mut result = Ok(());
        let mut done = None;
        for_each_piece(span, |at| {
            let piece = self.piece(at, span);
            if piece.count == 0 {
                result = advise(piece.span, Advice::DontFork);
                if result.is_err() {
                    // The kernel may have done a part of it.
                    let _ = advise(piece.span, Advice::DoFork);
                    return None;
                }
            }
            self.boundaries.set_count(at, piece.count.saturating_add(1));
            done = Some(piece.span.last);
            Some(piece.span.last)
        });
        if let (Err(_), Some(last)) = (result, done) {
            self.release(Span { last, ..span }, &mut advise);
        }
        self.join(span);
        result
    }

    /// Undoes [`Self::exclude`] once. `advise` is called for each piece that is not excluded any
    /// more; what it fails to do stays undone. Parts that were not excluded stay as they are.
    ///
    /// # Errors
    ///
    /// ENOMEM; everything is as before then.
    pub(super) fn include(
        &mut self,
        span: Span,
        mut advise: impl FnMut(Span, Advice) -> Result<()>,
    ) -> Result<()> {
        self.cut_out(span)?;
        self.release(span, &mut advise);
        self.join(span);
        Ok(())
    }

    /// Takes one off the counts of a span that was cut out.
    fn release(&mut self, span: Span, advise: &mut impl FnMut(Span, Advice) -> Result<()>) {
        for_each_piece(span, |at| {
            let piece = self.piece(at, span);
            if piece.count == 1 {
                let _ = advise(piece.span, Advice::DoFork);
            }
            self.boundaries.set_count(at, piece.count.saturating_sub(1));
            Some(piece.span.last)
        });
    }

    /// The piece that starts at `at` within a span.
    fn piece(&self, at: usize, span: Span) -> Piece {
        let (count, next) = self.boundaries.look_up(at);
        let last = next.map_or(usize::MAX, |next| next - 1).min(span.last);
        Piece { span: Span { first: at, last }, count }
    }

    /// Puts boundaries at both ends of a span.
    fn cut_out(&mut self, span: Span) -> Result<()> {
        self.boundaries.split(span.first)?;
        let result = match span.last.checked_add(1) {
            Some(next) => self.boundaries.split(next),
            None => Ok(()),
        };
        if result.is_err() {
            self.boundaries.join(span.first);
        }
        result
    }

    /// Removes the boundaries of a span that separate nothing.
    fn join(&mut self, span: Span) {
        let mut at = Some(span.first);
        while let Some(boundary) = at.filter(|&at| at.checked_sub(1) <= Some(span.last)) {
            at = self.boundaries.look_up(boundary).1;
            self.boundaries.join(boundary);
        }
    }
}

/// Calls `f` with the first byte of each piece of a span; it returns the last byte, or nothing to
/// end.
fn for_each_piece(span: Span, mut f: impl FnMut(usize) -> Option<usize>) {
    let mut at = span.first;
    while let Some(last) = f(at) {
        match last.checked_add(1) {
            Some(next) if last < span.last => at = next,
            _ => break,
        }
    }
}

/// Where the count changes, and to what: a sorted list, in chunks of limited length, so that an
/// insertion moves little however long the list is. Chunks are allocated whole and checked, which
/// the standard collections do not offer: an insertion fails or works, memory never aborts the
/// program.
struct Boundaries {
    /// At least one; none is empty. The first boundary is at 0.
    chunks: Vec<Vec<Boundary>>,
}

#[derive(Clone, Copy, Debug)]
struct Boundary {
    start: usize,
    count: usize,
}

/// Boundaries per chunk.
const CHUNK: usize = 256;

fn new_chunk() -> Result<Vec<Boundary>> {
    let mut chunk = Vec::new();
    chunk.try_reserve_exact(CHUNK).map_err(|_| Errno::ENOMEM)?;
    Ok(chunk)
}

impl Boundaries {
    fn new() -> Result<Boundaries> {
        let mut first = new_chunk()?;
        first.push(Boundary { start: 0, count: 0 });
        let mut chunks = Vec::new();
        chunks.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
        chunks.push(first);
        Ok(Boundaries { chunks })
    }

    /// Chunk and index of the boundary at or before an address.
    fn find(&self, address: usize) -> (usize, usize) {
        let starts_by = |boundary: &Boundary| boundary.start <= address;
        let chunk = self.chunks.partition_point(|chunk| chunk.first().is_some_and(starts_by));
        // The first boundary is at 0, so neither point is 0.
        let chunk = chunk.saturating_sub(1);
        (chunk, self.chunks[chunk].partition_point(starts_by).saturating_sub(1))
    }

    /// The count at an address and where the next piece begins, if there is one.
    fn look_up(&self, address: usize) -> (usize, Option<usize>) {
        let (chunk, index) = self.find(address);
        let next = match self.chunks[chunk].get(index + 1) {
            Some(next) => Some(next),
            None => self.chunks.get(chunk + 1).and_then(|chunk| chunk.first()),
        };
        (self.chunks[chunk][index].count, next.map(|next| next.start))
    }

    /// Changes the count of the piece that begins at or before an address.
    fn set_count(&mut self, address: usize, count: usize) {
        let (chunk, index) = self.find(address);
        self.chunks[chunk][index].count = count;
    }

    /// Makes an address the begin of a piece. ENOMEM.
    fn split(&mut self, address: usize) -> Result<()> {
        let (mut chunk, mut index) = self.find(address);
        let before = self.chunks[chunk][index];
        if before.start == address {
            return Ok(());
        }
        if self.chunks[chunk].len() >= CHUNK {
            let mut upper = new_chunk()?;
            self.chunks.try_reserve(1).map_err(|_| Errno::ENOMEM)?;
            upper.extend(self.chunks[chunk].drain(CHUNK / 2..));
            self.chunks.insert(chunk + 1, upper);
            (chunk, index) = self.find(address);
        }
        let new = Boundary { start: address, count: before.count };
        self.chunks[chunk].insert(index + 1, new);
        Ok(())
    }

    /// Removes the boundary at an address if it is one between equal counts.
    fn join(&mut self, address: usize) {
        let (chunk, index) = self.find(address);
        let Boundary { start, count } = self.chunks[chunk][index];
        let before = match index.checked_sub(1) {
            Some(before) => self.chunks[chunk].get(before),
            None => chunk.checked_sub(1).and_then(|chunk| self.chunks[chunk].last()),
        };
        if start != address || before.is_none_or(|before| before.count != count) {
            return;
        }
        self.chunks[chunk].remove(index);
        if self.chunks[chunk].is_empty() {
            self.chunks.remove(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::tests::Random;

    const PAGE: usize = 4096;
    const PAGES: usize = 48;

    /// What is in the list, as (start, count).
    fn list(ranges: &Ranges) -> Vec<(usize, usize)> {
        let all = ranges.boundaries.chunks.iter().flatten();
        all.map(|boundary| (boundary.start, boundary.count)).collect()
    }

    fn span(first: usize, last: usize) -> Span {
        Span { first, last }
    }

    #[test]
    fn spans_are_rounded_out_to_pages() {
        let of_pages = Span::of_pages;
        assert_eq!(of_pages(0x1000, 1, PAGE), Some(span(0x1000, 0x1fff)));
        assert_eq!(of_pages(0x1001, 0xfff, PAGE), Some(span(0x1000, 0x1fff)));
        assert_eq!(of_pages(0x1fff, 2, PAGE), Some(span(0x1000, 0x2fff)));
        assert_eq!(of_pages(1, usize::MAX, PAGE), Some(span(0, usize::MAX)));
        assert_eq!(of_pages(0x20_0001, 1, 0x20_0000), Some(span(0x20_0000, 0x3f_ffff)));
        assert_eq!(of_pages(usize::MAX, 1, PAGE), Some(span(usize::MAX - 4095, usize::MAX)));
        assert_eq!(of_pages(usize::MAX, 2, PAGE), None);
        assert_eq!(of_pages(2, usize::MAX, PAGE), None);
        assert_eq!(of_pages(0x1000, 0, PAGE), None);
        assert_eq!(span(0x1000, 0x2fff).length(), 0x2000);
        assert_eq!(span(0, usize::MAX).length(), usize::MAX);
    }

    #[test]
    fn only_changes_between_0_and_1_reach_the_kernel() {
        let mut ranges = Ranges::new().unwrap();
        let mut advices = Vec::new();
        let mut exclude = |ranges: &mut Ranges, first, last| {
            advices.clear();
            let advise = |span, advice| {
                advices.push((span, advice));
                Ok(())
            };
            ranges.exclude(span(first, last), advise).unwrap();
            advices.clone()
        };
        let dont = Advice::DontFork;
        assert_eq!(exclude(&mut ranges, 0x2000, 0x3fff), [(span(0x2000, 0x3fff), dont)]);
        assert_eq!(exclude(&mut ranges, 0x3000, 0x3fff), []);
        assert_eq!(
            exclude(&mut ranges, 0x1000, 0x4fff),
            [(span(0x1000, 0x1fff), dont), (span(0x4000, 0x4fff), dont)]
        );
        assert_eq!(
            list(&ranges),
            [(0, 0), (0x1000, 1), (0x2000, 2), (0x3000, 3), (0x4000, 1), (0x5000, 0)]
        );
        let mut advices = Vec::new();
        let mut include = |ranges: &mut Ranges, first, last| {
            advices.clear();
            let advise = |span, advice| {
                advices.push((span, advice));
                // A failure of this advice changes nothing.
                Err(Errno::EINVAL)
            };
            ranges.include(span(first, last), advise).unwrap();
            advices.clone()
        };
        let dofork = Advice::DoFork;
        assert_eq!(
            include(&mut ranges, 0x1000, 0x4fff),
            [(span(0x1000, 0x1fff), dofork), (span(0x4000, 0x4fff), dofork)]
        );
        assert_eq!(include(&mut ranges, 0x3000, 0x3fff), []);
        // Beyond what was excluded, nothing happens.
        assert_eq!(include(&mut ranges, 0, usize::MAX), [(span(0x2000, 0x3fff), dofork)]);
        assert_eq!(list(&ranges), [(0, 0)]);
    }

    #[test]
    fn a_failure_undoes_what_was_done() {
        let mut ranges = Ranges::new().unwrap();
        ranges.exclude(span(0x2000, 0x2fff), |_, _| Ok(())).unwrap();
        let before = list(&ranges);
        let mut advices = Vec::new();
        let result = ranges.exclude(span(0x1000, 0x3fff), |span, advice| {
            advices.push((span, advice));
            if span.first == 0x3000 && advice == Advice::DontFork {
                Err(Errno::ENOMEM)
            } else {
                Ok(())
            }
        });
        assert_eq!(result, Err(Errno::ENOMEM));
        assert_eq!(list(&ranges), before);
        let (low, high) = (span(0x1000, 0x1fff), span(0x3000, 0x3fff));
        assert_eq!(
            advices,
            [
                (low, Advice::DontFork),
                (high, Advice::DontFork),
                (high, Advice::DoFork),
                (low, Advice::DoFork),
            ]
        );
    }

    /// Counting page by page, and the advice in force for each page.
    struct Model {
        base: usize,
        counts: [usize; PAGES],
        excluded: [bool; PAGES],
    }

    impl Model {
        fn pages(&self, span: Span) -> core::ops::RangeInclusive<usize> {
            (span.first - self.base) / PAGE..=(span.last - self.base) / PAGE
        }
    }

    /// Random calls, some of which fail, compared with the model. `base` is where the model's
    /// pages lie in the address space.
    fn compare_with_model(base: usize, seed: u64) {
        let mut random = Random::new(seed);
        let mut model = Model { base, counts: [0; PAGES], excluded: [false; PAGES] };
        let mut ranges = Ranges::new().unwrap();
        let mut failures = 0;
        for round in 0..1000 {
            let first = random.below(PAGES);
            let longest = 1 + random.below(PAGES);
            let last = first + random.below(longest.min(PAGES - first));
            let span = span(base + first * PAGE, base + (last * PAGE + (PAGE - 1)));
            // Counts stay low, so that pages change often.
            let exclude = random.below(5) < 2;
            // The page whose exclusion fails, mostly outside of the span.
            let bad = random.below(PAGES);
            let mut excluded = model.excluded;
            let advise = |part: Span, advice| {
                assert!(part.first >= span.first && part.last <= span.last);
                for page in model.pages(part) {
                    if advice == Advice::DontFork && page == bad {
                        return Err(Errno::EIO);
                    }
                    excluded[page] = advice == Advice::DontFork;
                }
                Ok(())
            };
            let result =
                if exclude { ranges.exclude(span, advise) } else { ranges.include(span, advise) };
            let must_fail = exclude && (first..=last).contains(&bad) && model.counts[bad] == 0;
            assert_eq!(result.is_err(), must_fail, "seed {seed} round {round}");
            failures += usize::from(must_fail);
            model.excluded = excluded;
            if !must_fail {
                for count in &mut model.counts[first..=last] {
                    *count = if exclude { *count + 1 } else { count.saturating_sub(1) };
                }
            }
            for (page, &count) in model.counts.iter().enumerate() {
                let address = base + page * PAGE;
                assert_eq!(ranges.boundaries.look_up(address).0, count, "seed {seed}");
                assert_eq!(model.excluded[page], count > 0, "seed {seed} page {page}");
            }
            let list = list(&ranges);
            assert!(list.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 != w[1].1), "{list:x?}");
            assert_eq!(list.first().map(|boundary| boundary.0), Some(0));
        }
        assert!(failures > 10, "the failures are tested too");
    }

    #[test]
    fn counts_are_those_of_a_page_by_page_model() {
        for seed in 0..3 {
            compare_with_model(0, seed);
            compare_with_model(0x7000_0000, seed);
            compare_with_model(usize::MAX - (PAGES * PAGE - 1), seed);
        }
    }

    #[test]
    fn long_lists_are_kept_in_chunks() {
        let mut ranges = Ranges::new().unwrap();
        let number = 5000;
        let place = |i: usize| span(i * 2 * PAGE + PAGE, i * 2 * PAGE + 2 * PAGE - 1);
        let mut order: Vec<usize> = (0..number).collect();
        let mut random = Random::new(1);
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        for &i in &order {
            ranges.exclude(place(i), |_, _| Ok(())).unwrap();
        }
        assert_eq!(list(&ranges).len(), 2 * number + 1);
        assert!(ranges.boundaries.chunks.len() > 2 * number / CHUNK);
        assert!(ranges.boundaries.chunks.iter().all(|chunk| chunk.capacity() == CHUNK));
        for &i in &order {
            ranges.include(place(i), |_, _| Ok(())).unwrap();
        }
        assert_eq!(list(&ranges), [(0, 0)]);
        assert_eq!(ranges.boundaries.chunks.len(), 1);
    }
}
