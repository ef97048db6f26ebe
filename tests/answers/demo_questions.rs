//! The demo's own questions: each answer equals a plain fold over the generated rows.

use benthic_mirror::app::AppError;
use benthic_mirror::demo;
use benthic_mirror::demo::questions::{Expected, Tool, questions};

use crate::harness::{block, fixture, rows};

#[test]
fn every_demo_answer_equals_a_plain_computation() {
    let asked = questions(demo::data());
    assert_eq!(asked.len(), 9, "{:?}", asked.iter().map(|q| &q.asked).collect::<Vec<_>>());
    for question in asked {
        let mirror = &fixture().mirror;
        let arguments = question.arguments.clone();
        let answer = block(async {
            match question.tool {
                Tool::Query => mirror.query(arguments).await,
                Tool::Join => mirror.join(arguments).await,
                Tool::Rpc => mirror.rpc(arguments).await,
            }
        });
        match (&question.expected, answer) {
            (Expected::Refusal(code), Err(AppError::Refused(refusal))) => {
                assert_eq!(refusal.code.as_str(), *code)
            }
            (expected @ Expected::Rows(wanted), Ok(answer)) => {
                assert!(!wanted.is_empty(), "{} expects nothing", question.asked);
                assert!(expected.matches_rows(rows(&answer)), "{}\n{wanted:#?}\n{answer:#}", question.asked);
            }
            (expected, answer) => panic!("{}: {expected:?} but {answer:?}", question.asked),
        }
    }
}
