//! The real binary over stdio, spoken to in raw JSON-RPC: both protocol generations, refusals, hostile lines, the end.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// How long any one answer may take before the server counts as hung; far beyond what a loaded machine needs.
const PATIENCE: Duration = Duration::from_secs(180);
const TOOLS: [&str; 4] = ["benthic_discover", "benthic_query", "benthic_join", "benthic_rpc"];
const UNKNOWN_METHOD: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// Which lifecycle a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Generation {
    /// 2025-11-25: initialize, then requests.
    Session,
    /// 2026-07-28: every request carries its context.
    Stateless,
}

/// A running `serve --demo`.
struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Option<JoinHandle<String>>,
    generation: Generation,
    next_id: u64,
    /// Responses read while another one was waited for.
    early: HashMap<String, Value>,
}

impl Server {
    fn start(generation: Generation, flags: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_benthic-mirror"))
            .args(flags)
            .args(["serve", "--demo"])
            .env_remove("BENTHIC_LOG")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        std::thread::spawn(move || {
            for line in stdout.split(b'\n') {
                let line = String::from_utf8(line.expect("stdout")).expect("stdout is UTF-8");
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        // Read all along: a full pipe would stop the server.
        let mut stderr = child.stderr.take().expect("stderr");
        let log = std::thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).expect("stderr");
            String::from_utf8_lossy(&text).into_owned()
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, log: Some(log), generation, next_id: 0, early: HashMap::new() }
    }

    fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).expect("the server reads");
        stdin.flush().expect("the server reads");
    }

    fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a request and returns its id without waiting.
    fn begin(&mut self, method: &str, mut params: Value) -> Value {
        self.next_id += 1;
        // Ids of both kinds are legal.
        let id = if self.next_id.is_multiple_of(2) {
            json!(self.next_id)
        } else {
            json!(format!("id {}", self.next_id))
        };
        if self.generation == Generation::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message; everything on stdout must be one.
    fn read(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("the server answers");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("stdout holds {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "stdout holds {line}");
        message
    }

    /// The response to a request, whatever comes first.
    fn response(&mut self, id: &Value) -> Value {
        loop {
            if let Some(response) = self.early.remove(&id.to_string()) {
                return response;
            }
            let message = self.read();
            if message.get("method").is_none() {
                self.early.insert(message["id"].to_string(), message);
            }
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.response(&id)
    }

    fn result(&mut self, method: &str, params: Value) -> Value {
        let response = self.request(method, params.clone());
        assert!(response.get("error").is_none(), "{method} {params}: {response}");
        response["result"].clone()
    }

    fn begin_call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// A tool's result, which must not be an error.
    fn answer(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_ne!(result["isError"], true, "{tool} {arguments}: {result}");
        let text = result["content"][0]["text"].as_str().expect("text");
        let parsed: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(parsed, result["structuredContent"], "{tool} {arguments}");
        parsed
    }

    /// The refusal of a call.
    fn refusal(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
        let error = result["structuredContent"]["error"].clone();
        let text = result["content"][0]["text"].as_str().expect("text");
        assert!(text.contains(error["message"].as_str().expect("a message")), "{text}\n{error}");
        assert!(error["facts"].is_object() && error["terminal"].is_boolean(), "{error}");
        assert!(error["terminal"] == true || error["next_step"].is_string(), "{error}");
        error
    }

    /// Greets the server as the generation asks.
    fn greet(&mut self) {
        match self.generation {
            Generation::Session => {
                let info = self.result(
                    "initialize",
                    json!({
                        "protocolVersion": "2025-11-25",
                        "capabilities": {},
                        "clientInfo": {"name": "raw", "version": "1"},
                    }),
                );
                assert_eq!(info["protocolVersion"], "2025-11-25");
                assert_eq!(info["serverInfo"]["name"], "benthic-mirror");
                assert_eq!(info["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
                assert!(info["capabilities"]["tools"].is_object(), "{info}");
                assert!(info["instructions"].as_str().is_some_and(|text| text.contains("benthic_discover")));
                self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            }
            Generation::Stateless => {
                // Without its context a request is refused, and the server waits for a better one.
                self.send(&json!({"jsonrpc": "2.0", "id": "bare", "method": "tools/list", "params": {}}));
                let response = self.response(&json!("bare"));
                assert_eq!(response["error"]["code"], INVALID_PARAMS, "{response}");
                let info = self.result("server/discover", json!({}));
                let versions = info["supportedVersions"].as_array().expect("versions");
                assert!(versions.contains(&json!("2026-07-28")), "{info}");
            }
        }
    }

    /// Closes stdin; what was still written to stdout, the exit code, and stderr.
    fn end(mut self) -> (Vec<String>, Option<i32>, String) {
        drop(self.stdin.take());
        let rest = self.lines.iter().collect();
        let status = self.child.wait().expect("the server ends");
        let log = self.log.take().expect("log").join().expect("stderr");
        (rest, status.code(), log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves no server behind; one that ended has nothing to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What every client of either generation relies on.
fn check_session(server: &mut Server) {
    let schemas = check_list(server);
    check_answers(server, &schemas);
    check_faults(server);
    check_stray_lines(server);
    check_cancellation(server);
    check_many_calls(server);
}

/// The tools, listed; the compiled output schema of each.
fn check_list(server: &mut Server) -> HashMap<String, jsonschema::Validator> {
    let list = server.result("tools/list", json!({}));
    assert_eq!(server.result("tools/list", json!({})), list, "a list that changes can't be cached");
    let tools = list["tools"].as_array().expect("tools");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, TOOLS);
    let mut schemas = HashMap::new();
    for tool in tools {
        let name = tool["name"].as_str().expect("name");
        assert!(tool["description"].as_str().is_some_and(|text| text.len() > 40), "{name}");
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
        assert_eq!(tool["annotations"]["destructiveHint"], false, "{name}");
        assert_eq!(tool["annotations"]["idempotentHint"], true, "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
        let input = &tool["inputSchema"];
        assert_eq!((&input["type"], &input["additionalProperties"]), (&json!("object"), &json!(false)));
        let text = input.to_string();
        for word in ["$ref", "$defs", "anyOf", "oneOf", "allOf", "\"null\""] {
            assert!(!text.contains(word), "{name}: {word} in {text}");
        }
        for (argument, property) in input["properties"].as_object().expect("properties") {
            assert!(property["description"].is_string(), "{name}.{argument}");
        }
        let output = &tool["outputSchema"];
        assert_eq!(output["type"], "object", "{name}");
        schemas.insert(name.to_owned(), jsonschema::validator_for(output).expect("a schema"));
        // The input schema is one as well, and it turns away what isn't known.
        let input = jsonschema::validator_for(input).expect("a schema");
        assert!(!input.is_valid(&json!({"nonsense": 1})), "{name}");
    }
    schemas
}

/// One answer of each tool, and one refusal.
fn check_answers(server: &mut Server, schemas: &HashMap<String, jsonschema::Validator>) {
    let question = "How many legislators are there?";
    let cases = [
        ("benthic_discover", json!({"query": "who represents a district"}), "relations"),
        ("benthic_discover", json!({"relation": "usp_cl.legislators", "detail": "full"}), "relations"),
        (
            "benthic_query",
            json!({"question": question, "source": "usp_cl.legislators", "metrics": ["n=count:*"]}),
            "rows",
        ),
        (
            "benthic_query",
            json!({"question": "Which?", "source": "usp_cl.legislators", "limit": 2, "select": null}),
            "rows",
        ),
        (
            "benthic_query",
            json!({"question": "How?", "source": "usp_cl.legislators", "limit": 2, "explain": true}),
            "explain",
        ),
        (
            "benthic_join",
            json!({
                "question": "Which terms?", "left_source": "usp_cl.legislators",
                "right_source": "usp_cl.legislator_terms", "left_where": ["gender=eq.F"],
                "right_where": ["state=eq.VT"],
            }),
            "rows",
        ),
        ("benthic_rpc", json!({"operation": "find_district", "lat": 39.7392, "lon": -104.9903}), "rows"),
    ];
    for (tool, arguments, member) in cases {
        let answer = server.answer(tool, arguments.clone());
        if let Err(fault) = schemas[tool].validate(&answer) {
            panic!("{tool} {arguments}: {fault}\n{answer}");
        }
        assert!(answer.get(member).is_some(), "{tool} {arguments}: {answer}");
        if tool != "benthic_discover" {
            assert_eq!(answer["served"]["mode"], "local", "{tool} {arguments}");
        }
    }
    let total = benthic_mirror::demo::relation("usp_cl.legislators").expect("relation").rows.len();
    let counted = server.answer(
        "benthic_query",
        json!({"question": question, "source": "usp_cl.legislators", "metrics": ["n=count:*"]}),
    );
    assert_eq!(counted["rows"], json!([{"n": total}]));
    for (tool, arguments, code) in [
        ("benthic_discover", json!({"dataset": "nope"}), "unknown_dataset"),
        ("benthic_query", json!({"question": "x", "source": "usp_cl.nope"}), "unknown_relation"),
        (
            "benthic_query",
            json!({"question": "x", "source": "usaspending.all_entities", "metrics": ["s=sum:total_obligation"]}),
            "no_primary_key",
        ),
        (
            "benthic_join",
            json!({"question": "x", "left_source": "usp_cl.legislators", "right_source": "irs_ng.bmf_organizations"}),
            "unsigned_join",
        ),
        ("benthic_rpc", json!({"operation": "find_district", "lat": 91, "lon": 0}), "bad_rpc_arguments"),
    ] {
        assert_eq!(server.refusal(tool, arguments)["code"], code);
    }
}

/// Protocol faults are JSON-RPC errors; a model's mistakes are tool results it can learn from.
fn check_faults(server: &mut Server) {
    let unknown = server.request("tools/call", json!({"name": "benthic_sql", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], INVALID_PARAMS, "{unknown}");
    assert!(unknown["error"]["message"].as_str().is_some_and(|text| text.contains("benthic_sql")));
    for method in ["no/such", "resources/list", "prompts/get", "logging/setLevel"] {
        let response = server.request(method, json!({}));
        let code = response["error"]["code"].as_i64();
        assert!(code == Some(UNKNOWN_METHOD) || code == Some(INVALID_PARAMS), "{method}: {response}");
    }
    for arguments in [
        json!({"question": "x", "source": "usp_cl.legislators", "wheres": ["a=eq.1"]}),
        json!({"question": "x", "source": "usp_cl.legislators", "where": "gender=eq.F"}),
        json!({"question": "x", "source": ["usp_cl.legislators"]}),
        json!({"question": "x", "source": "usp_cl.legislators", "limit": 1.5}),
        json!({"question": "x", "source": "usp_cl.legislators", "limit": 1e300}),
        json!({"question": "x", "source": "usp_cl.legislators", "offset": -1}),
        json!({"question": "x"}),
        json!({}),
    ] {
        assert_eq!(server.refusal("benthic_query", arguments.clone())["code"], "bad_argument", "{arguments}");
    }
    // No object at all is a protocol fault or a refusal, never silence.
    for arguments in [json!([1]), json!("usp_cl.legislators"), json!(7)] {
        let response = server.request("tools/call", json!({"name": "benthic_query", "arguments": arguments}));
        assert!(response["error"]["code"].is_i64() || response["result"]["isError"] == true, "{response}");
    }
}

/// Lines that are no messages don't end the session and put nothing on stdout but messages.
fn check_stray_lines(server: &mut Server) {
    for line in [
        &b"\n"[..],
        b"hello\n",
        b"{\n",
        b"[]\n",
        b"null\n",
        b"[1,2,3]\n",
        b"\xff\xfe\x00broken\n",
        b"{\"jsonrpc\":\"2.0\"}\n",
        b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nobody-knows\",\"params\":{}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"nobody asked\",\"result\":{}}\n",
        b"   \r\n",
    ] {
        server.send_bytes(line);
    }
    let deep = format!("{}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    server.send_bytes(deep.as_bytes());
    let answer = server.answer("benthic_query", count("usp_cl.committees"));
    assert_eq!(answer["rows"][0]["n"], rows_of("usp_cl.committees"));
}

fn count(source: &str) -> Value {
    json!({"question": "How many?", "source": source, "metrics": ["n=count:*"]})
}

fn rows_of(source: &str) -> usize {
    benthic_mirror::demo::relation(source).expect("relation").rows.len()
}

/// A cancelled call may be answered or not; the session goes on either way.
fn check_cancellation(server: &mut Server) {
    let slow = json!({"question": "x", "source": "irs_ng.bmf_organizations", "limit": 1000});
    for _ in 0..3 {
        let id = server.begin_call("benthic_query", &slow);
        let params = json!({"requestId": id, "reason": "no longer needed"});
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }
    let params = json!({"requestId": "never begun"});
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    assert_eq!(ask_until_free(server, &count("usp_cl.committees")), rows_of("usp_cl.committees"));
}

/// The count, asked again while the cancelled calls still take the places there are.
fn ask_until_free(server: &mut Server, arguments: &Value) -> usize {
    for _ in 0..1_000 {
        let id = server.begin_call("benthic_query", arguments);
        let response = server.response(&id);
        if let Some(n) = counted(&response) {
            return n;
        }
    }
    panic!("{arguments} stays busy");
}

/// The number in a counting answer; `None` if the server was busy. Anything else fails.
fn counted(response: &Value) -> Option<usize> {
    let result = &response["result"];
    if result["isError"] == true {
        assert_eq!(result["structuredContent"]["error"]["code"], "busy", "{response}");
        return None;
    }
    let n = result["structuredContent"]["rows"][0]["n"].as_u64();
    Some(n.unwrap_or_else(|| panic!("no count in {response}")) as usize)
}

/// Fifty calls at once: each is answered, with its own answer; those turned away as busy are answered when sent again.
fn check_many_calls(server: &mut Server) {
    let sources =
        ["usp_cl.legislators", "usp_cl.committees", "irs_ng.bmf_organizations", "samer.sam_registrations"];
    let mut waiting: Vec<&str> = (0..50).map(|index| sources[index % sources.len()]).collect();
    let mut rounds = 0;
    while !waiting.is_empty() {
        rounds += 1;
        assert!(rounds <= 50, "{} calls stay busy", waiting.len());
        let ids: Vec<Value> =
            waiting.iter().map(|source| server.begin_call("benthic_query", &count(source))).collect();
        let mut busy = Vec::new();
        // In the reverse order, so that order of arrival can't matter.
        for (source, id) in waiting.iter().zip(&ids).rev() {
            match counted(&server.response(id)) {
                Some(n) => assert_eq!(n, rows_of(source), "{source}"),
                None => busy.push(*source),
            }
        }
        assert!(busy.len() < waiting.len(), "nobody was answered");
        waiting = busy;
    }
}

/// The end of stdin ends the server, quietly.
fn check_end(server: Server) -> String {
    let (rest, code, log) = server.end();
    for line in &rest {
        let message: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("stdout holds {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0");
    }
    assert_eq!(code, Some(0), "{log}");
    assert!(!log.contains("panicked"), "{log}");
    log
}

#[test]
fn a_session_of_2025_with_every_log_line_on() {
    let mut server = Server::start(Generation::Session, &["-vv"], &[("BENTHIC_LOG", "trace")]);
    // Before the handshake too, strays are passed over.
    server.send_bytes(b"not json\n\n");
    server.greet();
    assert_eq!(server.result("ping", json!({})), json!({}));
    check_session(&mut server);
    let log = check_end(server);
    assert!(log.contains("TRACE"), "logging was to be on");
}

#[test]
fn stateless_requests_of_2026() {
    let mut server = Server::start(Generation::Stateless, &[], &[]);
    server.greet();
    check_session(&mut server);
    let log = check_end(server);
    // The faults above are warned about; nothing else is said unless asked for.
    assert!(log.lines().all(|line| line.contains(" WARN ")), "{log}");
}

#[test]
fn a_client_that_leaves_at_once_or_asks_for_another_version() {
    let server = Server::start(Generation::Session, &[], &[]);
    let (lines, code, log) = server.end();
    assert_eq!((lines, code), (Vec::new(), Some(0)), "{log}");
    let mut server = Server::start(Generation::Session, &["--verbose"], &[]);
    let client = json!({"name": "old", "version": "1"});
    let params = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": client});
    let info = server.result("initialize", params);
    assert_eq!(info["protocolVersion"], "2025-11-25", "the newest version with a handshake is offered");
    // Leaving in the middle of a line and of a call is leaving.
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    server.begin_call("benthic_query", &count("usp_cl.legislators"));
    server.send_bytes(b"{\"jsonrpc\":");
    check_end(server);
}
