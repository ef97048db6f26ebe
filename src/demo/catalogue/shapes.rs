//! The demo's relations as declared: names, columns, native types and nullability follow the real catalogue.

use super::super::relation::{DemoColumn, DemoRelation};

/// A relation as its manifest declares it.
struct Shape {
    dataset: &'static str,
    name: &'static str,
    relation_type: &'static str,
    provenance: &'static str,
    primary_key: &'static [&'static str],
    queryable: bool,
    /// Whether the manifest carries a row count; many real ones don't.
    estimated: bool,
    description: &'static str,
    /// `name native-type;` and so on; `!` marks the columns that are never null.
    columns: &'static str,
}

/// Descriptions and units of single columns: source, column, text, unit.
const COLUMN_NOTES: &[(&str, &str, &str, Option<&str>)] = &[
    ("usaspending.all_entities", "uei", "Unique entity identifier, twelve characters", None),
    ("usaspending.all_entities", "duns", "Nine-digit number used before April 2022, kept as text", None),
    (
        "usaspending.all_entities",
        "congressional_district",
        "Two characters: 00 at large, 90 several, 98 no vote",
        None,
    ),
    ("usaspending.all_entities", "total_obligation", "Sum of obligations over all awards", Some("USD")),
    ("usaspending.mv_district_spending", "total", "Sum of obligations", Some("USD")),
    ("usaspending.rpt.award_search", "total_obligation", "Obligated so far", Some("USD")),
    (
        "usaspending.overall_totals",
        "total_budget_authority",
        "Budget authority of the whole government",
        Some("USD"),
    ),
    (
        "irs_ng.bmf_organizations",
        "ein",
        "Employer identification number, nine characters, leading zeros kept",
        None,
    ),
    ("irs_ng.bmf_organizations", "org_name_current", "Name in the newest record", None),
    ("irs_ng.bmf_organizations", "is_current", "True for the newest record of an organization", None),
    ("irs_ng.form990_details", "total_revenue", "Revenue of the year", Some("USD")),
    ("up_cdmaps.congressional_districts", "district", "0 for an at-large seat", None),
    ("usp_cl.legislator_terms", "district", "House district; 0 at large, null for senators", None),
    ("usp_cl.legislators", "official_full", "Full name as styled officially", None),
];

/// Every relation without rows, dataset by dataset in signed order.
pub(in crate::demo) fn relations() -> Vec<DemoRelation> {
    SHAPES.iter().map(declare).collect()
}

fn declare(shape: &Shape) -> DemoRelation {
    let source = format!("{}.{}", shape.dataset, shape.name);
    let columns = shape.columns.split(';').filter_map(|declaration| {
        let (name, native) = declaration.trim().split_once(' ')?;
        let mut column = match native.strip_suffix(" !") {
            Some(native) => DemoColumn::new(name, native, false),
            None => DemoColumn::new(name, native, true),
        };
        // The real type carries no reference system; the column declares it.
        if native == "geometry" {
            column.srid = Some(4326);
        }
        if let Some((_, _, text, unit)) =
            COLUMN_NOTES.iter().find(|(of, column, ..)| *of == source && *column == name)
        {
            column.description = Some((*text).to_owned());
            column.unit = unit.map(str::to_owned);
        }
        Some(column)
    });
    let mut relation = DemoRelation::new(shape.dataset, shape.name, columns.collect(), shape.primary_key);
    relation.relation_type = shape.relation_type.to_owned();
    relation.provenance = shape.provenance.to_owned();
    relation.queryable = shape.queryable;
    relation.description = Some(shape.description.to_owned());
    // The count itself is filled in once the rows exist.
    relation.row_count_estimate = shape.estimated.then_some(0);
    relation
}

const SHAPES: &[Shape] = &[
    Shape {
        dataset: "usaspending",
        name: "all_entities",
        relation_type: "materialized_view",
        provenance: "recovered",
        primary_key: &[],
        queryable: true,
        estimated: false,
        description: "Every recipient of federal money, geocoded where its address could be placed.",
        columns: "
            entity_id bigint; entity_type text; recipient_hash uuid; legal_business_name text; duns text; uei text;
            parent_uei text; address_line_1 text; address_line_2 text; city text; state text; zip5 text; zip4 text;
            country_code text; congressional_district text; latitude numeric; longitude numeric; geom_point geometry;
            is_geocoded boolean; geohash_6 text; award_count bigint; total_obligation numeric; date_first_award date;
            date_last_award date; prime_subaward_count bigint; prime_subaward_amount numeric;
            subaward_received_count bigint; subaward_received_amount numeric;
        ",
    },
    Shape {
        dataset: "usaspending",
        name: "state_data",
        relation_type: "table",
        provenance: "upstream",
        primary_key: &[],
        queryable: true,
        estimated: true,
        description: "Population and median household income of each state by year.",
        columns: "
            id text !; fips text !; code text !; name text !; type text !; year integer !; population bigint;
            pop_source text; median_household_income numeric; mhi_source text;
        ",
    },
    Shape {
        dataset: "usaspending",
        name: "overall_totals",
        relation_type: "table",
        provenance: "upstream",
        primary_key: &[],
        queryable: true,
        estimated: true,
        description: "Total budget authority of the government by fiscal year.",
        columns: "
            id integer !; create_date timestamp with time zone; update_date timestamp with time zone;
            fiscal_year integer; total_budget_authority numeric;
        ",
    },
    Shape {
        dataset: "usaspending",
        name: "reporting_agency_overview",
        relation_type: "table",
        provenance: "upstream",
        primary_key: &[],
        queryable: true,
        estimated: false,
        description: "What each agency reported in each fiscal period, without its name: toptier codes only.",
        columns: "
            reporting_agency_overview_id integer !; toptier_code text !; fiscal_year integer !; fiscal_period integer !;
            total_dollars_obligated_gtas numeric; total_budgetary_resources numeric;
            total_diff_approp_ocpa_obligated_amounts numeric; unlinked_procurement_c_awards integer;
            unlinked_assistance_c_awards integer; unlinked_procurement_d_awards integer;
            unlinked_assistance_d_awards integer; linked_procurement_awards integer; linked_assistance_awards integer;
        ",
    },
    Shape {
        dataset: "usaspending",
        name: "vw_published_dabs_toptier_agency",
        relation_type: "view",
        provenance: "upstream",
        primary_key: &[],
        queryable: true,
        estimated: true,
        description: "Agencies that publish, with toptier code, name and abbreviation.",
        columns: "
            toptier_code text; name text; abbreviation text; toptier_agency_id integer; agency_id integer;
            user_selectable boolean;
        ",
    },
    Shape {
        dataset: "usaspending",
        name: "mv_district_spending",
        relation_type: "materialized_view",
        provenance: "derived",
        primary_key: &["state", "district", "fiscal_year"],
        queryable: true,
        estimated: false,
        description: "Obligations summed by recipient state, congressional district and fiscal year.",
        columns: "
            state text !; district text !; fiscal_year integer !; award_count bigint; total numeric(23,2);
        ",
    },
    Shape {
        dataset: "usaspending",
        name: "rpt.award_search",
        relation_type: "table",
        provenance: "upstream",
        primary_key: &["award_id"],
        queryable: true,
        estimated: false,
        description: "One row for each prime award, with recipient, place of performance and amounts.",
        columns: "
            award_id bigint !; generated_unique_award_id text; display_award_id text; category text; type text;
            type_description text; fiscal_year integer; action_date date; award_amount numeric(23,2);
            total_obligation numeric(23,2); total_outlays numeric(23,2); recipient_hash uuid; recipient_name text;
            recipient_uei text; recipient_location_state_code text; recipient_location_congressional_code text;
            pop_state_code text; pop_congressional_code text; awarding_toptier_agency_code text; naics_code text;
            business_categories text[]; is_fpds boolean; update_date timestamp with time zone;
        ",
    },
    Shape {
        dataset: "usaspending",
        name: "uei_crosswalk",
        relation_type: "table",
        provenance: "upstream",
        primary_key: &[],
        queryable: true,
        estimated: false,
        description: "Nine-digit DUNS numbers and the unique entity identifiers that replaced them.",
        columns: "
            id integer !; awardee_or_recipient_uniqu text; uei text;
        ",
    },
    Shape {
        dataset: "usaspending",
        name: "submission_attributes",
        relation_type: "table",
        provenance: "upstream",
        primary_key: &[],
        queryable: true,
        estimated: true,
        description: "Agency submissions with their reporting periods and publication history.",
        columns: "
            submission_id integer !; certified_date timestamp with time zone; toptier_code text;
            reporting_period_start date; reporting_period_end date; reporting_fiscal_year integer;
            reporting_fiscal_quarter integer; reporting_fiscal_period integer; quarter_format_flag boolean !;
            create_date timestamp with time zone; update_date timestamp with time zone; reporting_agency_name text;
            published_date timestamp with time zone; is_final_balances_for_fy boolean !; submission_window_id integer !;
            history jsonb;
        ",
    },
    Shape {
        dataset: "irs_ng",
        name: "bmf_organizations",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["id"],
        queryable: true,
        estimated: true,
        description: "Tax-exempt organizations from the business master file; one current record each, older ones kept.",
        columns: "
            id integer !; ein character varying(20); ein2 character varying(100); ntee_irs character varying(10);
            ntee_nccs character varying(10); nteev2 character varying(100); nccs_level_1 character varying(100);
            nccs_level_2 character varying(10); nccs_level_3 character varying(10); f990_total_revenue_recent bigint;
            f990_total_income_recent bigint; f990_total_assets_recent bigint; f990_org_addr_city character varying(100);
            f990_org_addr_state character varying(10); f990_org_addr_zip character varying(20);
            f990_org_addr_street text; census_cbsa_fips character varying(20); census_cbsa_name character varying(200);
            census_block_fips character varying(20); census_urban_area character varying(200);
            census_state_abbr character varying(10); census_county_name character varying(100); org_addr_full text;
            org_addr_match character varying(200); latitude numeric; longitude numeric; geocoder_score numeric;
            geocoder_match character varying(100); geocode_date timestamp with time zone;
            geocoding_source character varying(50); bmf_subsection_code character varying(10);
            bmf_status_code character varying(10); bmf_pf_filing_req_code character varying(10);
            bmf_organization_code character varying(10); bmf_income_code character varying(10);
            bmf_group_exempt_num character varying(50); bmf_foundation_code character varying(10);
            bmf_filing_req_code character varying(10); bmf_deductibility_code character varying(10);
            bmf_classification_code character varying(10); bmf_asset_code character varying(10);
            bmf_affiliation_code character varying(10); org_ruling_date character varying(20);
            org_fiscal_year character varying(10); org_ruling_year character varying(10);
            org_year_first character varying(10); org_year_last character varying(10); org_year_count integer;
            org_pers_ico character varying(100); org_name_sec text; org_name_current text;
            org_fiscal_period character varying(10); source_file character varying(255);
            imported_at timestamp without time zone; is_current boolean; geom_point geometry(Point,4326);
        ",
    },
    Shape {
        dataset: "irs_ng",
        name: "form990_details",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["id"],
        queryable: true,
        estimated: false,
        description: "Annual returns: revenue, expenses, assets and disclosure flags.",
        columns: "
            id integer !; ein character varying(20) !; tax_period character varying(10);
            form_type character varying(10); filing_date date; total_revenue bigint; contributions_received bigint;
            program_service_revenue bigint; total_expenses bigint; grants_paid bigint; total_assets bigint;
            total_liabilities bigint; net_assets bigint; source_file character varying(255);
            xml_path character varying(500); imported_at timestamp without time zone; has_disregarded_entity boolean;
            has_related_entity boolean; has_related_org_control boolean; has_transfer_to_noncharitable boolean;
            has_partnership_activity boolean;
        ",
    },
    Shape {
        dataset: "irs_ng",
        name: "v_org_multi_year",
        relation_type: "view",
        provenance: "derived",
        primary_key: &[],
        queryable: true,
        estimated: false,
        description: "Returns of one organization side by side, a row for each tax year.",
        columns: "
            ein character varying(20); tax_year integer; total_revenue bigint; total_expenses bigint;
            total_assets bigint; net_income bigint; margin_pct numeric; contributions bigint; grants_paid bigint;
            compensation_officers bigint;
        ",
    },
    Shape {
        dataset: "irs_ng",
        name: "form990_xml_import_log",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["id"],
        queryable: false,
        estimated: false,
        description: "What each import of return files read. Lineage only.",
        columns: "
            id integer !; zip_filename character varying(255) !; xml_count integer; records_imported integer;
            records_990 integer; records_990t integer; schedule_o_count integer;
            import_started_at timestamp without time zone; import_completed_at timestamp without time zone;
            import_status character varying(20); notes text;
        ",
    },
    Shape {
        dataset: "samer",
        name: "sam_registrations",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["id"],
        queryable: true,
        estimated: true,
        description: "Entities registered to receive awards, with addresses, industry codes and expiration.",
        columns: "
            id integer !; uei character varying(50) !; entity_id character varying(50); duns character varying(20);
            legal_business_name character varying(255); dba_name character varying(255); physical_address_line1 text;
            physical_city character varying(100); physical_state character varying(100);
            physical_zip character varying(20); physical_country character varying(10); mailing_address_line1 text;
            mailing_city character varying(100); mailing_state character varying(100);
            mailing_zip character varying(50); mailing_country character varying(10);
            primary_naics character varying(10); naics_codes text; psc_codes text;
            registration_expiration character varying(20); last_update character varying(20);
            business_start_date character varying(20); corporate_url text;
            purpose_of_registration character varying(50); source_file character varying(255);
            imported_at timestamp without time zone; is_current boolean; latitude double precision;
            longitude double precision; geocode_date timestamp without time zone; geocode_system character varying(50);
            geom_point geometry(Point,4326);
        ",
    },
    Shape {
        dataset: "up_cdmaps",
        name: "congressional_districts",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["id"],
        queryable: true,
        estimated: false,
        description: "District boundaries by Congress, in Web Mercator metres.",
        columns: "
            id integer !; congress_number integer !; statename character varying(80); district integer;
            startcong numeric(24,15); endcong numeric(24,15); district_id character varying(80);
            districtsi character varying(254); county character varying(227); page character varying(227);
            law character varying(254); note character varying(254); bestdec character varying(254);
            finalnote character varying(254); rnote character varying(254); lastchange date;
            fromcounty character varying(80); statefp character varying(80); geom geometry(MultiPolygon,3857);
            source_file character varying(255); imported_at timestamp without time zone;
        ",
    },
    Shape {
        dataset: "usp_cl",
        name: "legislators",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["bioguide_id"],
        queryable: true,
        estimated: true,
        description: "People who served in Congress, with the identifiers other sources use. Seats are in legislator_terms.",
        columns: "
            bioguide_id character varying(10) !; thomas_id character varying(10); lis_id character varying(10);
            govtrack_id integer; opensecrets_id character varying(20); votesmart_id integer; cspan_id integer;
            wikipedia_page character varying(255); ballotpedia_page character varying(255); maplight_id integer;
            house_history_id bigint; icpsr_id integer; wikidata_id character varying(20);
            google_entity_id character varying(100); pictorial_id integer; fec_ids text[]; bioguide_previous text[];
            first_name character varying(100); middle_name character varying(100); last_name character varying(100);
            suffix character varying(20); nickname character varying(100); official_full character varying(255);
            birthday date; gender character(1); is_current boolean; first_term_start date; last_term_end date;
            created_at timestamp without time zone;
        ",
    },
    Shape {
        dataset: "usp_cl",
        name: "legislator_terms",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["term_id"],
        queryable: true,
        estimated: true,
        description: "Each term served: chamber, state, district or class, party and dates.",
        columns: "
            term_id integer !; bioguide_id character varying(10); congress_start character varying(3);
            congress_end character varying(3); term_start date; term_end date; term_type character varying(10);
            state character(2); district integer; class integer; state_rank character varying(10);
            party character varying(50); url character varying(500); address text; phone character varying(50);
            fax character varying(50); contact_form character varying(500); office character varying(255);
            rss_url character varying(500); how character varying(50); end_type character varying(50);
            created_at timestamp without time zone;
        ",
    },
    Shape {
        dataset: "usp_cl",
        name: "committees",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["committee_id"],
        queryable: true,
        estimated: true,
        description: "Committees of both chambers and the Congresses they existed in.",
        columns: "
            committee_id integer !; thomas_id character varying(20); house_committee_id character varying(10);
            senate_committee_id character varying(10); committee_type character varying(20);
            name character varying(255); url character varying(500); minority_url character varying(500); address text;
            phone character varying(50); jurisdiction text; rss_url character varying(500);
            youtube_id character varying(50); congresses integer[]; is_current boolean;
            created_at timestamp without time zone;
        ",
    },
    Shape {
        dataset: "usp_cl",
        name: "committee_membership",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["membership_id"],
        queryable: true,
        estimated: true,
        description: "Who sits on which committee, with rank and title.",
        columns: "
            membership_id integer !; committee_thomas_id character varying(20); bioguide_id character varying(10);
            legislator_name character varying(255); party character varying(20); rank integer;
            title character varying(100); created_at timestamp without time zone;
        ",
    },
    Shape {
        dataset: "usp_cl",
        name: "district_offices",
        relation_type: "table",
        provenance: "derived",
        primary_key: &["office_id"],
        queryable: true,
        estimated: true,
        description: "Local offices of members, geocoded.",
        columns: "
            office_id integer !; bioguide_id character varying(10); office_key character varying(100); address text;
            suite character varying(255); building character varying(255); city character varying(100);
            state character(2); zip character varying(20); latitude double precision; longitude double precision;
            phone character varying(50); fax character varying(50); hours text; created_at timestamp without time zone;
            geom_point geometry(Point,4326); geocode_date timestamp with time zone;
            geocode_system character varying(50);
        ",
    },
    Shape {
        dataset: "usp_cl",
        name: "mv_current_lawmakers",
        relation_type: "materialized_view",
        provenance: "recovered",
        primary_key: &["bioguide_id"],
        queryable: true,
        estimated: true,
        description: "Members serving now, one row each. Says nothing about the past.",
        columns: "
            bioguide_id character varying(10); official_full character varying(255); first_name character varying(100);
            last_name character varying(100); gender character(1); birthday date; state character(2); district integer;
            term_type character varying(10); party character varying(50); term_start date; term_end date;
            senate_class integer; state_rank character varying(10); office_phone character varying(50);
            contact_form character varying(500); twitter character varying(100); facebook character varying(100);
            instagram character varying(100); youtube character varying(100); office_count bigint;
            committee_count bigint;
        ",
    },
];
