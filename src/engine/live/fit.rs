//! Filters within the length of an address: a long list of values is split over several requests, a long condition is
//! left to be decided here.

use super::filters::{Asked, Widening, present};
use crate::postgrest::{Filter, encoded_bytes};

/// Bytes a filter takes of an address. One that can't be written takes none; sending it is refused.
fn length(filter: &Filter) -> usize {
    filter.parameters().map_or(0, |parameters| encoded_bytes(&parameters))
}

fn column_of(filter: &Filter) -> Option<&str> {
    match filter {
        Filter::Compare { column, .. } | Filter::In { column, .. } | Filter::IsNull { column } => {
            Some(column)
        }
        Filter::Not(inner) => column_of(inner),
        Filter::And(parts) | Filter::Or(parts) => parts.first().and_then(column_of),
    }
}

/// Fits the filters into `budget` bytes a request: the filters of each, and why they let more through, if they do.
pub(super) fn fit(mut asked: Vec<Asked>, budget: usize) -> (Vec<Vec<Filter>>, Option<Widening>) {
    let total = |asked: &[Asked]| asked.iter().map(|one| length(&one.filter)).sum::<usize>();
    let mut split = None;
    while total(&asked) > budget {
        let longest_list = (0..asked.len())
            .filter(|at| asked.get(*at).is_some_and(|one| matches!(one.filter, Filter::In { .. })))
            .max_by_key(|at| asked.get(*at).map_or(0, |one| length(&one.filter)));
        let rest = |at: usize| total(&asked) - asked.get(at).map_or(0, |one| length(&one.filter));
        // Worth it while the other conditions leave a list room.
        if let Some(at) = longest_list.filter(|at| rest(*at) <= budget / 2) {
            split = Some((at, budget - rest(at)));
            break;
        }
        // Else the longest one that can be shortened is decided here.
        let shortened = asked
            .iter_mut()
            .filter_map(|one| {
                let shorter = present(column_of(&one.filter)?);
                let (before, after) = (length(&one.filter), length(&shorter));
                (before > after).then_some((before - after, one, shorter))
            })
            .max_by_key(|(saved, ..)| *saved);
        match shortened {
            Some((_, one, shorter)) => *one = Asked { filter: shorter, widened: Some(Widening::TooLong) },
            None => break,
        }
    }
    let widened = asked.iter().find_map(|one| one.widened);
    let filters: Vec<Filter> = asked.into_iter().map(|one| one.filter).collect();
    let chunks = match split {
        Some((at, room)) => split_list(&filters, at, room),
        None => vec![filters],
    };
    (chunks, widened)
}

/// The filters with the list at `at` cut into lists of at most `room` bytes.
fn split_list(filters: &[Filter], at: usize, room: usize) -> Vec<Vec<Filter>> {
    let Some(Filter::In { column, values }) = filters.get(at) else { return vec![filters.to_vec()] };
    let list = |values: &[String]| Filter::In { column: column.clone(), values: values.to_vec() };
    let mut lists: Vec<Vec<String>> = Vec::new();
    for value in values {
        match lists.last_mut() {
            Some(last) => {
                last.push(value.clone());
                if length(&list(last)) > room && last.len() > 1 {
                    last.pop();
                    lists.push(vec![value.clone()]);
                }
            }
            None => lists.push(vec![value.clone()]),
        }
    }
    lists
        .into_iter()
        .map(|values| {
            let mut filters = filters.to_vec();
            if let Some(slot) = filters.get_mut(at) {
                *slot = list(&values);
            }
            filters
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgrest::Operator;

    fn asked(filter: Filter) -> Asked {
        Asked { filter, widened: None }
    }

    fn list(column: &str, values: usize) -> Filter {
        let values = (0..values).map(|n| format!("value {n}")).collect();
        Filter::In { column: column.to_owned(), values }
    }

    #[test]
    fn a_long_list_is_cut_and_loses_no_value() {
        let short = Filter::compare("b", Operator::Eq, "x");
        let (chunks, widened) = fit(vec![asked(short.clone()), asked(list("a", 400))], 1_000);
        assert_eq!(widened, None);
        assert!(chunks.len() > 5);
        let mut values = Vec::new();
        for chunk in &chunks {
            assert!(chunk.iter().map(length).sum::<usize>() <= 1_000);
            assert_eq!(chunk[0], short);
            let Filter::In { values: some, .. } = &chunk[1] else { panic!("{chunk:?}") };
            values.extend(some.clone());
        }
        assert_eq!(Filter::In { column: "a".to_owned(), values }, list("a", 400));
    }

    #[test]
    fn of_two_long_conditions_one_is_decided_here() {
        let long = Filter::compare("b", Operator::Eq, "é".repeat(500));
        let (chunks, widened) = fit(vec![asked(long), asked(list("a", 400))], 1_000);
        assert_eq!(widened, Some(Widening::TooLong));
        assert!(chunks.iter().all(|chunk| chunk[0] == present("b")));
        let (_, widened) = fit(vec![asked(list("a", 400)), asked(list("b", 300))], 1_000);
        assert_eq!(widened, Some(Widening::TooLong));
        let (chunks, widened) = fit(vec![asked(list("a", 4)), asked(list("b", 3))], 1_000);
        assert_eq!((widened, chunks.len()), (None, 1));
    }
}
