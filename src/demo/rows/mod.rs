//! The demo's rows: made up, seeded, and tied together so that every signed join path finds something.

mod build;
mod districts;
mod entities;
mod irs_ng;
mod lattice;
mod samer;
mod usaspending;
mod usp_cl;

use super::catalogue::shapes;
use super::relation::{DemoData, DemoRelation};

use districts::DistrictMap;

/// Every relation with its rows.
pub(super) fn generate(seed: u64) -> DemoData {
    let map = DistrictMap::draw(seed);
    let entities = entities::invent(seed, &map);
    let nonprofits = irs_ng::invent(seed);
    let lawmakers = usp_cl::invent(seed, &map);
    // The declared shapes are taken out one by one and put back filled, in signed order.
    let mut data = DemoData { relations: Vec::new() };
    let mut awards: Option<DemoRelation> = None;
    let mut returns: Option<DemoRelation> = None;
    for shape in shapes::relations() {
        let source = shape.source();
        let mut filled = match source.as_str() {
            "usaspending.all_entities" => usaspending::all_entities(shape, seed, &entities, &nonprofits),
            "usaspending.state_data" => usaspending::state_data(shape, seed),
            "usaspending.overall_totals" => usaspending::overall_totals(shape, seed),
            "usaspending.reporting_agency_overview" => usaspending::reporting_agency_overview(shape, seed),
            "usaspending.vw_published_dabs_toptier_agency" => usaspending::toptier_agencies(shape, seed),
            "usaspending.mv_district_spending" => {
                let award_shape =
                    shapes::relations().into_iter().find(|shape| shape.name == "rpt.award_search");
                awards = award_shape.map(|shape| usaspending::award_search(shape, seed, &entities, &map));
                usaspending::district_spending(shape, seed, awards.as_ref())
            }
            "usaspending.rpt.award_search" => awards.take().unwrap_or(shape),
            "usaspending.uei_crosswalk" => usaspending::uei_crosswalk(shape, seed, &entities),
            "usaspending.submission_attributes" => usaspending::submission_attributes(shape, seed),
            "irs_ng.bmf_organizations" => irs_ng::bmf_organizations(shape, seed, &nonprofits),
            "irs_ng.form990_details" => {
                let filled = irs_ng::form990_details(shape, seed, &nonprofits);
                returns = Some(filled.clone());
                filled
            }
            "irs_ng.v_org_multi_year" => irs_ng::org_multi_year(shape, seed, returns.as_ref()),
            "irs_ng.form990_xml_import_log" => irs_ng::import_log(shape, seed),
            "samer.sam_registrations" => samer::sam_registrations(shape, seed, &entities, &nonprofits),
            "up_cdmaps.congressional_districts" => map.rows(shape),
            "usp_cl.legislators" => usp_cl::legislators(shape, seed, &lawmakers),
            "usp_cl.legislator_terms" => usp_cl::legislator_terms(shape, seed, &lawmakers),
            "usp_cl.committees" => usp_cl::committees(shape, seed),
            "usp_cl.committee_membership" => usp_cl::committee_membership(shape, seed, &lawmakers),
            "usp_cl.district_offices" => usp_cl::district_offices(shape, seed, &lawmakers),
            "usp_cl.mv_current_lawmakers" => usp_cl::current_lawmakers(shape, seed, &lawmakers),
            _ => shape,
        };
        filled.row_count_estimate = filled.row_count_estimate.map(|_| filled.rows.len() as u64);
        data.relations.push(filled);
    }
    data
}
