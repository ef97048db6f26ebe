//! The join graph: signed paths seen from one end or between two.

use super::model::{Catalog, JoinEnd, JoinPath};

/// A signed join path seen from one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrientedJoin<'a> {
    /// The path as signed.
    pub path: &'a JoinPath,
    /// The end on the asker's side.
    pub left: &'a JoinEnd,
    /// The other end.
    pub right: &'a JoinEnd,
    /// Whether the path was signed from right to left.
    pub reversed: bool,
}

impl JoinPath {
    /// The path in both directions.
    fn orientations(&self) -> [OrientedJoin<'_>; 2] {
        [
            OrientedJoin { path: self, left: &self.from, right: &self.to, reversed: false },
            OrientedJoin { path: self, left: &self.to, right: &self.from, reversed: true },
        ]
    }
}

impl Catalog {
    /// The signed paths between two sources (`dataset.relation`), oriented from `left` to `right`, in signed order.
    ///
    /// A path from a relation to itself is listed in both directions when both sources are that relation.
    pub fn joins_between(&self, left: &str, right: &str) -> Vec<OrientedJoin<'_>> {
        self.neighbours(left).into_iter().filter(|join| join.right.source() == right).collect()
    }

    /// The signed paths that touch a source, oriented away from it, in signed order.
    pub fn neighbours(&self, source: &str) -> Vec<OrientedJoin<'_>> {
        self.joins
            .iter()
            .flat_map(JoinPath::orientations)
            .filter(|join| join.left.source() == source)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::catalog;

    #[test]
    fn paths_are_oriented_from_the_asking_side() {
        let catalog = catalog(Vec::new(), &[[("d.a", "x"), ("d.b", "y")], [("d.c", "z"), ("d.a", "w")]]);
        let between = catalog.joins_between("d.b", "d.a");
        assert_eq!(between.len(), 1);
        assert_eq!((between[0].left.column.as_str(), between[0].right.column.as_str()), ("y", "x"));
        assert!(between[0].reversed && !catalog.joins_between("d.a", "d.b")[0].reversed);
        let sources: Vec<String> = catalog.neighbours("d.a").iter().map(|join| join.right.source()).collect();
        assert_eq!(sources, ["d.b", "d.c"]);
        assert!(catalog.joins_between("d.b", "d.c").is_empty());
    }

    #[test]
    fn a_path_to_the_same_relation_runs_both_ways() {
        let catalog = catalog(Vec::new(), &[[("d.a", "parent"), ("d.a", "id")]]);
        let columns: Vec<&str> =
            catalog.joins_between("d.a", "d.a").iter().map(|join| join.left.column.as_str()).collect();
        assert_eq!(columns, ["parent", "id"]);
    }
}
