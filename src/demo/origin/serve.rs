//! HTTP: a request in, the state's answer out, with the faults that concern the wire.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request, State as Shared};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures::stream::{self, StreamExt};

use super::answer::{Answer, ApiError};
use super::connection::ConnectionSwitch;
use super::fault::Fault;
use super::state::State;

/// The error that ends a body early: the server then drops the connection.
type CutShort = std::io::Error;

/// Answers one request.
pub(super) async fn respond(
    Shared(state): Shared<Arc<State>>,
    ConnectInfo(switch): ConnectInfo<ConnectionSwitch>,
    request: Request,
) -> Result<Response, Infallible> {
    let method = request.method().as_str().to_owned();
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).to_owned();
    let headers: Vec<(String, String)> = request
        .headers()
        .iter()
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    let (token, faults) = state.arrive(&method, &target, &headers);
    for fault in &faults {
        if let Fault::Delay(pause) = fault {
            tokio::time::sleep(*pause).await;
        }
    }
    let mut answer = state.answer(&method, &target, &headers, token, &faults);
    for fault in &faults {
        spoil(&mut answer, fault);
    }
    state.finish(token, answer.status);
    Ok(send(answer, &method, &faults, &switch))
}

/// The faults that change the answer itself.
fn spoil(answer: &mut Answer, fault: &Fault) {
    match fault {
        Fault::Status { status, headers, body } => {
            *answer = Answer {
                status: *status,
                headers: headers.clone(),
                body: body.clone().into_bytes(),
                rows: None,
            };
        }
        Fault::TimeoutAbove { rows } if answer.rows.is_some_and(|held| held > *rows) => {
            *answer =
                ApiError::new(500, "57014", "canceling statement due to statement timeout").into_answer();
        }
        Fault::CutBody { after_bytes } => answer.body.truncate(*after_bytes),
        Fault::Redirect { status, location } => {
            *answer = Answer::html(*status, "redirect");
            answer.set("location", location);
        }
        Fault::ContentType(value) => answer.set("content-type", value),
        Fault::ReplaceBody(body) => answer.body.clone_from(body),
        Fault::Header { name, value: Some(value) } => answer.set(name, value),
        Fault::Header { name, value: None } => {
            answer.headers.retain(|(held, _)| !held.eq_ignore_ascii_case(name))
        }
        Fault::TimeoutAbove { .. }
        | Fault::ResetMidBody { .. }
        | Fault::TruncatedBody { .. }
        | Fault::SlowBody { .. }
        | Fault::Delay(_)
        | Fault::PageCap(_)
        | Fault::MutateRows(_) => {}
    }
}

fn send(answer: Answer, method: &str, faults: &[Fault], switch: &ConnectionSwitch) -> Response {
    let length = answer.body.len();
    let bytes = Bytes::from(answer.body);
    let mut body;
    let mut declared_length = Some(length);
    if method == "HEAD" {
        // Headers as for GET, without a length: a body of unknown size keeps the library from adding one.
        declared_length = None;
        body = Body::from_stream(stream::empty::<Result<Bytes, CutShort>>());
    } else {
        body = Body::from(bytes.clone());
        for fault in faults {
            match fault {
                Fault::ResetMidBody { after_bytes } => {
                    switch.reset_on_close();
                    body = cut_short(&bytes, *after_bytes);
                }
                Fault::TruncatedBody { after_bytes } => body = cut_short(&bytes, *after_bytes),
                Fault::SlowBody { chunk_bytes, pause } => {
                    let pieces: Vec<Bytes> =
                        bytes.chunks((*chunk_bytes).max(1)).map(Bytes::copy_from_slice).collect();
                    let pause = *pause;
                    body = Body::from_stream(stream::iter(pieces).then(move |piece| async move {
                        tokio::time::sleep(pause).await;
                        Ok::<_, CutShort>(piece)
                    }));
                }
                _ => {}
            }
        }
    }
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &answer.headers {
        // A script may name what no header can hold; it is then left out.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value)) {
            response.headers_mut().append(name, value);
        }
    }
    if let Some(length) = declared_length {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    response
}

/// The first bytes, then an error that makes the server drop the connection.
fn cut_short(bytes: &Bytes, after: usize) -> Body {
    let sent = bytes.slice(..after.min(bytes.len()));
    let start = stream::iter([Ok(sent)]);
    // A moment for the first bytes to leave before the connection goes.
    let end = stream::once(async {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        Err(CutShort::other("cut short by the fault script"))
    });
    Body::from_stream(start.chain(end))
}
