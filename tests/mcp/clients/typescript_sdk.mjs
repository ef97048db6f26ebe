// Real MCP clients, both generations of the TypeScript SDK, against this server over stdio.
//
//   node typescript_sdk.mjs BIN [ARGS...]      e.g. ... target/debug/benthic-mirror serve --demo
//
// What the Python client asks is not repeated: here it matters that these SDKs compile every output schema and check
// every answer against it, and that a language whose only number is a double gets exact values. Ends with "OK" and exit
// code 0, or with the first assertion that fails.

import assert from "node:assert/strict";

const [command, ...rest] = process.argv.slice(2);
if (!command) {
  console.error("usage: node typescript_sdk.mjs BIN [ARGS...]");
  process.exit(64);
}
const args = rest.length ? rest : ["serve", "--demo"];
const self = { name: "benthic-mirror tests", version: "1" };

const clients = {
  "sdk 1": async () => {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    return [new Client(self), new StdioClientTransport({ command, args })];
  },
  "client 2, legacy": () => second("legacy"),
  "client 2, auto": () => second("auto"),
  "client 2, 2026-07-28": () => second({ pin: "2026-07-28" }),
};

async function second(mode) {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  return [new Client(self, { versionNegotiation: { mode } }), new StdioClientTransport({ command, args })];
}

async function check(client) {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ["benthic_discover", "benthic_query", "benthic_join", "benthic_rpc"],
  );
  for (const tool of tools) {
    assert.ok(tool.outputSchema && tool.annotations.readOnlyHint, tool.name);
  }

  const call = async (name, input) => client.callTool({ name, arguments: input });
  const answer = async (name, input) => {
    const result = await call(name, input);
    assert.ok(!result.isError, `${name} ${JSON.stringify(input)}: ${JSON.stringify(result.content)}`);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    return result.structuredContent;
  };
  const query = (input) => answer("benthic_query", { question: "as asked", ...input });

  const found = await answer("benthic_discover", { query: "nonprofit organizations" });
  assert.ok(found.relations.some((relation) => relation.source === "irs_ng.bmf_organizations"));

  // A double can't hold this value, so it comes as text; it is the same text everywhere and can be sent back.
  const source = "irs_ng.bmf_organizations";
  const column = "f990_total_assets_recent";
  const { rows: [largest] } = await query({ source, metrics: [`largest=max:${column}`] });
  assert.equal(typeof largest.largest, "string");
  const digits = BigInt(largest.largest);
  assert.notEqual(BigInt(Number(digits)), digits, "the demo should hold a number no double holds");
  const held = await query({ source, select: ["ein", column], where: [`${column}=eq.${largest.largest}`] });
  assert.deepEqual(held.rows.map((row) => row[column]), [largest.largest]);
  const above = await query({ source, metrics: ["n=count:*"], where: [`${column}=gt.${digits - 1n}`] });
  assert.equal(above.rows[0].n, 1, "the neighbour a double would confuse it with is another number");

  const joined = await answer("benthic_join", {
    question: "Whose terms are these?",
    left_source: "usp_cl.legislators",
    right_source: "usp_cl.legislator_terms",
    right_where: ["state=eq.VT"],
    limit: 1000,
  });
  const counted = await query({ source: "usp_cl.legislator_terms", metrics: ["n=count:*"], where: ["state=eq.VT"] });
  assert.equal(joined.row_count, counted.rows[0].n);

  const district = await answer("benthic_rpc", { operation: "find_district", lat: 39.7392, lon: -104.9903 });
  assert.equal(district.rows[0].statename, "Colorado");

  // A refusal is a result a model can read; a tool that doesn't exist is a mistake of the client's.
  const refused = await call("benthic_query", {
    question: "What is the total by state?",
    source: "usaspending.all_entities",
    group_by: ["state"],
    metrics: ["total=sum:total_obligation"],
  });
  assert.equal(refused.isError, true);
  assert.equal(refused.structuredContent.error.code, "no_primary_key");
  assert.equal(refused.structuredContent.error.terminal, true);
  await assert.rejects(call("benthic_sql", {}), /benthic_sql/);
}

for (const [name, make] of Object.entries(clients)) {
  const [client, transport] = await make();
  await client.connect(transport);
  await check(client);
  await client.close();
  console.log(`${name}: all answers agree`);
}
console.log("OK");
