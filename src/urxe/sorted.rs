//! A map as a sorted list: for few entries, or for those that come in order.

/// Pairs in the order of their first parts, each of which is there once.
pub(crate) struct Sorted<K, V>(Vec<(K, V)>);

impl<K: Ord + Copy, V> Sorted<K, V> {
    pub(crate) const fn new() -> Sorted<K, V> {
        Sorted(Vec::new())
    }

    fn place(&self, key: K) -> Result<usize, usize> {
        self.0.binary_search_by(|pair| pair.0.cmp(&key))
    }

    /// Adds an entry, unless there is one for the key.
    pub(crate) fn insert(&mut self, key: K, value: V) -> bool {
        let place = self.place(key);
        if let Err(place) = place {
            self.0.insert(place, (key, value));
        }
        place.is_err()
    }

    /// The value of a key, which is made if there is none.
    pub(crate) fn entry(&mut self, key: K, value: V) -> &mut V {
        let place = match self.place(key) {
            Ok(place) => place,
            Err(place) => {
                self.0.insert(place, (key, value));
                place
            }
        };
        &mut self.0[place].1
    }

    /// Takes out the value of a key.
    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        Some(self.0.remove(self.place(key).ok()?).1)
    }

    /// The value of a key.
    pub(crate) fn get(&mut self, key: K) -> Option<&mut V> {
        let place = self.place(key).ok()?;
        self.0.get_mut(place).map(|pair| &mut pair.1)
    }

    pub(crate) fn contains(&self, key: K) -> bool {
        self.place(key).is_ok()
    }

    /// The entry with the greatest key that is not above this one.
    pub(crate) fn floor(&self, key: K) -> Option<&(K, V)> {
        match self.place(key) {
            Ok(place) => self.0.get(place),
            Err(place) => self.0.get(place.checked_sub(1)?),
        }
    }

    /// All entries in order.
    pub(crate) fn iter(&self) -> core::slice::Iter<'_, (K, V)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_order_and_there_once() {
        let mut map = Sorted::new();
        assert!(map.insert(5, 'a') && map.insert(1, 'b') && map.insert(9, 'c'));
        assert!(!map.insert(5, 'x'));
        *map.entry(1, 'x') = 'd';
        assert_eq!(*map.entry(7, 'e'), 'e');
        assert_eq!(
            map.iter().copied().collect::<Vec<_>>(),
            [(1, 'd'), (5, 'a'), (7, 'e'), (9, 'c')]
        );
        let floor = |key| map.floor(key).copied();
        assert_eq!([floor(0), floor(1), floor(8)], [None, Some((1, 'd')), Some((7, 'e'))]);
        assert!(map.contains(9) && !map.contains(8));
        assert_eq!((map.remove(9), map.remove(9)), (Some('c'), None));
    }
}
