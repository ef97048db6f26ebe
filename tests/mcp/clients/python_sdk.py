"""A real MCP client, the Python SDK, against this server over stdio.

    python_sdk.py BIN [ARGS...]      e.g. python_sdk.py target/debug/benthic-mirror serve --demo

Starts the server once per protocol mode, lists the tools and calls each with questions about the demo catalogue. What
the numbers must be is settled by the Rust tests; here answers must have their documented shape and agree with each
other. Ends with "OK" and exit code 0, or with the first assertion that fails.
"""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters

MODES = ["auto", "legacy", "2026-07-28"]
EXPECTED_TOOLS = {"benthic_discover", "benthic_query", "benthic_join", "benthic_rpc"}
LEGISLATORS = "usp_cl.legislators"
TERMS = "usp_cl.legislator_terms"
NONPROFITS = "irs_ng.bmf_organizations"
START_SECONDS = 120
CALL_SECONDS = 60


async def call(client, tool, **arguments):
    """Calls a tool; its structured content, which must equal the JSON it sent as text."""
    with anyio.fail_after(CALL_SECONDS):
        result = await client.call_tool(tool, arguments)
    assert result.content and result.content[0].type == "text", f"{tool}: no text content"
    structured = result.structured_content
    assert isinstance(structured, dict), f"{tool}: no structured content"
    if not result.is_error:
        assert json.loads(result.content[0].text) == structured, f"{tool}: text and structured content differ"
    return result.is_error, structured


async def answer(client, tool, **arguments):
    is_error, structured = await call(client, tool, **arguments)
    assert not is_error, f"{tool} {arguments} was refused: {structured}"
    return structured


async def refusal(client, tool, code, **arguments):
    is_error, structured = await call(client, tool, **arguments)
    assert is_error, f"{tool} {arguments} was not refused: {structured}"
    error = structured["error"]
    assert error["code"] == code, f"{tool}: refused with {error['code']} instead of {code}"
    assert error["message"] and isinstance(error["facts"], dict), error
    assert error["terminal"] or error["next_step"], f"{tool}: a refusal without a way on: {error}"
    return error


def check_rows(structured, where):
    rows = structured["rows"]
    assert structured["row_count"] == len(rows), f"{where}: row_count isn't the number of rows"
    assert structured["served"]["mode"] == "local", f"{where}: not answered from the store"
    return rows


async def check_tools(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert EXPECTED_TOOLS <= set(tools), f"tools missing: {EXPECTED_TOOLS - set(tools)}"
    for name, tool in tools.items():
        schema = tool.input_schema
        assert tool.description and schema["type"] == "object", name
        assert "$ref" not in json.dumps(schema), f"{name}: input schema isn't flat"
        assert tool.output_schema, f"{name}: no output schema"
        assert tool.annotations is not None and tool.annotations.destructive_hint is False, name
        if name in EXPECTED_TOOLS:
            assert tool.annotations.read_only_hint is True, name


async def check_discover(client):
    found = await answer(client, "benthic_discover", query="legislators and their terms")
    sources = [relation["source"] for relation in found["relations"]]
    assert LEGISLATORS in sources or TERMS in sources, sources
    full = await answer(client, "benthic_discover", relation=LEGISLATORS, detail="full")
    assert [relation["source"] for relation in full["relations"]] == [LEGISLATORS]
    assert "bioguide_id" in [column["name"] for column in full["relations"][0]["columns"]]
    await refusal(client, "benthic_discover", "unknown_relation", relation="usp_cl.no_such_relation")


async def check_query(client):
    counted = await answer(
        client, "benthic_query", question="How many legislators are there?", source=LEGISLATORS, metrics=["n=count:*"]
    )
    [row] = check_rows(counted, "count")
    total = int(row["n"])
    assert total > 0
    # The count must be the number of rows that paging through the relation yields, each key once.
    seen, offset = [], 0
    while True:
        page = await answer(
            client,
            "benthic_query",
            question="List the legislators",
            source=LEGISLATORS,
            select=["bioguide_id", "last_name"],
            limit=500,
            offset=offset,
        )
        rows = check_rows(page, "page")
        seen += [row["bioguide_id"] for row in rows]
        assert page["truncated"] == (len(seen) < total), "truncated is wrong"
        if not page["truncated"]:
            break
        offset = page["next_offset"]
    assert len(seen) == total and len(set(seen)) == total, f"{len(seen)} rows, {len(set(seen))} keys, count {total}"
    assert seen == sorted(seen), "no order given means key order"
    error = await refusal(
        client, "benthic_query", "unknown_column", question="x", source=LEGISLATORS, select=["bioguide"]
    )
    assert "bioguide_id" in json.dumps(error["facts"]), "no candidate for a misspelt column"
    return seen[0]


async def check_join(client, key):
    where = [f"bioguide_id=eq.{key}"]
    joined = await answer(
        client,
        "benthic_join",
        question="Which terms did this legislator serve?",
        left_source=LEGISLATORS,
        right_source=TERMS,
        left_where=where,
    )
    rows = check_rows(joined, "join")
    terms = await answer(
        client, "benthic_query", question="How many terms?", source=TERMS, where=where, metrics=["n=count:*"]
    )
    assert len(rows) == int(terms["rows"][0]["n"]), "the join has another number of rows than its right side"
    for row in rows:
        assert row["left.bioguide_id"] == row["right.bioguide_id"] == key
    await refusal(
        client, "benthic_join", "unsigned_join", question="x", left_source=LEGISLATORS, right_source=NONPROFITS
    )


async def check_rpc(client):
    places = await answer(
        client,
        "benthic_query",
        question="Where is some nonprofit?",
        source=NONPROFITS,
        select=["ein", "latitude", "longitude"],
        where=["is_current=eq.true", "geom_point=not.is.null", "latitude=not.is.null", "longitude=not.is.null"],
        limit=1,
    )
    [place] = check_rows(places, "place")
    lat, lon = float(place["latitude"]), float(place["longitude"])
    nearby = await answer(client, "benthic_rpc", operation="nonprofits_nearby", lat=lat, lon=lon, radius_meters=5000)
    rows = check_rows(nearby, "nearby")
    assert place["ein"] in [row["ein"] for row in rows], "a nonprofit isn't near its own place"
    order = [(row["distance_meters"], row["ein"]) for row in rows]
    assert order == sorted(order) and order[-1][0] <= 5000, "not in order of distance"
    found = await answer(client, "benthic_rpc", operation="find_district", lat=lat, lon=lon, congress=118)
    districts = check_rows(found, "find_district")
    assert len(districts) <= 1
    degrees = {"min_lat": lat, "max_lat": lat, "min_lon": lon, "max_lon": lon}
    boxes = await answer(client, "benthic_rpc", operation="districts_in_bbox", congress=118, **degrees)
    in_box = [row["district_id"] for row in check_rows(boxes, "districts_in_bbox")]
    assert all(row["district_id"] in in_box for row in districts), "a point's district isn't among those around it"
    await refusal(client, "benthic_rpc", "bad_rpc_arguments", operation="find_district", lat=91, lon=0)


async def check(command, arguments, mode):
    server = StdioServerParameters(command=command, args=arguments)
    with anyio.fail_after(START_SECONDS + 10 * CALL_SECONDS):
        async with Client(server, mode=mode) as client:
            # A client that pins the 2026 protocol skips the step in which the server tells its name.
            name = client.server_info.name if client.server_info else "not named"
            assert name, "the server has no name"
            await check_tools(client)
            await check_discover(client)
            key = await check_query(client)
            await check_join(client, key)
            await check_rpc(client)
            print(f"mode {mode}: protocol {client.protocol_version}, server {name}: all answers agree")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    command, arguments = sys.argv[1], sys.argv[2:] or ["serve", "--demo"]
    for mode in MODES:
        anyio.run(check, command, arguments, mode)
    print("OK")


if __name__ == "__main__":
    main()
