//! Which rows of the result are asked for: `limit`, `offset` and the `Range` header.

use super::answer::ApiError;

/// First row and the number wanted, before the page cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) offset: u64,
    /// `None`: as many as there are.
    pub(super) limit: Option<u64>,
}

fn unsatisfiable(details: &str) -> ApiError {
    ApiError::new(416, "PGRST103", "Requested range not satisfiable").details(details)
}

/// Works on inclusive intervals as PostgREST does (items 16 to 19), which explains the odd cases: a negative offset
/// shortens the page, `limit=0` is an empty page only at offset 0.
pub(super) fn window(limits: &[&str], offsets: &[&str], range: Option<&str>) -> Result<Window, ApiError> {
    let number = |texts: &[&str]| texts.last().and_then(|text| text.trim().parse::<i128>().ok());
    let (mut limit, offset) = (number(limits), number(offsets));
    if !limits.is_empty() && !offsets.is_empty() {
        // A limit that is no number is ignored alone, but counts as 0 beside an offset.
        limit = limit.or(Some(0));
    }
    let low = offset.unwrap_or(0);
    let high: Option<i128> = limit.map(|limit| low.saturating_add(limit).saturating_sub(1));
    if high == Some(-1) {
        return Ok(Window { offset: 0, limit: Some(0) });
    }
    let (header_low, header_high) = range.and_then(header).unwrap_or((0, None));
    if header_high.is_some_and(|high| high < header_low) {
        return Err(unsatisfiable(
            "The lower boundary must be lower than or equal to the upper boundary in the Range header.",
        ));
    }
    let first = low.max(header_low);
    let last = match (high, header_high) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    };
    if high.is_some_and(|high| high < low) || last.is_some_and(|last| first > last) {
        return Err(unsatisfiable("Limit should be greater than or equal to zero."));
    }
    let unsigned = |value: i128| u64::try_from(value).unwrap_or(if value < 0 { 0 } else { u64::MAX });
    Ok(Window { offset: unsigned(first), limit: last.map(|last| unsigned(last - first + 1)) })
}

/// `0-24` or `10-`; anything else (`bytes=…` too) is ignored.
fn header(text: &str) -> Option<(i128, Option<i128>)> {
    let (low, high) = text.split_once('-')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if low.is_empty() || !digits(low) || !digits(high) {
        return None;
    }
    let high = if high.is_empty() { None } else { Some(high.parse().ok()?) };
    Some((low.parse().ok()?, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_offsets_and_ranges() {
        let ok = |limits: &[&str], offsets: &[&str], range| {
            let window = window(limits, offsets, range).unwrap();
            (window.offset, window.limit)
        };
        assert_eq!(ok(&[], &[], None), (0, None));
        assert_eq!(ok(&["5"], &[], None), (0, Some(5)));
        assert_eq!(ok(&["9", "5"], &["1", "2"], None), (2, Some(5)), "the last one counts");
        assert_eq!(ok(&["0"], &[], None), (0, Some(0)));
        assert_eq!(ok(&["abc"], &[], None), (0, None));
        assert_eq!(ok(&["10"], &["-4"], None), (0, Some(6)));
        assert_eq!(ok(&[], &["-4"], None), (0, None));
        assert_eq!(ok(&["3"], &[], Some("0-1")), (0, Some(2)));
        assert_eq!(ok(&[], &[], Some("2490-")), (2490, None));
        assert_eq!(ok(&[], &[], Some("bytes=0-1")), (0, None));
        for (limits, offsets, range) in [
            (vec!["-1"], vec![], None),
            (vec!["0"], vec!["5"], None),
            (vec!["x"], vec!["5"], None),
            (vec![], vec![], Some("1-0")),
        ] {
            assert_eq!(
                window(&limits, &offsets, range).unwrap_err().code,
                "PGRST103",
                "{limits:?} {offsets:?} {range:?}"
            );
        }
    }
}
